import { counted } from "@signalbox/protocol"
import type { Entry } from "./entry.ts"
import type { ActivityMember, ActivityRow, ResultRow, RetryRow, Row, ToolRow } from "./row.ts"
import { waitedForPeople } from "./waits.ts"

/** Calls that only look, by what they look at. */
const QUIET: Readonly<Record<string, string>> = {
  Read: "read",
  NotebookRead: "read",
  ReadMcpResourceTool: "read",
  Glob: "search",
  Grep: "search",
  LS: "list",
  ListMcpResourcesTool: "list",
  WebSearch: "web",
  ToolSearch: "tools",
  TodoRead: "todo",
  TaskList: "todo",
  TaskGet: "todo",
}

/** Nobody needs to see each of them: they only look, and nothing came up. */
function isQuiet(row: ToolRow): boolean {
  if (QUIET[row.name] === undefined || row.ask !== undefined || row.denial !== undefined || row.isRetracted)
    return false
  return row.state === "done" || row.state === "running" || row.state === "live"
}

const PHRASES: Readonly<Record<string, (count: number) => string>> = {
  read: (count) => `read ${counted(count, "file")}`,
  search: (count) => `searched ${counted(count, "pattern")}`,
  list: (count) => `listed ${counted(count, "folder")}`,
  web: (count) => `searched the web${times(count)}`,
  tools: (count) => `looked for tools${times(count)}`,
  todo: (count) => `looked at the tasks${times(count)}`,
}

