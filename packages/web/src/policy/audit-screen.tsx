import type { AuditRecord } from "@signalbox/client"
import { useEffect, useMemo, useState } from "react"
import { useNow } from "../app/clock.ts"
import { useFleet, useHub, useMe, useSession } from "../app/hub-context.ts"
import { useKeys } from "../app/keyboard.ts"
import { useLoaded, whyOf } from "../app/loaded.ts"
import { Link, setQuery, usePlace } from "../app/router.tsx"
import { useRoving } from "../app/roving.ts"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { INPUT, Select } from "../design/field.tsx"
import { Empty, Trouble, WhenReady } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { moment } from "../design/words.ts"
import { useMachines } from "../fleet/machine-store.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { RuleLink } from "../fleet/verdict.tsx"
import { AuditExport } from "./audit-export.tsx"
import {
  type AuditWish,
  actorOf,
  type FilterName,
  isFiltered,
  lookOf,
  OUTCOMES,
  outcomeOf,
  placeOf,
  requestOf,
  subjectOf,
  wishOf,
} from "./audit-words.ts"
import { PolicyFrame } from "./policy-frame.tsx"

const PAGE = 100

/** Who or what decided what, the newest first. Every filter is in the address. */
export function AuditScreen() {
  const { query } = usePlace()
  const wish = wishOf(query)
  const key = JSON.stringify(wish)
  return (
    <PolicyFrame title="Audit">
      <Filters wish={wish} />
      <Entries key={key} wish={wish} />
    </PolicyFrame>
  )
}

function Entries({ wish }: { readonly wish: AuditWish }) {
  const hub = useHub()
  const [request] = useState(() => requestOf(wish))
  const first = useLoaded(() => hub.audit({ ...request, order: "newest", limit: PAGE }), [hub, request])
  return (
    <WhenReady of={first} what="the audit">
      {({ records, more }) =>
        records.length === 0 ? (
          <Empty action={isFiltered(wish) && <ClearFilters />}>
            {isFiltered(wish) ? "No entry matches." : "Nothing has been decided yet."}
          </Empty>
        ) : (
          <Pages wish={wish} first={records} more={more} />
        )
      }
    </WhenReady>
  )
}

interface PagesProps {
  readonly wish: AuditWish
  readonly first: readonly AuditRecord[]
  readonly more: boolean
}

type Older = { readonly records: readonly AuditRecord[]; readonly more: boolean; readonly trouble?: string }

function Pages({ wish, first, more }: PagesProps) {
  const hub = useHub()
  const [older, setOlder] = useState<Older>({ records: [], more })
  const [isReading, setReading] = useState(false)
  const list = useRoving("[data-entry]")
  useKeys({ j: () => list.step(1), k: () => list.step(-1) })
  const all = [...first, ...older.records]
  async function readOlder(): Promise<void> {
    const last = all.at(-1)
    if (isReading || last === undefined) return
    setReading(true)
    try {
      const page = await hub.audit({ ...requestOf(wish), order: "newest", before: last.id, limit: PAGE })
      setOlder({ records: [...older.records, ...page.records], more: page.more })
    } catch (error) {
      setOlder({ ...older, trouble: whyOf(error) })
    }
    setReading(false)
  }
  return (
    <>
      <ol
        ref={list.ref}
        aria-label="Audit"
        className="flex flex-col divide-y divide-line overflow-hidden rounded-card border border-line bg-surface shadow-control"
      >
        {all.map((record) => (
          <Entry key={record.id} record={record} />
        ))}
      </ol>
      <Trouble>{older.trouble !== undefined && `Couldn't load older entries: ${older.trouble}`}</Trouble>
      {older.more && (
        <Button className="self-start" aria-disabled={isReading} onClick={() => void readOlder()}>
          {isReading ? "Loading…" : "Show older"}
        </Button>
      )}
      <AuditExport request={requestOf(wish)} />
    </>
  )
}

