import type { AskState } from "@signalbox/protocol/hub-api"
import type { ModelUses, TokenCount } from "@signalbox/protocol/usage"

/**
 * The parts of a transcript: one row for each thing that a person would point at. Rows are values: a row that changed
 * is another object, one that did not is the same.
 */

/** An event as the hub numbers it. `message` is the wire's object, untouched. */
export interface TranscriptEvent {
  readonly seq: number
  readonly at: string
  readonly from: "agent" | "client" | "hub"
  readonly by?: string
  readonly message: { readonly type: string; readonly [field: string]: unknown }
}

export type JsonObject = Readonly<Record<string, unknown>>

export interface RowBase {
  /** Stays the same while the row lives, whatever is loaded around it. */
  readonly key: string
  /** The event that it stands at, and the last one that told something of it. */
  readonly headSeq: number
  readonly lastSeq: number
  /** The `tool_use_id` of the sub-agent it belongs to; null: the agent itself. */
  readonly lane: string | null
  /** Empty while it is still being said. */
  readonly at: string
}

/** The state of a message on its way to the agent. */
export type Delivery =
  | "sent"
  | "queued"
  | "started"
  | "completed"
  | "cancelled"
  | "discarded"
  | "refused"
  | "delivered"
  /** Sent to a process that died before it confirmed it. */
  | "unknown"

export interface PictureSource {
  readonly mediaType: string
  /** Base64. Absent when the bytes are elsewhere. */
  readonly data?: string
  readonly url?: string
}

/** Something a person or program said to the agent. */
export interface PromptRow extends RowBase {
  readonly kind: "prompt"
  readonly author?: string
  readonly uuid?: string
  readonly text: string
  readonly pictures: readonly PictureSource[]
  readonly delivery: Delivery
  /** The event that sent it, where it stands elsewhere. */
  readonly sentSeq?: number
}

/** A `user` message that no user wrote. */
export interface HarnessRow extends RowBase {
  readonly kind: "harness"
  readonly text: string
}

/** `stale`: it was being said when the connection was lost, and may go on. */
type SpeechState = "live" | "stale" | "done" | "retracted"

export interface TextRow extends RowBase {
  readonly kind: "text"
  readonly state: SpeechState
  readonly text: string
}

export interface ThinkingRow extends RowBase {
  readonly kind: "thinking"
  readonly state: SpeechState
  readonly text: string
  readonly isRedacted: boolean
  readonly durationMs?: number
  /** The agent's own count while it thinks. */
  readonly tokens?: number
}

/** A failure that the agent tells in the place of an answer. */
export interface FailureRow extends RowBase {
  readonly kind: "failure"
  readonly code: string
  readonly text: string
}

export interface PictureRow extends RowBase {
  readonly kind: "picture"
  readonly picture: PictureSource
}

/** `settled`: answered in a part of the log that is not loaded. */
export type AskOutcome = AskState | "settled"

export interface AskFacts {
  readonly requestId: string
  readonly outcome: AskOutcome
  /** The event that asks; absent while it is not loaded. */
  readonly seq?: number
  readonly request: JsonObject
  readonly askedAt: string
  readonly settledAt?: string
  /** Who, and which rule, if one. */
  readonly by?: string
  readonly rule?: string
  /** The answer on the wire. */
  readonly answer?: JsonObject
  /** The input that was allowed is not the one that was asked for. */
  readonly isEdited: boolean
}

export type ToolState =
  /** Its input is still being written. */
  | "live"
  | "running"
  /** Somebody has to decide. */
  | "waiting"
  | "done"
  | "failed"
  | "denied"
  | "interrupted"
  /** The turn ended and nothing was told of it. */
  | "missing"

export interface ToolResult {
  readonly isError: boolean
  /** The model's result: a text, or blocks. */
  readonly content: unknown
  /** The CLI's account for its host, by tool. */
  readonly structured?: unknown
  /** A document's pages, which come in messages of their own. */
  readonly pages?: readonly PictureSource[]
  readonly at: string
  readonly seq: number
}

/** A sub-agent's own life, for the row that started it. */
export interface TaskFacts {
  readonly taskId?: string
  readonly description?: string
  readonly subagentType?: string
  readonly status: "running" | "completed" | "failed" | "stopped"
  readonly isBackground: boolean
  readonly tokens?: number
  readonly toolUses?: number
  readonly durationMs?: number
  readonly currentTool?: string
  readonly summary?: string
}

