import { HubClientError, type RunnerLogLine } from "@signalbox/client"
import { useCallback, useEffect, useState } from "react"
import { hubNow } from "../app/clock.ts"
import { useHub, useSession } from "../app/hub-context.ts"
import { Link } from "../app/router.tsx"
import { whileOpen } from "../app/value-store.ts"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Notice, Skeleton } from "../design/notice.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { clockTime, moment } from "../design/words.ts"
import type { Machine } from "../fleet/machine-store.tsx"
import { titleOf } from "../fleet/session-words.ts"

interface Told {
  readonly lines: readonly RunnerLogLine[]
  readonly more: boolean
  readonly at: number
}

/** The lines stay in view while they are read again, and when that fails. */
interface Reading {
  readonly state: "asking" | "settled"
  readonly told?: Told
  readonly why?: string
}

const LINES = 200

/** The last lines of a machine's own log, the newest first. */
export function MachineLog({ machine, now }: { readonly machine: Machine; readonly now: number }) {
  const { id, connected } = machine
  const [reading, read] = useLog(id, connected)
  const { told, why, state } = reading
  return (
    <section aria-labelledby="machine-log" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 id="machine-log" className="text-title font-bold">
          Log
        </h2>
        {told !== undefined && (
          <span className="text-meta text-text-3 tabular-nums">as of {clockTime(told.at, { seconds: true })}</span>
        )}
        {connected && (
          <Button className="ms-auto" aria-disabled={state === "asking"} onClick={() => state !== "asking" && read()}>
            Refresh
          </Button>
        )}
      </div>
      {!connected && <p className="text-text-2">Machine offline. Its log is available when it reconnects.</p>}
      {connected && why !== undefined && <Notice tone="neutral">Couldn't load the log: {why}</Notice>}
      {connected && told === undefined && why === undefined && <Skeleton rows={3} />}
      {told !== undefined && <Lines told={told} now={now} />}
    </section>
  )
}

function Lines({ told: { lines, more }, now }: { readonly told: Told; readonly now: number }) {
  if (lines.length === 0) return <p className="text-text-2">No log lines yet.</p>
  return (
    <div
      // A region that scrolls must be reachable by keyboard.
      tabIndex={0}
      role="region"
      aria-label="Log lines"
      className="max-h-96 overflow-y-auto rounded-card border border-line bg-sunken py-1"
    >
      <ol>
        {lines.toReversed().map((line, index) => {
          const [words, look] = LEVELS.get(line.level) ?? []
          // Lines have no name of their own, and the list is only ever put in place of another.
          return (
            <li key={index} className="flex flex-wrap items-baseline gap-x-3 px-3 py-0.5 text-dense">
              <time dateTime={line.at} className="shrink-0 font-mono text-meta text-text-3 tabular-nums">
                {timeOf(Date.parse(line.at), now)}
              </time>
              <span className={classes("min-w-0 flex-1 basis-64", look)}>
                {words !== undefined && <span className="font-medium">{words}: </span>}
                <VisibleText text={line.text} />
                {line.session !== undefined && <SessionLink id={line.session} />}
              </span>
            </li>
          )
        })}
      </ol>
      {more && <p className="px-3 py-1 text-meta text-text-3">Older lines are on the machine.</p>}
    </div>
  )
}

/** By its title, if it is one of those that are listed. */
function SessionLink({ id }: { readonly id: string }) {
  const session = useSession(id)
  return (
    <>
      {" · "}
      <Link href={`/s/${encodeURIComponent(id)}`} className="text-accent underline">
        <bdi>{session === undefined ? "session" : titleOf(session)}</bdi>
      </Link>
    </>
  )
}

function timeOf(at: number, now: number): string {
  return new Date(at).toDateString() === new Date(now).toDateString()
    ? clockTime(at, { seconds: true })
    : moment(at, now)
}

// A newer runner may have other levels.
const LEVELS: ReadonlyMap<string, readonly [words: string, look: string]> = new Map([
  ["warn", ["Warning", "text-caution"]],
  ["error", ["Error", "text-danger"]],
])

function useLog(id: string, connected: boolean): readonly [Reading, () => void] {
  const hub = useHub()
  const [reading, setReading] = useState<Reading>({ state: "asking" })
  const [times, setTimes] = useState(0)
  useEffect(() => {
    if (!connected) return undefined
    const settle = (next: Omit<Reading, "state">) =>
      setReading(({ told }) => ({ ...(told === undefined ? {} : { told }), ...next, state: "settled" }))
    setReading((before) => ({ ...before, state: "asking" }))
    return whileOpen(
      hub.runners.log(id, { lines: LINES }),
      (log) => settle({ told: { ...log, at: hubNow() } }),
      // An older runner says that it is too old, in its own words.
      (error) => settle({ why: error instanceof HubClientError ? error.message : String(error) }),
    )
  }, [hub, id, connected, times])
  return [reading, useCallback(() => setTimes((before) => before + 1), [])]
}
