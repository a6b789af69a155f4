import type {
  AccountInfo,
  AgentDefinition,
  AgentInfo,
  CanUseTool,
  ExitReason,
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  HookJSONOutput,
  McpHttpServerConfig,
  McpSdkServerConfigWithInstance,
  McpServerConfig,
  McpServerStatus,
  McpSSEServerConfig,
  McpStdioServerConfig,
  ModelInfo,
  ModelUsage,
  NonNullableUsage,
  Options,
  OutputFormat,
  PermissionBehavior,
  PermissionMode,
  PermissionResult,
  PermissionRuleValue,
  PermissionUpdate,
  PreToolUseHookInput,
  Query,
  RewindFilesResult,
  SDKAssistantMessage,
  SDKCompactBoundaryMessage,
  SDKMessage,
  SDKPartialAssistantMessage,
  SDKPermissionDenial,
  SDKResultMessage,
  SDKStatusMessage,
  SDKSystemMessage,
  SDKUserMessage,
  SDKUserMessageReplay,
  SettingSource,
  SlashCommand,
  SpawnedProcess,
  SpawnOptions,
  SyncHookJSONOutput,
  UserPromptSubmitHookInput,
} from "@anthropic-ai/claude-agent-sdk"
import { observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Compiling is the point: a program narrows, builds and passes on these types as here. */
export async function run(): Promise<void> {
  const options: Options = {
    settingSources: ["user" satisfies SettingSource],
    permissionMode: "plan" satisfies PermissionMode,
  }
  observe("options", options)
}

export function textOf(message: SDKMessage): string {
  if (message.type === "assistant") return blocks(message)
  if (message.type === "user") return JSON.stringify(message.message.content)
  if (message.type === "result") return message.subtype === "success" ? message.result : message.errors.join()
  if (message.type === "stream_event") return message.event.type
  if (message.type !== "system") return message.type
  return message.subtype === "init" ? `${message.model} ${message.tools.length}` : message.subtype
}

function blocks({ message }: SDKAssistantMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : block.type)).join("")
}

export const hook: HookCallback = async (input: HookInput): Promise<HookJSONOutput> => {
  if (input.hook_event_name === "PreToolUse") return beforeTool(input)
  if (input.hook_event_name === "UserPromptSubmit") return prompted(input)
  return {}
}

function beforeTool(input: PreToolUseHookInput): SyncHookJSONOutput {
  return input.tool_name === "Bash" ? { decision: "block", reason: `no ${JSON.stringify(input.tool_input)}` } : {}
}

function prompted(input: UserPromptSubmitHookInput): SyncHookJSONOutput {
  return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: input.prompt } }
}

export const matchers: Partial<Record<HookEvent, HookCallbackMatcher[]>> = {
  PreToolUse: [{ matcher: "Bash", hooks: [hook] }],
}

export const ask: CanUseTool = async (_name, input, { signal, suggestions }): Promise<PermissionResult> => {
  const update: PermissionUpdate | undefined = suggestions?.[0]
  const rule: PermissionRuleValue | undefined = update?.type === "addRules" ? update.rules[0] : undefined
  const behavior: PermissionBehavior = rule === undefined ? "deny" : "allow"
  if (behavior === "deny") return { behavior: "deny", message: signal.aborted ? "gone" : "no" }
  return { behavior: "allow", updatedInput: input, ...(update === undefined ? {} : { updatedPermissions: [update] }) }
}

export function servers(instance: McpSdkServerConfigWithInstance): Record<string, McpServerConfig> {
  const stdio: McpStdioServerConfig = { command: "server" }
  const http: McpHttpServerConfig = { type: "http", url: "http://127.0.0.1:9" }
  const sse: McpSSEServerConfig = { type: "sse", url: "http://127.0.0.1:9" }
  return { stdio, http, sse, instance }
}

export async function look(running: Query): Promise<unknown[]> {
  const commands: SlashCommand[] = await running.supportedCommands()
  const models: ModelInfo[] = await running.supportedModels()
  const agents: AgentInfo[] = await running.supportedAgents()
  const account: AccountInfo = await running.accountInfo()
  const status: McpServerStatus[] = await running.mcpServerStatus()
  const rewound: RewindFilesResult = await running.rewindFiles("x")
  const next: IteratorResult<SDKMessage, void> = await running.next()
  return [
    commands[0]?.name,
    models[0]?.value,
    agents[0]?.name,
    account.email,
    status[0]?.status,
    rewound.canRewind,
    next.done,
  ]
}

export function costOf(result: SDKResultMessage): number {
  const usage: NonNullableUsage = result.usage
  const models: Record<string, ModelUsage> = result.modelUsage
  const denials: SDKPermissionDenial[] = result.permission_denials
  return usage.output_tokens + denials.length + Object.values(models).reduce((sum, { costUSD }) => sum + costUSD, 0)
}

export function spawned(spawn: (options: SpawnOptions) => SpawnedProcess): Options {
  const agent: AgentDefinition = { description: "d", prompt: "p", model: "haiku" }
  const outputFormat: OutputFormat = { type: "json_schema", schema: {} }
  return { spawnClaudeCodeProcess: spawn, agents: { agent }, outputFormat }
}

export function kindOf(
  message:
    | SDKSystemMessage
    | SDKPartialAssistantMessage
    | SDKCompactBoundaryMessage
    | SDKStatusMessage
    | SDKUserMessageReplay,
): string {
  return message.type === "system" ? message.subtype : message.type
}

export const again = (text: string): SDKUserMessage => ({
  type: "user",
  message: { role: "user", content: text },
  parent_tool_use_id: null,
  session_id: "",
})
export const reasons: ExitReason[] = ["clear", "logout", "other"]
