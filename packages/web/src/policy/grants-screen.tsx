import type { Grant } from "@signalbox/client"
import { stillKeptWords } from "@signalbox/transcript"
import { useEffect, useRef, useState } from "react"
import { announce } from "../app/announcer.tsx"
import { useNow } from "../app/clock.ts"
import { useCanOperate, useHub, useMe, useSession } from "../app/hub-context.ts"
import { useLoaded, whyOf } from "../app/loaded.ts"
import { Link, usePlace } from "../app/router.tsx"
import { DESTINATIONS, suggestionsOf } from "../asks/forms/standing-permissions.tsx"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Empty, Notice, Trouble, WhenReady } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { moment } from "../design/words.ts"
import { useMachineName } from "../fleet/machine-store.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { Code, PolicyFrame } from "./policy-frame.tsx"

type Revoked =
  | { readonly name: "none" }
  | { readonly name: "kept"; readonly words: string }
  | { readonly name: "failed"; readonly why: string }

/** Standing permissions that people gave while answering a request. */
export function GrantsScreen() {
  const hub = useHub()
  const grants = useLoaded(async () => (await hub.grants()).grants.filter(({ revokedAt }) => revokedAt === null), [hub])
  const linked = usePlace().query.get("grant")
  const [revoked, setRevoked] = useState<Revoked>({ name: "none" })

  async function revoke(grant: Grant, keptWords: string): Promise<void> {
    try {
      const { gone } = await hub.revokeGrant(grant.id)
      announce(gone ? "Grant revoked" : "Grant noted as revoked")
      setRevoked(gone ? { name: "none" } : { name: "kept", words: keptWords })
      // The button goes with its row.
      document.getElementById("main")?.focus()
      grants.again()
    } catch (error) {
      setRevoked({ name: "failed", why: whyOf(error) })
    }
  }

  return (
    <PolicyFrame title="Grants">
      <p className="text-text-2">Permissions that people gave with “Always allow”.</p>
      <Trouble>{revoked.name === "failed" && `Not revoked: ${revoked.why}`}</Trouble>
      {revoked.name === "kept" && (
        <Notice tone="caution" alert>
          {revoked.words}
        </Notice>
      )}
      <WhenReady of={grants} what="grants">
        {(all) => (
          <>
            {linked !== null && !all.some(({ id }) => id === linked) && (
              <Notice tone="neutral">This grant was revoked, or its session is gone.</Notice>
            )}
            {all.length === 0 ? (
              <Empty>No grants. “Always allow” on a request adds one.</Empty>
            ) : (
              <ul aria-label="Grants" className="flex flex-col gap-2">
                {all.map((grant) => (
                  <GrantCard key={grant.id} grant={grant} isLinked={grant.id === linked} onRevoke={revoke} />
                ))}
              </ul>
            )}
          </>
        )}
      </WhenReady>
    </PolicyFrame>
  )
}

function whereWords({ where }: Pick<Grant, "where">): string {
  if (where === "hub") return "This session, kept by the hub"
  if (where === "cliArg") return "This process"
  return DESTINATIONS.find(({ value }) => value === where)?.label ?? where
}

interface GrantCardProps {
  readonly grant: Grant
  readonly isLinked: boolean
  /** `keptWords`: to be told where Claude Code keeps it. */
  readonly onRevoke: (grant: Grant, keptWords: string) => Promise<void>
}

function GrantCard({ grant, isLinked, onRevoke }: GrantCardProps) {
  const now = useNow()
  const me = useMe()
  const canOperate = useCanOperate()
  const session = useSession(grant.sessionId)
  const machine = useMachineName(grant.machine)
  const [isSending, setSending] = useState(false)
  const card = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isLinked) card.current?.focus()
  }, [isLinked])
  const { words = "Permission", rules = [] } = suggestionsOf([grant.update])[0] ?? {}
  const name = [words, ...rules].join(" ")
  const revoke = () => {
    if (isSending) return
    setSending(true)
    const kept = stillKeptWords(grant.where, {
      machine: grant.machine === null ? undefined : machine,
      folder: session?.cwd,
    })
    void onRevoke(grant, oneLine(kept, 600)).finally(() => setSending(false))
  }
  return (
    <li
      ref={card}
      tabIndex={-1}
      className={classes(
        "flex flex-wrap items-start gap-x-4 gap-y-2 rounded-card border bg-surface px-4 py-3",
        isLinked ? "border-accent" : "border-line",
      )}
    >
      <div className="flex min-w-0 flex-1 basis-80 flex-col gap-1">
        <p className="flex flex-wrap gap-x-1.5 gap-y-1">
          <span className="font-medium">{words}</span>
          {rules.map((rule) => (
            <Code key={rule}>{rule}</Code>
          ))}
        </p>
        <p className="text-dense text-text-2">
          {whereWords(grant)}
          {grant.where !== "hub" && ` · ${machine}`}
        </p>
        <p className="flex flex-wrap items-center gap-x-2 text-meta text-text-3">
          <span>
            Given by {grant.grantedBy === me.name ? "you" : oneLine(grant.grantedBy, 60)},{" "}
            {moment(Date.parse(grant.grantedAt), now)}
          </span>
          <Link
            href={`/requests/${encodeURIComponent(grant.askId)}`}
            className="inline-flex min-h-6 items-center underline coarse:min-h-11"
          >
            Show request
          </Link>
          <Link
            href={`/s/${encodeURIComponent(grant.sessionId)}`}
            className="inline-flex min-h-6 items-center underline coarse:min-h-11"
          >
            <bdi>{session === undefined ? "Session" : titleOf(session)}</bdi>
          </Link>
        </p>
      </div>
      {canOperate && (
        <Button aria-label={`Revoke: ${oneLine(name, 120)}`} aria-disabled={isSending} onClick={revoke}>
          Revoke
        </Button>
      )}
    </li>
  )
}
