import { type Envelope, fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { StoredEvent } from "../model/event.ts"
import type { KeptSession, SessionRecord, TokenCount } from "../model/session-record.ts"

const LAST_LINE_CHARS = 200
const TITLE_CHARS = 80
/** A record is told and kept again and again: of what an agent says of itself, no more than this goes into it. */
const FIELD_CHARS = 4_096
const MAX_INITIALIZE_REPLY_CHARS = 1024 * 1024
/** Beyond any honest count, and still exact when added up. */
const MAX_AMOUNT = 1e12

export const NO_TOKENS: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 }

/** What an event changes in the session's record. */
export function foldEvent(session: KeptSession, event: StoredEvent, message: Envelope): KeptSession {
  const at = new Date(event.at).toISOString()
  const { record, own } = foldMessage(session, event, message, at)
  const uuid = event.from === "agent" ? textOf(message, "uuid") : undefined
  return {
    record: { ...record, lastSeq: event.seq, updatedAt: at },
    own: uuid === undefined ? own : { ...own, lastAgentUuid: uuid },
  }
}

function foldMessage(session: KeptSession, event: StoredEvent, message: Envelope, at: string): KeptSession {
  if (event.from === "agent") return foldAgentEvent(session, message, at)
  return event.from === "client" && message.type === "user" ? foldUserMessage(session, message, at) : session
}

/** What an event of the agent's changes in the session's record; the same object when nothing did. */
function foldAgentEvent(session: KeptSession, message: Envelope, at: string): KeptSession {
  switch (message.type) {
    case "system":
      return foldSystem(session, message)
    case "assistant":
      return message["parent_tool_use_id"] == null ? withRecord(session, lastLineOf(message)) : session
    case "result":
      return foldResult(session, message, at)
    default:
      return session
  }
}

/** A message to the agent: the first one names the session. */
function foldUserMessage(session: KeptSession, message: Envelope, at: string): KeptSession {
  const text = textIn(fieldOf(message, "message")?.["content"])
  const title = session.record.title ?? (text === "" ? null : shorten(text, TITLE_CHARS))
  const started = session.record.turnStartedAt === undefined ? { turnStartedAt: at } : {}
  return withRecord(session, { title, ...started })
}

/** Wire totals are cumulative per process: a new process starts from what the others had used. */
export function foldNewProcess(session: KeptSession, incarnation: string): KeptSession {
  const { turnStartedAt: _cut, ...record } = session.record
  const { costUsd } = record
  return { record, own: { ...session.own, incarnation, costBase: costUsd } }
}

/** The same process goes on in another session: what it had used so far was the other's. */
export function foldHandOver(next: KeptSession, before: KeptSession): KeptSession {
  const { incarnation, initializeReply, costBase } = before.own
  const usedSoFar = before.record.costUsd - costBase
  const { turnStartedAt: _cut, ...record } = next.record
  return { record, own: { ...next.own, incarnation, initializeReply, costBase: record.costUsd - usedSoFar } }
}

function foldSystem(session: KeptSession, message: Envelope): KeptSession {
  if (message["subtype"] === "session_title_changed") {
    const title = fieldText(message, "title")
    return title === undefined ? session : withRecord(session, { title })
  }
  if (message["subtype"] !== "init" && message["subtype"] !== "status") return session
  const change: Record<string, unknown> = {}
  for (const [field, name] of INIT_FIELDS) {
    const value = fieldText(message, field)
    if (value !== undefined) change[name] = value
  }
  return withRecord(session, change)
}

const INIT_FIELDS: readonly (readonly [string, keyof SessionRecord])[] = [
  ["cwd", "cwd"],
  ["model", "model"],
  ["permissionMode", "permissionMode"],
  ["claude_code_version", "cliVersion"],
]

function foldResult(session: KeptSession, message: Envelope, at: string): KeptSession {
  const { record, own } = session
  const cost = message["total_cost_usd"] ?? message["cost_usd"]
  const { turnStartedAt: _over, ...rest } = record
  return {
    own,
    record: {
      ...rest,
      turns: record.turns + 1,
      costUsd: typeof cost === "number" ? own.costBase + amountOf(cost) : record.costUsd,
      tokens: addUsage(record.tokens, fieldOf(message, "usage")),
      lastResult: { subtype: fieldText(message, "subtype") ?? "unknown", isError: message["is_error"] === true, at },
    },
  }
}

function addUsage(before: TokenCount, usage: Readonly<Record<string, unknown>> | undefined): TokenCount {
  const count = (name: string) => amountOf(usage?.[name])
  return {
    input: before.input + count("input_tokens"),
    output: before.output + count("output_tokens"),
    cacheRead: before.cacheRead + count("cache_read_input_tokens"),
    cacheCreation: before.cacheCreation + count("cache_creation_input_tokens"),
  }
}

/** What an agent answered to `initialize`; one too long to be kept with the record is not kept. */
export function foldInitializeReply(session: KeptSession, payload: Readonly<Record<string, unknown>>): KeptSession {
  const cliVersion = fieldText(payload, "claude_code_version")
  const named = cliVersion === undefined ? session : withRecord(session, { cliVersion })
  return isKeepable(payload) ? { ...named, own: { ...named.own, initializeReply: payload } } : named
}

function isKeepable(payload: unknown): boolean {
  try {
    return JSON.stringify(payload).length <= MAX_INITIALIZE_REPLY_CHARS
  } catch {
    // Nested deeper than can be written.
    return false
  }
}

function fieldText(message: Readonly<Record<string, unknown>>, name: string): string | undefined {
  return textOf(message, name)?.slice(0, FIELD_CHARS)
}

function amountOf(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.min(value, MAX_AMOUNT) : 0
}

function lastLineOf(message: Envelope): Partial<SessionRecord> {
  const content = fieldOf(message, "message")?.["content"]
  const text = textIn(Array.isArray(content) ? content.slice(-1) : content).trimEnd()
  // Only the end is looked at: a message may be long, and there may be thousands.
  const last = text.slice(Math.max(text.lastIndexOf("\n") + 1, text.length - 4 * LAST_LINE_CHARS))
  return last === "" ? {} : { lastLine: shorten(last, LAST_LINE_CHARS) }
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content
    .map((block) => (isObject(block) && block["type"] === "text" ? (textOf(block, "text") ?? "") : ""))
    .filter((text) => text !== "")
    .join("\n")
}

function shorten(text: string, chars: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length <= chars ? line : `${line.slice(0, chars - 1).trimEnd()}…`
}

function withRecord(session: KeptSession, change: Partial<SessionRecord>): KeptSession {
  const before: Readonly<Record<string, unknown>> = { ...session.record }
  const changed = Object.entries(change).some(([name, value]) => before[name] !== value)
  return changed ? { ...session, record: { ...session.record, ...change } } : session
}
