import { counted } from "@signalbox/protocol"
import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { numberOf } from "./entry.ts"
import type { JsonObject, NoteRow } from "./row.ts"
import { thinkingLevelWords } from "./row-words.ts"

export interface Note {
  readonly level: NoteRow["level"]
  readonly text: string
  readonly isDivider?: boolean
}

type Teller = (message: JsonObject) => Note | undefined

const note =
  (level: Note["level"], text: (message: JsonObject) => string): Teller =>
  (message) => ({ level, text: text(message) })

const FULL_DISK: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"])

/** Messages of the agent that become one line, by subtype. Undefined: no row. */
const SYSTEM: Readonly<Record<string, Teller>> = {
  informational: (message) => ({ level: levelOf(message["level"]), text: textOf(message, "content") ?? "" }),
  notification: (message) => ({
    level: message["priority"] === "immediate" || message["priority"] === "high" ? "warning" : "info",
    text: textOf(message, "text") ?? "",
  }),
  local_command_output: note("info", (message) => textOf(message, "content") ?? ""),
  plugin_install: (message) => ({
    level: message["status"] === "failed" ? "warning" : "quiet",
    text: `Plugin ${textOf(message, "name") ?? ""} ${textOf(message, "status") ?? ""}${because(message)}`,
  }),
  files_persisted: note(
    "quiet",
    (message) => `${count(message["files"], "file")} stored${failures(message["failed"])}`,
  ),
  memory_recall: note("quiet", (message) => `Recalled ${count(message["memories"], "memory", "memories")}`),
  session_writes_lost: note("danger", (message) => {
    const code = textOf(message, "error_code") ?? "unknown"
    const why = FULL_DISK.has(code) ? "The disk is full" : "Writing failed"
    return `${why} (${code}): parts of the session are not on disk`
  }),
  model_refusal_fallback: note("warning", (message) => {
    const [from, to] = [textOf(message, "original_model"), textOf(message, "fallback_model")]
    return `${from ?? "The model"} refused; ${to ?? "another model"} goes on. ${textOf(message, "content") ?? ""}`.trim()
  }),
  model_refusal_no_fallback: note("danger", (message) =>
    `${textOf(message, "original_model") ?? "The model"} refused. ${textOf(message, "content") ?? ""}`.trim(),
  ),
  elicitation_complete: note("quiet", (message) => `${textOf(message, "mcp_server_name") ?? "The server"}: done`),
  worker_shutting_down: note("warning", (message) => `The agent shuts down: ${textOf(message, "reason") ?? ""}`),
  session_title_changed: note("quiet", (message) => `Title: ${textOf(message, "title") ?? ""}`),
  mirror_error: note("warning", (message) => `The session store failed: ${textOf(message, "error") ?? ""}`),
  status: statusNote,
}

const HUB: Readonly<Record<string, Teller>> = {
  connected: note("quiet", () => "The agent is connected"),
  disconnected: note("warning", (message) => `The agent is disconnected${because(message)}`),
  rotated: (message) => ({
    level: "info",
    text: "The conversation goes on in another session",
    isDivider: "next" in message,
  }),
  ended: (message) => ({
    level: hasFailed(message) ? "warning" : "info",
    text: `The agent's process has ended${exitWords(message)}${lastWords(message)}`,
  }),
  // The cockpit puts it between a fork and the history that the fork began with.
  forked: () => ({
    level: "info",
    text: "Forked here. Everything above is history of the original session.",
    isDivider: true,
  }),
  parked: note("quiet", () => "The idle agent was put to rest; a message brings it back"),
  hook_answered: note("quiet", () => "The runner answered a hook: nobody else was there to"),
  not_enforced: note("warning", (message) => {
    const version = textOf(message, "cli_version")
    const what =
      version === undefined ? "A tool ran that the policy had not seen" : `The agent is Claude Code ${version}`
    return `${what}: the session is no longer enforced`
  }),
  // One stands for each lost event, and the first of a run tells of all.
  events_lost: (message) => {
    const lost = numberOf(message, "count")
    return lost === undefined
      ? undefined
      : { level: "warning", text: `${counted(lost, "event")} could not be saved from a damaged database` }
  },
  // Told by the message's own row.
  message_cancelled: () => undefined,
  message_taken: () => undefined,
  message_unknown: note("warning", () => "Whether the agent got a message is not known: its process died first"),
}

/** No row of their own: they show in another row, in the session's record, or nowhere. */
const SILENT_SYSTEM: ReadonlySet<string> = new Set([
  "session_state_changed",
  "commands_changed",
  "background_tasks_changed",
  "control_request_progress",
  "thinking_tokens",
])

const SILENT_TYPES: ReadonlySet<string> = new Set([
  "keep_alive",
  "command_lifecycle",
  "stream_event",
  "tool_progress",
  "transcript_mirror",
  "autocompact_state",
  "active_goal",
  "control_cancel_request",
  "control_response",
])

/** The note that a message of no other kind becomes; `silent`: no row, `unknown`: newer than we are. */
export function noteOf(message: JsonObject): Note | "silent" | "unknown" {
  const type = textOf(message, "type") ?? ""
  const subtype = textOf(message, "subtype") ?? ""
  if (type === "system") return SILENT_SYSTEM.has(subtype) ? "silent" : tell(SYSTEM[subtype], message)
  if (type === "hub") return tell(HUB[subtype], message)
  if (type === "conversation_reset") return { level: "info", text: resetWords(message), isDivider: true }
  if (type === "prompt_suggestion") return { level: "quiet", text: `Suggested: ${textOf(message, "suggestion") ?? ""}` }
  if (type === "auth_status") return authNote(message)
  if (type === "streamlined_text") return { level: "info", text: textOf(message, "text") ?? "" }
  if (type === "streamlined_tool_use_summary") return { level: "quiet", text: textOf(message, "tool_summary") ?? "" }
  return SILENT_TYPES.has(type) ? "silent" : "unknown"
}

