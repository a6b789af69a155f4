import { type Ask, HubClientError } from "@signalbox/client"
import { useEffect, useMemo, useState } from "react"
import { useNow } from "../app/clock.ts"
import { useAsk, useFleet, useHubStore, useSession } from "../app/hub-context.ts"
import { Link } from "../app/link.tsx"
import { navigate, usePlace } from "../app/router.ts"
import type { ScreenProps } from "../app/routes.tsx"
import { useScreenTitle } from "../app/screen-title.ts"
import { useKeys } from "../app/shortcuts.ts"
import { classes } from "../design/classes.ts"
import { BackIcon } from "../design/icons.tsx"
import { Empty, Skeleton } from "../design/notice.tsx"
import { age } from "../design/words.ts"
import { MachineName } from "../sessions/machine-name.tsx"
import { titleOf } from "../sessions/session-words.ts"
import { AskCard } from "./ask-card.tsx"
import { kindWord, summaryOf } from "./ask-words.ts"
import { openAsks } from "./open-asks.ts"
import { outcomeWords } from "./outcome-words.ts"

const WEEK_MS = 7 * 86_400_000

export function ApprovalsScreen({ params }: ScreenProps) {
  useScreenTitle("Approvals")
  const { query } = usePlace()
  const isSettled = query.get("state") === "settled"
  const { asks, load } = useFleet()
  const open = useMemo(() => openAsks(asks), [asks])
  const settled = useSettled(isSettled, asks)
  const list = isSettled ? settled : open
  const chosen = params["id"] ?? (matchMedia("(min-width: 1100px)").matches ? list[0]?.id : undefined)
  const index = list.findIndex(({ id }) => id === chosen)
  const go = (by: number) => {
    const next = list[Math.min(Math.max(index + by, 0), list.length - 1)]
    if (next !== undefined) navigate(addressOf(next, isSettled), { replace: params["id"] !== undefined })
  }
  useKeys({ j: () => go(1), k: () => go(-1) })
  return (
    <div className="flex min-h-0 flex-1">
      <div
        className={classes(
          "min-h-0 w-full shrink-0 flex-col border-e border-line desktop:w-90",
          params["id"] === undefined ? "flex" : "hidden desktop:flex",
        )}
      >
        <header className="flex flex-col gap-1 border-b border-line px-4 pt-2">
          <h1 className="text-page font-bold">Approvals</h1>
          <nav aria-label="Which requests" className="flex gap-1">
            {[false, true].map((past) => (
              <Link
                key={String(past)}
                href={past ? "/approvals?state=settled" : "/approvals"}
                aria-current={past === isSettled ? "page" : undefined}
                className={classes(
                  "-mb-px flex min-h-9 items-center border-b-2 px-2 coarse:min-h-11",
                  past === isSettled ? "border-accent font-medium text-accent" : "border-transparent text-text-2",
                )}
              >
                {past ? "Settled" : `Open ${open.length}`}
              </Link>
            ))}
          </nav>
        </header>
        {load.name === "loading" && <Skeleton rows={4} />}
        {load.name === "ready" && list.length === 0 && (
          <Empty>{isSettled ? "Nothing was decided in the last seven days." : "Nothing is waiting."}</Empty>
        )}
        <ul
          data-region="content"
          aria-label={isSettled ? "Settled requests" : "Open requests"}
          className="min-h-0 flex-1 overflow-y-auto p-1"
        >
          {list.map((ask) => (
            <AskListRow key={ask.id} ask={ask} isChosen={ask.id === chosen} href={addressOf(ask, isSettled)} />
          ))}
        </ul>
      </div>
      {chosen === undefined ? (
        <div className="hidden flex-1 desktop:block" />
      ) : (
        <AskDetail key={chosen} id={chosen} position={index === -1 ? undefined : `${index + 1} of ${list.length}`} />
      )}
    </div>
  )
}

