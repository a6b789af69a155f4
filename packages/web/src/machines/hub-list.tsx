import type { HubInfo } from "@signalbox/client"
import { useEffect } from "react"
import { useNow } from "../app/clock.ts"
import { useHub } from "../app/hub-context.ts"
import { useLoaded } from "../app/loaded.ts"
import { classes } from "../design/classes.ts"
import { Skeleton, Trouble } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { age, bytes, plural } from "../design/words.ts"
import { OWN_VERSION } from "./own-version.ts"

/** Hubs come, go and count without a word on the stream. */
const POLL_MS = 5000

/** The hubs that share one history, and how large that is. A hub on its own lists itself. */
export function HubList() {
  const hub = useHub()
  const { state, again } = useLoaded(() => hub.hubs.list(), [hub])
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && again(), POLL_MS)
    return () => clearInterval(timer)
  }, [again])
  return (
    <section aria-labelledby="hubs" className="flex flex-col gap-2 pt-6">
      <h2 id="hubs" className="text-title font-bold">
        {state.name === "ready" && state.value.length > 1 ? "Hubs" : "Hub"}
      </h2>
      {state.name === "loading" && <Skeleton rows={1} />}
      {state.name === "failed" && <Trouble onRetry={again}>Couldn't load hubs: {state.why}</Trouble>}
      {state.name === "ready" && (
        <ul aria-labelledby="hubs" className="flex flex-col gap-2">
          {state.value.map((info) => (
            <HubCard key={info.id} info={info} isAlone={state.value.length === 1} />
          ))}
        </ul>
      )}
      <StoreLine />
    </section>
  )
}

function HubCard({ info, isAlone }: { readonly info: HubInfo; readonly isAlone: boolean }) {
  const now = useNow()
  const { url, self, version, sessions, runners, viewers, startedAt } = info
  const isOther = version !== OWN_VERSION
  return (
    <li className="flex flex-col gap-1 rounded-card border border-line bg-surface px-4 py-3">
      <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
        <bdi className="min-w-0 truncate font-medium">{oneLine(url, 120)}</bdi>
        {self && !isAlone && <span className="text-dense text-text-2">This page's hub</span>}
      </span>
      <span className="flex flex-wrap items-center gap-x-4 gap-y-1 text-dense text-text-2 tabular-nums">
        <span>{plural(sessions, "session")} loaded</span>
        <span>{plural(runners, "machine")}</span>
        <span>{plural(viewers, "viewer")}</span>
        <span className={classes(isOther && "font-medium text-caution")}>
          version {oneLine(version, 40)}
          {isOther && ` (this page is ${OWN_VERSION})`}
        </span>
        <span>up {age(Date.parse(startedAt), now)}</span>
      </span>
    </li>
  )
}

/** How large the history is, and how fast it grows. An older hub doesn't tell. */
function StoreLine() {
  const hub = useHub()
  const { state } = useLoaded(() => hub.storeSize(), [hub])
  if (state.name !== "ready") return null
  const { events, dayAgo } = state.value
  const growth = dayAgo === undefined ? 0 : state.value.bytes - dayAgo.bytes
  return (
    <p className="text-dense text-text-3 tabular-nums">
      Hub history: {bytes(state.value.bytes)}
      {growth > 0 && `, grew by ${bytes(growth)} in a day`} · {plural(events, "event")}
    </p>
  )
}