function tell(teller: Teller | undefined, message: JsonObject): Note | "silent" | "unknown" {
  return teller === undefined ? "unknown" : (teller(message) ?? "silent")
}

/** A status is told by what it did: a compaction that failed, a mode that changed. */
function statusNote(message: JsonObject): Note | undefined {
  const error = textOf(message, "compact_error")
  if (error !== undefined) return { level: "warning", text: `The context could not be compacted: ${error}` }
  const mode = textOf(message, "permissionMode")
  return mode === undefined ? undefined : { level: "quiet", text: `Permission mode: ${mode}` }
}

/** The note on what a person or program changed by a control request; undefined: nothing to tell. */
export function changeNote(request: JsonObject | undefined, by: string | undefined): Note | undefined {
  const subtype = request?.["subtype"]
  if (request === undefined || subtype === undefined || subtype === "interrupt") return undefined
  return { level: "info", text: `${by === undefined || by === "" ? "Somebody" : by} ${actWords(request)}` }
}

/** Words for control requests, by subtype, to be said after a person's name. */
const ACTS: Readonly<Record<string, (request: JsonObject) => string>> = {
  set_permission_mode: (request) => `set the permission mode to ${textOf(request, "mode") ?? "another"}`,
  set_model: (request) => `set the model to ${textOf(request, "model") ?? "the default"}`,
  set_max_thinking_tokens: (request) => `set: ${thinkingLevelWords(numberOf(request, "max_thinking_tokens"))}`,
  interrupt: () => "interrupted the turn",
  update_environment_variables: (request) => `set environment variables: ${listed(request["variables"])}`,
  mcp_set_servers: (request) => `set the MCP servers: ${listed(request["servers"])}`,
  mcp_reconnect: (request) => `reconnected the MCP server ${serverOf(request)}`,
  mcp_toggle: (request) => `turned the MCP server ${serverOf(request)} ${request["enabled"] === false ? "off" : "on"}`,
  rewind_files: () => "rewound the files",
  rewind_conversation: () => "rewound the conversation",
  stop_task: () => "stopped a background task",
}

/** Words for a control request, to be said after a person's name; its own name where we have no better words. */
export function actWords(request: JsonObject = {}): string {
  const subtype = textOf(request, "subtype") ?? "a request"
  const act = Object.hasOwn(ACTS, subtype) ? ACTS[subtype] : undefined
  return act?.(request) ?? `sent ${subtype.replaceAll("_", " ")}`
}

function listed(list: unknown): string {
  return Array.isArray(list) && list.length > 0 ? list.map(String).join(", ") : "none"
}

function serverOf(request: JsonObject): string {
  return textOf(request, "serverName") ?? textOf(request, "server_name") ?? "a server"
}

function authNote(message: JsonObject): Note {
  const output = message["output"]
  const lines = Array.isArray(output) ? output.filter((line) => typeof line === "string") : []
  const error = textOf(message, "error")
  const isUnderWay = message["isAuthenticating"] === true
  const head = isUnderWay ? "The agent is signing in" : error === undefined ? "Signed in" : "Sign-in failed"
  const isOver = error === undefined && !isUnderWay
  const next = error === undefined ? "" : "Sign in on its machine: run claude and then /login"
  return {
    level: isOver ? "info" : "danger",
    text: [head, ...lines, error ?? "", next].filter((line) => line !== "").join("\n"),
  }
}

function resetWords(message: JsonObject): string {
  const trigger = textOf(message, "trigger")
  return trigger === "clear" ? "The conversation was cleared" : "New conversation begins"
}

function levelOf(level: unknown): Note["level"] {
  return level === "warning" ? "warning" : "info"
}

function because(message: JsonObject): string {
  const reason = textOf(message, "error") ?? textOf(message, "reason")
  return reason === undefined || reason === "" ? "" : `: ${reason}`
}

function exitWords(message: JsonObject): string {
  const signal = textOf(message, "signal")
  return signal === undefined ? because(message) : ` (${signal})`
}

function hasFailed(message: JsonObject): boolean {
  return (numberOf(message, "code") ?? 0) !== 0
}

const LAST_WORDS_CHARS = 400

/** Why a process failed is mostly the last that it wrote to stderr. */
function lastWords(message: JsonObject): string {
  const words = textOf(message, "stderrTail")?.trim().replace(/\s+/g, " ") ?? ""
  if (words === "" || !hasFailed(message)) return ""
  return `. Its last words: ${words.length > LAST_WORDS_CHARS ? `…${words.slice(-LAST_WORDS_CHARS)}` : words}`
}

function count(list: unknown, one: string, many?: string): string {
  return counted(Array.isArray(list) ? list.length : 0, one, many)
}

function failures(failed: unknown): string {
  if (!Array.isArray(failed) || failed.length === 0) return ""
  const names = failed.filter(isObject).flatMap((item) => textOf(item, "filename") ?? [])
  return `, ${failed.length} not: ${names.join(", ")}`
}

/** "memory_recall", "hub/rotated", "conversation_reset" */
export function topicOf(message: JsonObject): string {
  const [type, subtype] = [textOf(message, "type") ?? "", textOf(message, "subtype")]
  if (type === "system") return subtype ?? type
  if (type === "control_request") return textOf(fieldOf(message, "request"), "subtype") ?? type
  return subtype === undefined ? type : `${type}/${subtype}`
}
