import { isObject, type UnlistedRequest } from "@signalbox/protocol"
import { isReading } from "../auth/roles.ts"

/** Acts that are noted elsewhere, or change nothing of the session. */
const UNRECORDED: ReadonlySet<string> = new Set([
  "initialize",
  "cancel_async_message",
  "mcp_message",
  "side_question",
  "generate_session_title",
  "seed_read_state",
  "set_has_subscribers",
])

/** Fields that may be kept as they are. All others may hold secrets, and only names of theirs are kept. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set([
  "mode",
  "model",
  "max_thinking_tokens",
  "user_message_id",
  "serverName",
  "server_name",
  "enabled",
  "task_id",
  "title",
])
/** Only the names in these are kept, never the values. */
const NAMED_FIELDS: ReadonlySet<string> = new Set(["servers", "variables", "settings"])
const MAX_CHARS = 256
const MAX_NAMES = 100

/**
 * The part that the history and the audit keep of a request that changes a session, from whichever door; undefined for one
 * that only reads. A subtype that we do not know counts as an act.
 */
export function actOf(request: UnlistedRequest): UnlistedRequest | undefined {
  const { subtype } = request
  if (UNRECORDED.has(subtype) || isReading(subtype) || request["dry_run"] === true) return undefined
  const act: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request)) {
    if (PLAIN_FIELDS.has(name) && isPlain(value)) act[name] = typeof value === "string" ? cut(value) : value
    if (NAMED_FIELDS.has(name) && isObject(value)) act[name] = Object.keys(value).slice(0, MAX_NAMES).map(cut)
  }
  return { ...act, subtype: cut(subtype) }
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value)
}

function cut(text: string): string {
  return text.slice(0, MAX_CHARS)
}
