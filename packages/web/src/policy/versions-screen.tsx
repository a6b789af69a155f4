import type { PolicyVersion } from "@signalbox/client"
import { useCallback, useMemo, useState } from "react"
import { useNow } from "../app/clock.ts"
import { useHub, useMe } from "../app/hub-context.ts"
import { useLoaded } from "../app/loaded.ts"
import { Link, usePlace } from "../app/router.tsx"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Empty, WhenReady } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { moment, plural } from "../design/words.ts"
import { DiffView } from "../transcript/content/diff-view.tsx"
import { diffTexts } from "../transcript/content/line-diff.ts"
import { forcedWords } from "./audit-words.ts"
import { ChangeReview, type Policy } from "./change-review.tsx"
import { PolicyFrame } from "./policy-frame.tsx"

type VersionEntry = Omit<PolicyVersion, "policy">

const MOST = 500

/** Every policy that was in force, newest first; one of them (`?v=`) with what it changed. */
export function VersionsScreen() {
  const hub = useHub()
  const { query } = usePlace()
  const chosen = Number(query.get("v"))
  const [limit, setLimit] = useState(50)
  const list = useLoaded(() => hub.policyVersions({ limit }), [hub, limit])
  return (
    <PolicyFrame title="Policy versions">
      <WhenReady of={list} what="versions">
        {({ versions, more }) => {
          const [newest] = versions
          if (newest === undefined) return <Empty>No versions yet. Saving a policy makes the first.</Empty>
          return (
            <>
              <ol aria-label="Versions" className="flex flex-col gap-2">
                {versions.map((version) => (
                  <li key={version.version}>
                    <VersionRow entry={version} isInForce={version === newest} isOpen={version.version === chosen} />
                    {version.version === chosen && (
                      <OneVersion number={chosen} inForce={newest.version} onChanged={list.again} />
                    )}
                  </li>
                ))}
              </ol>
              {more && limit < MOST && (
                <Button className="self-start" onClick={() => setLimit(Math.min(MOST, limit + 100))}>
                  Show older
                </Button>
              )}
            </>
          )
        }}
      </WhenReady>
    </PolicyFrame>
  )
}

interface VersionRowProps {
  readonly entry: VersionEntry
  readonly isInForce: boolean
  readonly isOpen: boolean
}

function VersionRow({ entry, isInForce, isOpen }: VersionRowProps) {
  const now = useNow()
  const me = useMe()
  const { version, at, by, rules, forced } = entry
  return (
    <Link
      href={isOpen ? "/policy/versions" : `/policy/versions?v=${version}`}
      aria-expanded={isOpen}
      className={classes(
        "flex flex-wrap items-baseline gap-x-3 gap-y-0.5 rounded-card border bg-surface px-4 py-2 hover:border-edge coarse:min-h-11",
        isOpen ? "border-accent" : "border-line",
      )}
    >
      <span className="font-medium">Version {version}</span>
      {isInForce && <span className="text-clear">In force</span>}
      <span className="text-text-2">{changeWords(entry)}</span>
      {forced !== undefined && <span className="text-danger">{forcedWords(forced)}</span>}
      <span className="text-meta text-text-3 tabular-nums">
        {plural(rules, "rule")} · {by === null ? "hub" : by === me.name ? "you" : oneLine(by, 60)} ·{" "}
        {moment(Date.parse(at), now)}
      </span>
    </Link>
  )
}

/** The differences from the version before, by name while that is short. */
function changeWords({ changes }: VersionEntry): string {
  const parts = [
    ...named("added", changes.added),
    ...named("removed", changes.removed),
    ...named("changed", changes.changed),
    ...named("set", changes.settings),
  ]
  return parts.length === 0 ? "No change" : oneLine(parts.join("; "), 200)
}

function named(verb: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return []
  return [`${names.length > 3 ? plural(names.length, "rule") : names.join(", ")} ${verb}`]
}

interface OneVersionProps {
  readonly number: number
  readonly inForce: number
  readonly onChanged: () => void
}

function OneVersion({ number, inForce, onChanged }: OneVersionProps) {
  const hub = useHub()
  const loaded = useLoaded(async () => {
    const before = number > 1 ? hub.policyVersion(number - 1).catch(() => undefined) : undefined
    const [own, previous] = await Promise.all([hub.policyVersion(number), before])
    return { own, previous }
  }, [hub, number])
  return (
    <div className="flex flex-col gap-3 px-4 py-3">
      <WhenReady of={loaded} what={`version ${number}`}>
        {({ own, previous }) => (
          <>
            <VersionDiff before={previous} after={own} />
            {number !== inForce && <GoBack version={own} onChanged={onChanged} />}
          </>
        )}
      </WhenReady>
    </div>
  )
}

interface VersionDiffProps {
  readonly before: PolicyVersion | undefined
  readonly after: PolicyVersion
}

function VersionDiff({ before, after }: VersionDiffProps) {
  const hunks = useMemo(() => diffTexts(textOf(before), textOf(after)), [before, after])
  if (hunks.length === 0) return <p className="text-text-2">Same as the version before.</p>
  return <DiffView hunks={hunks} path="policy.json" maxRows={200} />
}

function textOf(version: PolicyVersion | undefined): string {
  return version === undefined ? "" : JSON.stringify(version.policy, null, 2)
}

function GoBack({
  version: { version, policy },
  onChanged,
}: {
  readonly version: PolicyVersion
  readonly onChanged: () => void
}) {
  const isAdmin = useMe().role === "admin"
  const [isOpen, setOpen] = useState(false)
  // The whole policy, whatever is in force now.
  const change = useCallback((now: Policy): Policy => ({ ...policy, rules: rulesOf(policy) ?? now.rules }), [policy])
  if (!isAdmin) return null
  if (!isOpen) {
    return (
      <Button className="self-start" onClick={() => setOpen(true)}>
        Go back to this one…
      </Button>
    )
  }
  return (
    <ChangeReview
      change={change}
      action={`Go back to version ${version}`}
      isTestedAtOnce
      onSaved={() => {
        setOpen(false)
        onChanged()
      }}
      onCancel={() => setOpen(false)}
    />
  )
}

function rulesOf(policy: PolicyVersion["policy"]): Policy["rules"] | undefined {
  const { rules } = policy
  return Array.isArray(rules) ? rules : undefined
}
