import { z } from "zod"
import { AccountInfo, AgentDefinition, AgentInfo, ModelInfo, SlashCommand } from "./catalog.ts"
import { controlRequest } from "./control-request.ts"
import { HookRegistration } from "./hooks.ts"
import { PermissionMode } from "./permission.ts"
import { Capability, SessionActivity } from "./system-session.ts"

export const InitializeRequest = controlRequest("initialize", {
  /** Keyed by event name; an event unknown to the CLI is ignored. */
  hooks: z.record(z.string(), z.array(HookRegistration)).nullish(),
  sdkMcpServers: z.array(z.string()).optional(),
  jsonSchema: z.record(z.string(), z.unknown()).optional(),
  /** A string up to 2.1.37, an array of strings in 2.1.325. */
  systemPrompt: z.union([z.string(), z.array(z.string())]).optional(),
  appendSystemPrompt: z.string().optional(),
  agents: z.record(z.string(), AgentDefinition).optional(),
  sdkMcpServerConfigs: z.unknown().optional(),
  sdkMcpServerManifests: z.unknown().optional(),
  sdkMcpServerManifestsOrigin: z.unknown().optional(),
  systemPromptSnapshot: z.unknown().optional(),
  planModeInstructions: z.string().optional(),
  toolAliases: z.record(z.string(), z.unknown()).optional(),
  excludeDynamicSections: z.unknown().optional(),
  title: z.string().optional(),
  skills: z.union([z.array(z.string()), z.literal("all")]).optional(),
  promptSuggestions: z.boolean().optional(),
  agentProgressSummaries: z.boolean().optional(),
  forwardSubagentText: z.boolean().optional(),
  supportedDialogKinds: z.array(z.string()).optional(),
  perTaskStopAffordance: z.unknown().optional(),
  plugins: z.array(z.unknown()).optional(),
})
export type InitializeRequest = z.infer<typeof InitializeRequest>

export const InitializeReply = z.looseObject({
  commands: z.array(SlashCommand),
  output_style: z.string(),
  available_output_styles: z.array(z.string()),
  models: z.array(ModelInfo),
  account: AccountInfo,
  fast_mode: z.boolean().optional(),
  agents: z.array(AgentInfo).optional(),
  hooks_applied: z.unknown().optional(),
  hook_on_failure_supported: z.unknown().optional(),
  plugins_applied: z.unknown().optional(),
  sdk_mcp_manifests_parked: z.unknown().optional(),
  claude_code_version: z.string().optional(),
  fast_mode_state: z.string().nullish(),
  fast_mode_disabled_reason: z.string().nullish(),
  pid: z.number().optional(),
  current_permission_mode: PermissionMode.optional(),
  // The rest is seen on 2.1.325, not published.
  /** Fewer than in `system/init`. */
  capabilities: z.array(Capability).nullish(),
  session_state: SessionActivity.nullish(),
  user_output_styles_dir: z.string().nullish(),
  other_hook_ask_outranks_host: z.boolean().nullish(),
  analytics_disabled: z.unknown().optional(),
  feedback_mode: z.unknown().optional(),
  ide_rc_auto_enable_gate: z.unknown().optional(),
  remote_control_available: z.unknown().optional(),
  remote_control_auto_enable: z.unknown().optional(),
  remote_control_auto_on_by_default: z.unknown().optional(),
  remote_control_auto_connect_default: z.unknown().optional(),
})
export type InitializeReply = z.infer<typeof InitializeReply>
