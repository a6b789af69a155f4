import type { Ask } from "@signalbox/client"
import { useEffect, useMemo, useState } from "react"
import { hubNow } from "../../app/clock.ts"
import { useConnection, useFleet, useHubStore, useMe } from "../../app/hub-context.ts"
import { withInput } from "../../app/hub-store.ts"
import { Link, navigate, setQuery } from "../../app/router.tsx"
import type { Roving } from "../../app/roving.ts"
import { whileOpen } from "../../app/value-store.ts"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { Select } from "../../design/field.tsx"
import { Empty, Skeleton, Trouble } from "../../design/notice.tsx"
import { summaryOf } from "../../fleet/ask-words.ts"
import { useMachineNames } from "../../fleet/machine-store.tsx"
import { answerStateOf } from "../answer/send-answer.ts"
import { outcomeSentence } from "../request-words.ts"
import { BY_HAND, type InboxWish, KINDS, machineOf } from "./inbox.ts"
import { Receipts, Rows, SessionGroups } from "./inbox-rows.tsx"

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
  readonly listRef: Roving["ref"]
}

export function InboxList(props: InboxListProps) {
  const { tab, wish, all, list, openCount, settled, chosen, hrefOf, listRef } = props
  useEffect(() => {
    document.querySelector("[data-inbox-row]:has([aria-current])")?.scrollIntoView({ block: "nearest" })
  }, [chosen])
  return (
    <>
      <header className="flex shrink-0 flex-col gap-1 border-b border-line px-4 pt-2">
        <h1 className="text-page font-bold">Requests</h1>
        <InboxFilters wish={wish} asks={all} />
        <nav aria-label="Requests by state" className="flex gap-1">
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
      <div ref={listRef} data-region="content" className="min-h-0 flex-1 overflow-y-auto p-1">
        {tab === "settled" ? (
          <Rows label="Settled requests" asks={list} chosen={chosen} hrefOf={hrefOf} />
        ) : (
          <SessionGroups asks={list} chosen={chosen} hrefOf={hrefOf} />
        )}
        {tab === "open" && <Receipts settled={settled.all} />}
      </div>
    </>
  )
}

function tabAddress(which: "open" | "settled", { kind, machine }: InboxWish): string {
  const parts = Object.entries({ state: which === "settled" ? which : "", kind, machine })
  const text = new URLSearchParams(parts.filter(([, value]) => value !== "")).toString()
  return `/requests${text === "" ? "" : `?${text}`}`
}

/** Why there is no row, and what can be done about it. */
function Nothing({ tab, list, all, settled }: InboxListProps) {
  const store = useHubStore()
  const { load } = useFleet()
  if (load.name === "failed") return <Failed why={load.why} onRetry={() => store.retry()} />
  if (tab === "settled" && settled.load === "failed")
    return <Failed why="Couldn't load settled requests." onRetry={settled.retry} />
  if (load.name === "loading" || (tab === "settled" && settled.load === "loading" && list.length === 0))
    return <Skeleton rows={4} />
  if (list.length > 0) return null
  if (all.length > 0) {
    return (
      <Empty action={<Button onClick={() => setQuery({ kind: null, machine: null })}>Show all</Button>}>
        No requests match these filters.
      </Empty>
    )
  }
  if (tab === "settled") {
    return (
      <Empty action={<Button onClick={() => setQuery({ state: null })}>Show open</Button>}>
        No decisions in the last 7 days.
      </Empty>
    )
  }
  return <NothingWaits last={settled.all[0]} />
}

function Failed({ why, onRetry }: { readonly why: string; readonly onRetry: () => void }) {
  return (
    <div className="p-3">
      <Trouble onRetry={onRetry}>{why}</Trouble>
    </div>
  )
}

/** And the last decision: the way back to it, should it have been the wrong one. */
function NothingWaits({ last }: { readonly last: Ask | undefined }) {
  const me = useMe()
  if (last === undefined) {
    return (
      <Empty action={<Button onClick={() => navigate("/sessions")}>Go to sessions</Button>}>No open requests.</Empty>
    )
  }
  return (
    <Empty
      action={
        <Link href={`/requests/${encodeURIComponent(last.id)}?state=settled`} className="text-accent underline">
          Show it
        </Link>
      }
    >
      No open requests. Last decision: <bdi className="font-mono text-dense">{summaryOf(last)}</bdi>{" "}
      {outcomeSentence(last, { me: me.name, answer: answerStateOf(last.id) })}
    </Empty>
  )
}

/** Filters of the inbox, which holds `asks`: one kind, one machine. Both are in the address. */
function InboxFilters({ wish, asks }: { readonly wish: InboxWish; readonly asks: readonly Ask[] }) {
  const { sessions } = useFleet()
  const names = useMachineNames(sessions)
  const machines = useMemo(() => {
    const found = new Set(asks.map((ask) => machineOf(ask, sessions)).filter((machine) => machine !== undefined))
    if (wish.machine !== "") found.add(wish.machine)
    return [...found].map((machine) => ({
      value: machine,
      label: machine === BY_HAND ? "External" : (names.get(machine) ?? machine.slice(0, 8)),
    }))
  }, [asks, sessions, names, wish.machine])
  return (
    <div className="flex flex-wrap gap-2">
      {[
        { name: "kind", label: "Kind", any: "Any kind", value: wish.kind, choices: KINDS },
        { name: "machine", label: "Machine", any: "Any machine", value: wish.machine, choices: machines },
      ].map(({ name, label, any, value, choices }) => (
        <Select
          key={name}
          aria-label={label}
          value={value}
          choices={[{ value: "", label: any }, ...choices]}
          onChange={(event) => setQuery({ [name]: event.target.value })}
          className="min-w-0 flex-1 text-dense!"
        />
      ))}
    </div>
  )
}

const WEEK_MS = 7 * 86_400_000
const MAX_SHOWN = 500

interface SettledAsks {
  readonly load: "loading" | "ready" | "failed"
  readonly all: readonly Ask[]
  readonly retry: () => void
}

function settledMs(ask: Ask): number {
  return Date.parse(ask.settledAt ?? ask.askedAt)
}

/** Settled requests of the last seven days, the latest first. */
export function useSettledAsks(live: ReadonlyMap<string, Ask>): SettledAsks {
  const store = useHubStore()
  const isLive = useConnection().name === "live"
  const [past, setPast] = useState<readonly Ask[]>([])
  const [load, setLoad] = useState<SettledAsks["load"]>("loading")
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (!isLive) return undefined
    const take = (asks: readonly Ask[]) => {
      setPast(asks)
      setLoad("ready")
    }
    return whileOpen(store.hub.asks({ order: "newest", limit: MAX_SHOWN }), take, () => setLoad("failed"))
  }, [store, isLive, tries])
  const all = useMemo(() => {
    const known = new Map(past.map((ask) => [ask.id, ask]))
    for (const [id, ask] of live) known.set(id, withInput(ask, known.get(id)))
    const since = hubNow() - WEEK_MS
    return [...known.values()]
      .filter((ask) => ask.state !== "pending" && settledMs(ask) > since)
      .sort((a, b) => settledMs(b) - settledMs(a))
      .slice(0, MAX_SHOWN)
  }, [past, live])
  return { load, all, retry: () => setTries((before) => before + 1) }
}
