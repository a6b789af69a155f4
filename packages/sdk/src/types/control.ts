import type { UUID } from "node:crypto"
import type * as Wire from "@signalbox/protocol"
import type { ReadMcpResourceResult } from "./mcp.ts"
import type { SDKMessage, SDKSystemMessage } from "./messages.ts"
import type { Options, OutputFormat, ThinkingConfig } from "./options.ts"
import type { PermissionBehavior } from "./permissions.ts"
import type { Published, With } from "./published.ts"

// The lines of the wire that are questions and answers, and the seam at which they come and go.

export interface SDKControlRequest {
  type: "control_request"
  request_id: string
  request: { [S in Wire.ControlSubtype]: Published<Wire.ControlRequestOf<S>> }[Wire.ControlSubtype]
}

interface Answered<Subtype extends string> {
  subtype: Subtype
  request_id: string
  pending_permission_requests?: SDKControlRequest[]
  pending_user_dialog_requests?: SDKControlRequest[]
  pending_elicitation_requests?: SDKControlRequest[]
}
export interface SDKControlResponse {
  type: "control_response"
  response: (Answered<"success"> & { response?: Record<string, unknown> }) | (Answered<"error"> & { error: string })
}

/** How an agent is reached, for programs that write one down. */
export interface Transport {
  write(data: string): void | Promise<void>
  readMessages(): AsyncGenerator<TransportMessage, void, unknown>
  isReady(): boolean
  endInput(): void
  close(): void
  expectControlResponse?(requestId: string): void
  markDelivered?(message: object): void
  waitForExit?(): Promise<void>
  [Symbol.dispose]?(): void
}
type TransportMessage =
  | SDKMessage
  | SDKActiveGoalMessage
  | SDKControlRequest
  | SDKControlResponse
  | { type: "control_cancel_request"; request_id: string }
  | { type: "keep_alive" }

/** The reply to `list_permission_rules`. */
export interface SDKControlListPermissionRulesResponse {
  state: SDKControlPermissionRulesState
}
export interface SDKControlPermissionRulesState {
  errors?: SDKSettingsParseError[]
  managedOnly: boolean
  originalCwd: string
  rules: SDKPermissionRuleEntry[]
  withheld?: boolean
  workspaceDirectories: SDKPermissionWorkspaceDirectory[]
}
export interface SDKPermissionRuleEntry {
  behavior: PermissionBehavior
  rule: string
  source:
    | `${"user" | "project" | "local" | "flag" | "policy"}Settings`
    | "cliArg"
    | "command"
    | "session"
    | "mcpMount"
    | "toolsNarrowing"
    | "mcpServerPolicy"
    | "hostCredential"
  editability: "persistent" | "session" | "readonly"
  description?: SDKPermissionRuleDescription
  notInEffect?: boolean
}
export interface SDKPermissionRuleDescription {
  prefix: string
  emphasis?: string
  suffix?: string
}
export interface SDKPermissionWorkspaceDirectory {
  path: string
  source: string
}
export interface SDKSettingsParseError {
  file?: string
  path: string
  message: string
}

// Parts of other types that the official package has a name for.

export type ApiKeySource = SDKSystemMessage["apiKeySource"]
export type ConfigScope = "local" | "user" | "project"
export type OutputFormatType = OutputFormat["type"]
export type BaseOutputFormat = { type: OutputFormatType }
export type HookPermissionDecision = "allow" | "deny" | "ask" | "defer"

export type ThinkingAdaptive = Extract<ThinkingConfig, { type: "adaptive" }>
export type ThinkingEnabled = Extract<ThinkingConfig, { type: "enabled" }>
export type ThinkingDisabled = Extract<ThinkingConfig, { type: "disabled" }>
export type ToolConfig = NonNullable<Options["toolConfig"]>

export type McpServerProvenance = { name: string; source: string }
export type SDKControlMcpReadResourceResponse = ReadMcpResourceResult

export type SDKActiveGoalMessage = With<
  Published<Wire.PlainMessageOf<"active_goal">>,
  { uuid: UUID; session_id: string; value: With<Published<Wire.Goal>, { set_at: number }> | null }
>