export interface ToolRow extends RowBase {
  readonly kind: "tool"
  readonly state: ToolState
  readonly toolUseId: string
  /** Empty when only the result is loaded: "Result of an earlier call". */
  readonly name: string
  readonly input: JsonObject
  readonly hasCall: boolean
  readonly result?: ToolResult
  readonly ask?: AskFacts
  /** Denied without anybody being asked. */
  readonly denial?: { readonly reason?: string; readonly reasonType?: string; readonly message: string }
  readonly task?: TaskFacts
  /** Events of this sub-agent are loaded: `rows(toolUseId)` has them. */
  readonly hasLane: boolean
  /** The agent's own sentence on what this and its neighbours were for. */
  readonly caption?: string
  /** Time from the call to its result, or as far as the agent last told. */
  readonly elapsedMs?: number
  readonly displayName?: string
  readonly isRetracted: boolean
}

/** Hooks and thoughts stand between the calls of a group. */
export type ActivityMember = ToolRow | HookRow | ThinkingRow

/** Quiet calls one after the other. */
export interface ActivityRow extends RowBase {
  readonly kind: "activity"
  readonly state: "running" | "done"
  readonly members: readonly ActivityMember[]
  /** "Read 4 files, searched 2 patterns" */
  readonly summary: string
  readonly caption?: string
}

export interface StartedRow extends RowBase {
  readonly kind: "started"
  readonly model?: string
  readonly mode?: string
  readonly cwd?: string
  readonly version?: string
  /** Set on every start but the first: what changed since the one before. */
  readonly changes?: readonly { readonly what: string; readonly before?: string; readonly after?: string }[]
}

export interface CompactionRow extends RowBase {
  readonly kind: "compaction"
  readonly trigger: string
  readonly preTokens?: number
  readonly postTokens?: number
}

export interface HookRow extends RowBase {
  readonly kind: "hook"
  readonly state: "running" | "done" | "failed" | "cancelled"
  readonly name: string
  readonly event: string
  readonly output: string
  readonly elapsedMs?: number
}

export interface LimitRow extends RowBase {
  readonly kind: "limit"
  readonly status: string
  readonly limitType?: string
  readonly utilization?: number
  readonly resetsAt?: number
}

/** Tries of one request to the API, told as one row. */
export interface RetryRow extends RowBase {
  readonly kind: "retry"
  readonly state: "running" | "recovered" | "failed"
  readonly attempt: number
  readonly maxRetries?: number
  readonly delayMs?: number
  readonly status?: number
  readonly error: string
}

export interface ResultRow extends RowBase {
  readonly kind: "result"
  readonly state: "done" | "failed" | "interrupted"
  readonly subtype: string
  readonly terminalReason?: string
  readonly interruptedBy?: string
  /** Absent when it only repeats the last text. */
  readonly text?: string
  readonly errors: readonly string[]
  readonly durationMs?: number
  readonly turns?: number
  /** This turn's cost; absent when the loaded events do not tell it. */
  readonly costUsd?: number
  readonly tokens: TokenCount
  /** Use of this turn by model, sub-agents included; absent when the loaded events do not tell it. */
  readonly models?: ModelUses
}

/** A question that belongs to no tool call: a form of an MCP server, a dialog. */
export interface AskRow extends RowBase {
  readonly kind: "ask"
  readonly ask: AskFacts
}

export interface NoteRow extends RowBase {
  readonly kind: "note"
  readonly level: "quiet" | "info" | "warning" | "danger"
  /** The wire's or the hub's name for it, for instance "memory_recall" or "hub/rotated". */
  readonly topic: string
  readonly text: string
  /** A line across: what comes after is another chapter. */
  readonly isDivider: boolean
  readonly details: JsonObject
}

/** Newer than we are: shown, never dropped. */
export interface UnknownRow extends RowBase {
  readonly kind: "unknown"
  readonly name: string
  readonly message: JsonObject
}

/** The row of one kind, or of several. */
export type RowOf<K extends Row["kind"]> = Extract<Row, { readonly kind: K }>

export type Row =
  | PromptRow
  | HarnessRow
  | TextRow
  | ThinkingRow
  | FailureRow
  | PictureRow
  | ToolRow
  | ActivityRow
  | StartedRow
  | CompactionRow
  | HookRow
  | LimitRow
  | RetryRow
  | ResultRow
  | AskRow
  | NoteRow
  | UnknownRow
