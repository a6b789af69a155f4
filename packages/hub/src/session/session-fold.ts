import { type Envelope, fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { KeptSession, SessionRecord, TokenCount } from "../model/session-record.ts"

const LAST_LINE_CHARS = 200
const TITLE_CHARS = 80

export const NO_TOKENS: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 }

/** What an event of the agent's changes in the session's record; the same object when nothing did. */
export function foldAgentEvent(session: KeptSession, message: Envelope, at: string): KeptSession {
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
export function foldUserMessage(session: KeptSession, message: Envelope, at: string): KeptSession {
  const text = textIn(fieldOf(message, "message")?.["content"])
  const title = session.record.title ?? (text === "" ? null : shorten(text, TITLE_CHARS))
  const started = session.record.turnStartedAt === undefined ? { turnStartedAt: at } : {}
  return withRecord(session, { title, ...started })
}

/** Wire totals are cumulative per process: a new process starts from what the others had used. */
export function foldNewProcess(session: KeptSession, incarnation: string): KeptSession {
  const { turnStartedAt: _cut, ...record } = session.record
  const { costUsd, tokens } = record
  return { record, own: { ...session.own, incarnation, costBase: costUsd, tokensBase: tokens } }
}

function foldSystem(session: KeptSession, message: Envelope): KeptSession {
  if (message["subtype"] === "session_title_changed") {
    const title = textOf(message, "title")
    return title === undefined ? session : withRecord(session, { title })
  }
  if (message["subtype"] !== "init" && message["subtype"] !== "status") return session
  const change: Record<string, unknown> = {}
  for (const [field, name] of INIT_FIELDS) {
    const value = textOf(message, field)
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
      costUsd: typeof cost === "number" ? own.costBase + cost : record.costUsd,
      tokens: addUsage(record.tokens, fieldOf(message, "usage")),
      lastResult: { subtype: textOf(message, "subtype") ?? "unknown", isError: message["is_error"] === true, at },
    },
  }
}

function addUsage(before: TokenCount, usage: Readonly<Record<string, unknown>> | undefined): TokenCount {
  const count = (name: string) => (typeof usage?.[name] === "number" ? usage[name] : 0)
  return {
    input: before.input + count("input_tokens"),
    output: before.output + count("output_tokens"),
    cacheRead: before.cacheRead + count("cache_read_input_tokens"),
    cacheCreation: before.cacheCreation + count("cache_creation_input_tokens"),
  }
}

function lastLineOf(message: Envelope): Partial<SessionRecord> {
  const text = textIn(fieldOf(message, "message")?.["content"])
  const lines = text.trimEnd().split("\n")
  const last = lines.at(-1)?.trim() ?? ""
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
