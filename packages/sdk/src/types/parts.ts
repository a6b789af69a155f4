// Parts of other types that the official package has a name for.
import type * as Wire from "@signalbox/protocol"
import type { HookEvent } from "./hooks.ts"
import type { McpServerConfigForProcessTransport, ReadMcpResourceResult } from "./mcp.ts"
import type { SDKResultError, SDKSystemMessage } from "./messages.ts"
import type { Options, OutputFormat, ThinkingConfig } from "./options.ts"
import type { Published } from "./published.ts"

export type AgentMcpServerSpec = string | Record<string, McpServerConfigForProcessTransport>
export type ApiKeySource = SDKSystemMessage["apiKeySource"]
export type FastModeState = NonNullable<SDKSystemMessage["fast_mode_state"]>
export type FastModeDisabledReason = NonNullable<SDKSystemMessage["fast_mode_disabled_reason"]>
export type ConfigScope = "local" | "user" | "project"
export type OutputFormatType = OutputFormat["type"]
export type BaseOutputFormat = { type: OutputFormatType }
export type HookPermissionDecision = "allow" | "deny" | "ask" | "defer"

export type ThinkingAdaptive = Extract<ThinkingConfig, { type: "adaptive" }>
export type ThinkingEnabled = Extract<ThinkingConfig, { type: "enabled" }>
export type ThinkingDisabled = Extract<ThinkingConfig, { type: "disabled" }>
export type ToolConfig = NonNullable<Options["toolConfig"]>

export type McpServerProvenance = { name: string; source: string }
export type McpClaudeAIProxyServerConfig = { type: "claudeai-proxy"; url: string; id: string; timeout?: number }
export type McpServerStatusConfig = McpServerConfigForProcessTransport | McpClaudeAIProxyServerConfig
export type SDKControlMcpReadResourceResponse = ReadMcpResourceResult

export type SDKActiveGoalMessage = Published<Wire.ActiveGoal>
/** Who a message is from; what else is told depends on the kind. */
export type SDKMessageOrigin = { kind: string } & Record<string, unknown>
export type SDKContextUsage = { model: string } & Record<string, unknown>
export type SDKUsageReport = Record<string, unknown>
export type SDKDeferredToolUse = { id: string; name: string; input: Record<string, unknown> }
export type SDKStartupFailureReason = NonNullable<SDKResultError["startup_failure_reason"]>

type PartOf<E extends HookEvent, K extends string> = NonNullable<
  Extract<Published<Wire.HookInputOf<E>>, Record<K, unknown>>[K]
>
type ElementOf<T> = T extends readonly (infer Element)[] ? Element : never
export type PostToolBatchToolCall = ElementOf<PartOf<"PostToolBatch", "tool_calls">>