/** "Read 4 files, searched 2 patterns" */
function activitySummary(tools: readonly ToolRow[]): string {
  const targets = new Map<string, Set<string>>()
  for (const tool of tools) {
    const kind = QUIET[tool.name] ?? "read"
    const seen = targets.get(kind) ?? new Set()
    seen.add(targetOf(tool, kind))
    targets.set(kind, seen)
  }
  const phrases = [...targets].map(([kind, seen]) => PHRASES[kind]?.(seen.size) ?? "")
  const sentence = phrases.join(", ")
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

/** A file read in three pieces is one file. */
function targetOf(tool: ToolRow, kind: string): string {
  const path = tool.input["file_path"] ?? tool.input["notebook_path"]
  return kind === "read" && typeof path === "string" ? path : tool.key
}

function times(count: number): string {
  return count === 1 ? "" : ` ${count} times`
}

/** Rows, and for each the index of the entry it begins at. */
interface Arranged {
  readonly rows: readonly Row[]
  readonly starts: readonly number[]
}

/** The finished rows, and behind them what is being said. */
export interface Entries {
  readonly said: readonly Entry[]
  readonly live: readonly Entry[]
}

interface Step {
  readonly row: Row
  /** The first entry that is not part of it. */
  readonly next: number
}

/**
 * From entries in order to the rows of a lane: quiet calls together, the tries of one request together, and no text twice.
 * `before` are the groups that were there: an unchanged one is the same object again.
 */
export function arrange(entries: Entries, start: number, before: ReadonlyMap<string, ActivityRow>): Arranged {
  const rows: Row[] = []
  const starts: number[] = []
  let index = start
  while (index < lengthOf(entries)) {
    const row = rowAt(entries, index)
    if (row === undefined || isToldAgain(entries, index, row)) {
      index++
      continue
    }
    const step = stepAt(entries, index, row)
    rows.push(sameAsBefore(step.row, before.get(step.row.key)))
    starts.push(index)
    index = step.next
  }
  return { rows, starts }
}

function lengthOf({ said, live }: Entries): number {
  return said.length + live.length
}

function rowAt({ said, live }: Entries, index: number): Row | undefined {
  return (index < said.length ? said[index] : live[index - said.length])?.row
}

function stepAt(entries: Entries, index: number, row: Row): Step {
  if (row.kind === "tool" && isQuiet(row)) return activityAt(entries, index, row)
  if (row.kind === "retry") return retriesAt(entries, index, row)
  if (row.kind === "result")
    return { row: withoutWaits(entries, index, withoutRepeat(entries, index, row)), next: index + 1 }
  return { row, next: index + 1 }
}

function activityAt(entries: Entries, index: number, first: ToolRow): Step {
  const members: ActivityMember[] = [first]
  /** Hooks and thoughts belong to the group only when another quiet call follows them. */
  let waiting: ActivityMember[] = []
  let next = index + 1
  for (let at = index + 1; at < lengthOf(entries); at++) {
    const row = rowAt(entries, at)
    if (row === undefined) continue
    if ((row.kind === "hook" || row.kind === "thinking") && row.state === "done") {
      waiting.push(row)
      continue
    }
    if (row.kind !== "tool" || !isQuiet(row)) break
    members.push(...waiting, row)
    waiting = []
    next = at + 1
  }
  return { row: activityOf(members, first), next }
}

function activityOf(members: readonly ActivityMember[], first: ToolRow): ActivityRow {
  const tools = members.filter((member) => member.kind === "tool")
  const captions = [...new Set(tools.flatMap(({ caption }) => caption ?? []))]
  const isRunning = tools.some(({ state }) => state === "running" || state === "live")
  return {
    kind: "activity",
    key: `g:${first.key}`,
    headSeq: first.headSeq,
    lastSeq: members.reduce((last, member) => Math.max(last, member.lastSeq), 0),
    lane: first.lane,
    at: first.at,
    state: isRunning ? "running" : "done",
    members,
    summary: activitySummary(tools),
    ...(captions.length === 0 ? {} : { caption: captions.join(" ") }),
  }
}

function sameAsBefore(row: Row, before: ActivityRow | undefined): Row {
  if (row.kind !== "activity" || before === undefined) return row
  const isSame =
    row.members.length === before.members.length &&
    row.members.every((member, index) => member === before.members[index]) &&
    row.caption === before.caption
  return isSame ? before : row
}

function retriesAt(entries: Entries, index: number, first: RetryRow): Step {
  let last = first
  for (let at = index + 1; at < lengthOf(entries); at++) {
    const row = rowAt(entries, at)
    if (row === undefined) continue
    if (row.kind === "retry") {
      last = row
      continue
    }
    const hasFailed = row.kind === "failure" || (row.kind === "result" && row.state === "failed")
    return { row: retryOf(first, last, hasFailed ? "failed" : "recovered"), next: at }
  }
  return { row: retryOf(first, last, "running"), next: lengthOf(entries) }
}

function retryOf(first: RetryRow, last: RetryRow, state: RetryRow["state"]): RetryRow {
  return { ...last, key: first.key, headSeq: first.headSeq, at: first.at, state }
}

/** Notes on where the agent's process is. */
const WHEREABOUTS: ReadonlySet<string> = new Set(["hub/connected", "hub/disconnected", "hub/ended", "hub/parked"])

/** A hub that was started again hears from its agents each time: that one is connected is told once, until something else is. */
function isToldAgain(entries: Entries, index: number, row: Row): boolean {
  if (row.kind !== "note" || row.topic !== "hub/connected") return false
  for (let at = index - 1; at >= 0; at--) {
    const earlier = rowAt(entries, at)
    if (earlier?.kind === "note" && WHEREABOUTS.has(earlier.topic)) return earlier.topic === row.topic
  }
  return false
}

/** A turn's time is the agent's: what a person took to answer is not part of it. */
function withoutWaits(entries: Entries, index: number, row: ResultRow): ResultRow {
  if (row.durationMs === undefined) return row
  const asked: Row[] = []
  for (let at = index - 1; at >= 0; at--) {
    const earlier = rowAt(entries, at)
    if (earlier?.kind === "result") break
    if (earlier?.kind === "tool" || earlier?.kind === "ask") asked.push(earlier)
  }
  const waitedMs = waitedForPeople(asked, { from: 0, to: Date.parse(row.at) })
  return waitedMs === 0 ? row : { ...row, durationMs: Math.max(0, row.durationMs - waitedMs) }
}

/** A result tells the last text again; it is shown once. */
function withoutRepeat(entries: Entries, index: number, row: ResultRow): ResultRow {
  if (row.text === undefined) return row
  for (let at = index - 1; at >= 0; at--) {
    const earlier = rowAt(entries, at)
    if (earlier?.kind === "result") return row
    if (earlier?.kind !== "text" && earlier?.kind !== "failure") continue
    if (earlier.text.trim() !== row.text.trim()) return row
    const { text: _repeated, ...rest } = row
    return rest
  }
  return row
}
