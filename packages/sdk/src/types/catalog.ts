// What an agent says it offers.
import type * as Wire from "@signalbox/protocol"
import type { FastMode } from "./message-parts.ts"
import type { Published, With } from "./published.ts"

export type SlashCommand = With<Published<Wire.SlashCommand>, { argumentHint: string }>
export type ModelInfo = With<Published<Wire.ModelInfo>, { description: string }>
export type AccountInfo = Published<Wire.AccountInfo>
export type AgentInfo = Published<Wire.AgentInfo>

type Parked = "parked" | "already_connected" | "protocol_version_mismatch" | "malformed" | "not_honoured"
interface OfInitialize extends FastMode {
  commands: SlashCommand[]
  models: ModelInfo[]
  agents: AgentInfo[]
  hooks_applied?: boolean
  hook_on_failure_supported?: boolean
  plugins_applied?: boolean
  sdk_mcp_manifests_parked?: Record<string, Parked>
}
export type SDKControlInitializeResponse = With<Published<Wire.InitializeReply>, OfInitialize>
