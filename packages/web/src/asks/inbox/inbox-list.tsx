import type { Ask } from "@signalbox/client"
import { useFleet, useHubStore, useMe } from "../../app/hub-context.ts"
import { Link } from "../../app/link.tsx"
import { navigate, setQuery } from "../../app/router.tsx"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { Empty, Notice, Skeleton } from "../../design/notice.tsx"
import { summaryOf } from "../../fleet/ask-words.ts"
import { answerStateOf } from "../answer/answer-states.ts"
import { outcomeSentence } from "../request-words.ts"
import type { InboxWish } from "./inbox.ts"
import { InboxFilters } from "./inbox-filters.tsx"
import { InboxRow } from "./inbox-row.tsx"
import type { SettledAsks } from "./use-settled-asks.ts"

interface InboxListProps {
  readonly tab: "open" | "settled"
  readonly wish: InboxWish
  /** All requests of this tab, and those that pass the filter. */
  readonly all: readonly Ask[]
  readonly list: readonly Ask[]
  readonly openCount: number
  readonly settled: SettledAsks
  readonly chosen: string | undefined
  readonly hrefOf: (ask: Ask) => string
}

export function InboxList(props: InboxListProps) {
  const { tab, wish, all, list, openCount, chosen, hrefOf } = props
  return (
    <>
      <header className="flex shrink-0 flex-col gap-1 border-b border-line px-4 pt-2">
        <h1 className="text-page font-bold">Approvals</h1>
        <InboxFilters wish={wish} asks={all} />
        <nav aria-label="Which requests" className="flex gap-1">
          {(["open", "settled"] as const).map((which) => (
            <Link
              key={which}
              href={tabAddress(which, wish)}
              aria-current={which === tab ? "page" : undefined}
              className={classes(
                "-mb-px flex min-h-9 items-center border-b-2 px-2 coarse:min-h-11",
                which === tab ? "border-accent font-medium text-accent" : "border-transparent text-text-2",
              )}
            >
              {which === "settled" ? "Settled" : `Open ${openCount}`}
            </Link>
          ))}
        </nav>
      </header>
      <Nothing {...props} />
      <ul
        data-region="content"
        aria-label={tab === "settled" ? "Settled requests" : "Open requests"}
        className="min-h-0 flex-1 overflow-y-auto p-1"
      >
        {list.map((ask) => (
          <InboxRow key={ask.id} ask={ask} isChosen={ask.id === chosen} href={hrefOf(ask)} />
        ))}
      </ul>
    </>
  )
}

function tabAddress(which: "open" | "settled", { kind, machine }: InboxWish): string {
  const parts = Object.entries({ state: which === "settled" ? which : "", kind, machine })
  const text = new URLSearchParams(parts.filter(([, value]) => value !== "")).toString()
  return `/approvals${text === "" ? "" : `?${text}`}`
}

/** Why there is no row, and what can be done about it. */
function Nothing({ tab, list, all, settled }: InboxListProps) {
  const store = useHubStore()
  const { load } = useFleet()
  if (load.name === "failed") return <Failed why={load.why} onRetry={() => store.retry()} />
  if (tab === "settled" && settled.load === "failed")
    return <Failed why="What was settled could not be read." onRetry={settled.retry} />
  if (load.name === "loading" || (tab === "settled" && settled.load === "loading" && list.length === 0))
    return <Skeleton rows={4} />
  if (list.length > 0) return null
  if (all.length > 0) {
    return (
      <Empty action={<Button onClick={() => setQuery({ kind: null, machine: null })}>Show all</Button>}>
        Nothing of this kind or machine.
      </Empty>
    )
  }
  if (tab === "settled") {
    return (
      <Empty action={<Button onClick={() => setQuery({ state: null })}>Show what is open</Button>}>
        Nothing was decided in the last seven days.
      </Empty>
    )
  }
  return <NothingWaits last={settled.all[0]} />
}

function Failed({ why, onRetry }: { readonly why: string; readonly onRetry: () => void }) {
  return (
    <div className="p-3">
      <Notice tone="danger" alert>
        {why}
        <Button onClick={onRetry}>Retry</Button>
      </Notice>
    </div>
  )
}

/** And the last decision: the way back to it, should it have been the wrong one. */
function NothingWaits({ last }: { readonly last: Ask | undefined }) {
  const me = useMe()
  if (last === undefined) {
    return (
      <Empty action={<Button onClick={() => navigate("/sessions")}>To the sessions</Button>}>Nothing is waiting.</Empty>
    )
  }
  return (
    <Empty
      action={
        <Link href={`/approvals/${encodeURIComponent(last.id)}?state=settled`} className="text-accent underline">
          Show it
        </Link>
      }
    >
      Nothing is waiting. The last decision: <bdi className="font-mono text-dense">{summaryOf(last)}</bdi>{" "}
      {outcomeSentence(last, { me: me.name, answer: answerStateOf(last.id) })}
    </Empty>
  )
}