function addressOf({ id }: Ask, isSettled: boolean): string {
  return `/approvals/${encodeURIComponent(id)}${isSettled ? "?state=settled" : ""}`
}

/** Of the last seven days, the latest first. */
function useSettled(isWanted: boolean, live: ReadonlyMap<string, Ask>): readonly Ask[] {
  const store = useHubStore()
  const [past, setPast] = useState<readonly Ask[]>([])
  useEffect(() => {
    if (!isWanted) return
    // What cannot be had now is not shown; the open ones are the ones that matter.
    store.hub.asks({}).then(setPast, () => setPast([]))
  }, [store, isWanted])
  return useMemo(() => {
    const all = new Map([...past.map((ask) => [ask.id, ask] as const), ...live])
    const since = Date.now() - WEEK_MS
    return [...all.values()]
      .filter((ask) => ask.state !== "pending" && Date.parse(ask.settledAt ?? ask.askedAt) > since)
      .sort((a, b) => Date.parse(b.settledAt ?? b.askedAt) - Date.parse(a.settledAt ?? a.askedAt))
      .slice(0, 200)
  }, [past, live])
}

function AskListRow({ ask, isChosen, href }: { readonly ask: Ask; readonly isChosen: boolean; readonly href: string }) {
  const now = useNow()
  const session = useSession(ask.sessionId)
  return (
    <li>
      <Link
        href={href}
        aria-current={isChosen ? "true" : undefined}
        className={classes(
          "flex flex-col gap-0.5 rounded-control px-3 py-2",
          isChosen ? "bg-accent-soft" : "hover:bg-sunken",
        )}
      >
        <span className="flex items-baseline gap-2">
          <span className="shrink-0 rounded-[4px] bg-sunken px-1.5 text-meta font-medium text-text-2">
            {kindWord(ask)}
          </span>
          <bdi className="min-w-0 flex-1 truncate font-mono text-meta">{summaryOf(ask)}</bdi>
          <span className="shrink-0 text-meta text-text-3 tabular-nums">{age(Date.parse(ask.askedAt), now)}</span>
        </span>
        <span className="truncate text-meta text-text-3">
          {session === undefined ? (
            ask.sessionId.slice(0, 8)
          ) : (
            <>
              <bdi>{titleOf(session)}</bdi> · <MachineName session={session} />
            </>
          )}
          {ask.state === "pending" ? "" : ` · ${outcomeWords(ask.state)}`}
        </span>
      </Link>
    </li>
  )
}

function AskDetail({ id, position }: { readonly id: string; readonly position: string | undefined }) {
  const store = useHubStore()
  const ask = useAsk(id)
  const [why, setWhy] = useState<string | undefined>(undefined)
  const isKnown = ask !== undefined
  useEffect(() => {
    if (isKnown) return
    store.hub.ask(id).then(
      (found) => store.takeAsk(found),
      (error: unknown) =>
        setWhy(error instanceof HubClientError && error.status === 404 ? "There is no such request." : String(error)),
    )
  }, [store, id, isKnown])
  return (
    <section
      aria-label="Request"
      data-region="waiting"
      className="flex min-h-0 min-w-0 flex-1 flex-col overflow-y-auto"
    >
      <div className="flex items-center gap-2 border-b border-line px-2 py-1 desktop:hidden">
        <button
          type="button"
          onClick={() => (history.length > 1 ? history.back() : navigate("/approvals"))}
          className="flex min-h-11 items-center gap-1 rounded-control px-2 text-text-2"
        >
          <BackIcon /> Back
        </button>
        {position !== undefined && <span className="ms-auto px-2 text-meta text-text-3">{position}</span>}
      </div>
      {ask !== undefined && (
        <div className="mx-auto flex min-h-0 w-full max-w-4xl flex-col px-4 py-4">
          <AskCard ask={ask} isWide showSession />
        </div>
      )}
      {ask === undefined && (why === undefined ? <Skeleton rows={3} /> : <Empty>{why}</Empty>)}
    </section>
  )
}
