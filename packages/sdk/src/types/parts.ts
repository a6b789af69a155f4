// Parts of other types that the official package has a name for.
import type { UUID } from "node:crypto"
import type * as Wire from "@signalbox/protocol"
import type { ReadMcpResourceResult } from "./mcp.ts"
import type { SDKSystemMessage } from "./messages.ts"
import type { Options, OutputFormat, ThinkingConfig } from "./options.ts"
import type { Published, With } from "./published.ts"

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
  Published<Wire.ActiveGoal>,
  { uuid: UUID; session_id: string; value: With<Published<Wire.Goal>, { set_at: number }> | null }
>
