import type { Ask, Session } from "@signalbox/client"
import { type SessionStatus, STATUS_ORDER, STATUS_WORDS } from "../fleet/session-status.tsx"

export type Grouping = "status" | "machine" | "folder"

const PINNED = "pinned"

export interface SessionEntry {
  readonly session: Session
  readonly status: SessionStatus
  /** Its oldest open ask. */
  readonly ask: Ask | undefined
  /** The name of its machine; undefined when its agent is external. */
  readonly machine: string | undefined
}

export interface Section {
  readonly key: string
  readonly title: string
  /** The title is a folder, as the machine writes it. */
  readonly isFolder: boolean
  readonly entries: readonly SessionEntry[]
}

/** Order by status, and within it by what matters most: the longest wait first, the oldest turn first, the latest finish first, else what moved last. */
function compareEntries(a: SessionEntry, b: SessionEntry): number {
  const byStatus = RANK[a.status] - RANK[b.status]
  if (byStatus !== 0) return byStatus
  const isOldestFirst = a.status === "needs-you" || a.status === "running"
  return isOldestFirst ? compare(timeOf(a), timeOf(b)) : compare(timeOf(b), timeOf(a))
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the order has each status once
const RANK = Object.fromEntries(STATUS_ORDER.map((status, index) => [status, index])) as Record<SessionStatus, number>

/** The time that counts for an entry's status. */
function timeOf({ status, ask, session }: SessionEntry): string {
  const own =
    status === "needs-you"
      ? ask?.askedAt
      : status === "running"
        ? session.turnStartedAt
        : status === "ready"
          ? session.lastResult?.at
          : undefined
  return own ?? session.updatedAt
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/** `words`: the statuses as the reader sees them. */
export function matchesFilter(
  { session, status, machine }: SessionEntry,
  filter: string,
  words: typeof STATUS_WORDS,
): boolean {
  if (filter === "") return true
  const wanted = filter.toLowerCase().split(/\s+/)
  const text = [
    session.title,
    session.cwd,
    session.branch,
    machine,
    session.model,
    session.lastLine,
    words[status],
    session.id,
  ]
    .join(" ")
    .toLowerCase()
  return wanted.every((word) => text.includes(word))
}

/** Grouped first and sorted then: a group comes nearly in its order from the hub, which makes sorting many sessions cheap. */
export function sectionsOf(entries: readonly SessionEntry[], grouping: Grouping): readonly Section[] {
  const groups = new Map<string, SessionEntry[]>()
  // A blocked agent comes first, pinned or not.
  if (grouping === "status") for (const key of ["needs-you", PINNED, ...STATUS_ORDER]) groups.set(key, [])
  for (const entry of entries) {
    const key = groupKey(entry, grouping)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  const compareOf = grouping === "status" ? compareEntries : comparePinned
  const sections = [...groups]
    .filter(([, group]) => group.length > 0)
    .map(([key, group]) => ({
      key,
      title: titleOf(key, grouping, group[0]),
      isFolder: grouping === "folder" && key !== "",
      entries: group.sort(compareOf),
    }))
  if (grouping === "status") return sections
  // The group with what matters most comes first.
  return sections.sort(({ entries: [a] }, { entries: [b] }) =>
    a === undefined || b === undefined ? 0 : compareOf(a, b),
  )
}

function comparePinned(a: SessionEntry, b: SessionEntry): number {
  return Number(b.session.pinned) - Number(a.session.pinned) || compareEntries(a, b)
}

function groupKey({ session, status }: SessionEntry, grouping: Grouping): string {
  if (grouping === "machine") return session.runner ?? ""
  if (grouping === "folder") return session.cwd ?? ""
  return session.pinned && status !== "needs-you" ? PINNED : status
}

function titleOf(key: string, grouping: Grouping, first: SessionEntry | undefined): string {
  if (grouping === "status" && key === PINNED) return "Pinned"
  if (grouping === "status") return STATUS_WORDS[STATUS_ORDER.find((status) => status === key) ?? "idle"]
  if (grouping === "machine") return first?.machine ?? "External"
  return key === "" ? "No folder" : key
}

/** Where a row would stand: its section, and the row before it there. */
interface Place {
  readonly entry: SessionEntry
  readonly key: string
  readonly before: string | undefined
}

/**
 * The sections with every row where it stands now, for somebody whose pointer or focus is among them. Rows that are new go to the
 * end of their section; `moved` is how many would stand elsewhere. Older ones that are read on stand at the end anyway.
 */
export function heldSections(
  shown: readonly Section[],
  fresh: readonly Section[],
): { readonly sections: readonly Section[]; readonly moved: number } {
  const places = new Map<string, Place>()
  eachRow(fresh, (entry, key, before) => places.set(entry.session.id, { entry, key, before }))
  const known = new Set<string>()
  eachRow(shown, ({ session }) => known.add(session.id))
  const held = shown.map((section) => ({
    ...section,
    entries: section.entries.flatMap(({ session }) => places.get(session.id)?.entry ?? []),
  }))
  const isNew = new Set<string>()
  for (const section of fresh) {
    const added = section.entries.filter(({ session }) => !known.has(session.id))
    if (added.length === 0) continue
    const index = held.findIndex(({ key }) => key === section.key)
    const target = held[index]
    if (target === undefined) {
      isNew.add(section.key)
      held.push({ ...section, entries: added })
    } else held[index] = { ...target, entries: [...target.entries, ...added] }
  }
  const sections = held.filter((section) => section.entries.length > 0)
  let moved = 0
  eachRow(sections, ({ session }, key, before) => {
    const place = places.get(session.id)
    if (isNew.has(key) || place?.key !== key || place.before !== before) moved++
  })
  return { sections, moved }
}

function eachRow(
  sections: readonly Section[],
  take: (entry: SessionEntry, key: string, before: string | undefined) => void,
): void {
  for (const { key, entries } of sections) {
    let before: string | undefined
    for (const entry of entries) {
      take(entry, key, before)
      before = entry.session.id
    }
  }
}

/** Whether two lists say the same of the same sessions. */
export function isSameList(a: readonly SessionEntry[], b: readonly SessionEntry[]): boolean {
  return a.length === b.length && a.every((one, index) => isSameEntry(one, b[index]))
}

export function isSameEntry(one: SessionEntry, other: SessionEntry | undefined): boolean {
  if (one === other) return true
  return (
    one.session === other?.session &&
    one.status === other.status &&
    one.ask === other.ask &&
    one.machine === other.machine
  )
}