function Entry({ record }: { readonly record: AuditRecord }) {
  const now = useNow()
  const me = useMe()
  const session = useSession(record.sessionId ?? "")
  const actor = actorOf(record, me.name)
  const place = placeOf(record)
  const subject = subjectOf(record)
  return (
    <li
      data-entry={record.id}
      className="relative flex flex-wrap items-center gap-x-3 gap-y-0.5 px-4 py-2 hover:bg-sunken"
    >
      <Link
        href={`/audit/${record.id}`}
        // The whole row is the link's; the other links stand over it.
        className="flex min-h-6 min-w-0 flex-1 basis-72 items-center gap-x-3 after:absolute after:inset-0 coarse:min-h-11"
      >
        <span className={classes("shrink-0 font-medium", lookOf(record.what))}>{outcomeOf(record.what)}</span>
        <bdi className="min-w-0 truncate font-mono text-dense">{subject}</bdi>
      </Link>
      <span className="flex flex-wrap items-center gap-x-3 text-meta text-text-3">
        <span>
          {actor.words}
          {actor.rule !== undefined && (
            <>
              {" "}
              <RuleLink id={actor.rule} />
            </>
          )}
        </span>
        {place !== undefined && (
          <Link
            href={place}
            className="relative inline-flex min-h-6 max-w-60 items-center underline coarse:min-h-11 coarse:min-w-11"
          >
            <bdi className="truncate">{session === undefined ? "Transcript" : titleOf(session)}</bdi>
          </Link>
        )}
        <time dateTime={record.at} className="tabular-nums">
          {moment(Date.parse(record.at), now)}
        </time>
      </span>
    </li>
  )
}

const MOST_SESSIONS = 200

function Filters({ wish }: { readonly wish: AuditWish }) {
  const { sessions } = useFleet()
  const { all: machines } = useMachines()
  const choices = useMemo(
    () =>
      [...sessions.values()]
        .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))
        .slice(0, MOST_SESSIONS)
        .map((session) => ({ value: session.id, label: oneLine(titleOf(session), 60) })),
    [sessions],
  )
  return (
    <search className="flex flex-wrap items-center gap-2">
      <TypedFilter name="by" label="Person" wish={wish} />
      <TypedFilter name="rule" label="Rule" wish={wish} />
      <TypedFilter name="tool" label="Tool" wish={wish} />
      <ChosenFilter name="session" label="Any session" wish={wish} choices={choices} />
      <ChosenFilter
        name="machine"
        label="Any machine"
        wish={wish}
        choices={machines.map(({ id, name }) => ({ value: id, label: oneLine(name, 60) }))}
      />
      <ChosenFilter name="outcome" label="Any outcome" wish={wish} choices={OUTCOMES} />
      {isFiltered(wish) && <ClearFilters />}
    </search>
  )
}

function ClearFilters() {
  return (
    <Button
      look="quiet"
      onClick={() => setQuery({ by: null, rule: null, tool: null, session: null, machine: null, outcome: null })}
    >
      Clear filters
    </Button>
  )
}

interface FilterProps {
  readonly name: FilterName
  readonly label: string
  readonly wish: AuditWish
}

/** Who types does not want an answer to every letter. */
const QUIET_MS = 300

function TypedFilter({ name, label, wish }: FilterProps) {
  const given = wish[name] ?? ""
  const [text, setText] = useState(given)
  // Back and links change the address, too.
  useEffect(() => setText((now) => (now.trim() === given ? now : given)), [given])
  useEffect(() => {
    if (text.trim() === given) return undefined
    const timer = setTimeout(() => setQuery({ [name]: text.trim() }), QUIET_MS)
    return () => clearTimeout(timer)
  }, [name, text, given])
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => setText(event.target.value)}
      className={classes(INPUT, "w-36! flex-1 basis-28 tablet:max-w-44")}
    />
  )
}

interface ChosenFilterProps extends FilterProps {
  readonly choices: readonly { readonly value: string; readonly label: string }[]
}

function ChosenFilter({ name, label, wish, choices }: ChosenFilterProps) {
  const value = wish[name] ?? ""
  const isKnown = value === "" || choices.some((choice) => choice.value === value)
  return (
    <Select
      aria-label={label.replace("Any ", "").replace(/^./, (letter) => letter.toUpperCase())}
      value={value}
      onChange={(event) => setQuery({ [name]: event.target.value })}
      choices={[{ value: "", label }, ...(isKnown ? [] : [{ value, label: oneLine(value, 40) }]), ...choices]}
      className="flex-1 basis-32 tablet:max-w-48"
    />
  )
}
