import { z } from "zod"
import { openEnum, openUnion, schemasOf } from "./parts.ts"

/** An agent's offer: its commands, models, sub-agents and account. */

export const EFFORT_LEVELS = ["low", "medium", "high", "xhigh", "max"] as const

export const SlashCommand = z.looseObject({
  name: z.string(),
  description: z.string(),
  argumentHint: z.string().optional(),
  aliases: z.array(z.string()).nullish(),
  builtin: z.boolean().nullish(),
})
export type SlashCommand = z.infer<typeof SlashCommand>

export const ModelInfo = z.looseObject({
  value: z.string(),
  displayName: z.string(),
  description: z.string().optional(),
  /** The model that an alias in `value` stands for. */
  resolvedModel: z.string().nullish(),
  supportsEffort: z.boolean().nullish(),
  supportedEffortLevels: z.array(openEnum(EFFORT_LEVELS)).nullish(),
  supportsAdaptiveThinking: z.boolean().nullish(),
  supportsThinkingOff: z.boolean().nullish(),
  supportsFastMode: z.boolean().nullish(),
  supportsAutoMode: z.boolean().nullish(),
})
export type ModelInfo = z.infer<typeof ModelInfo>

const API_PROVIDERS = [
  "firstParty",
  "bedrock",
  "vertex",
  "foundry",
  "anthropicAws",
  "anthropicGoogleCloud",
  "mantle",
  "gateway",
] as const

export const AccountInfo = z.looseObject({
  email: z.string().nullish(),
  organization: z.string().nullish(),
  subscriptionType: z.string().nullish(),
  tokenSource: z.string().nullish(),
  apiKeySource: z.string().nullish(),
  apiProvider: openEnum(API_PROVIDERS).nullish(),
})
export type AccountInfo = z.infer<typeof AccountInfo>

/** A sub-agent as listed by the agent. */
export const AgentInfo = z.looseObject({ name: z.string(), description: z.string(), model: z.string().nullish() })
export type AgentInfo = z.infer<typeof AgentInfo>

/** A sub-agent as defined by the host in `initialize`. */
export const AgentDefinition = z.looseObject({
  description: z.string(),
  prompt: z.string(),
  tools: z.array(z.string()).optional(),
  disallowedTools: z.array(z.string()).optional(),
  model: z.string().optional(),
})
export type AgentDefinition = z.infer<typeof AgentDefinition>

export const JsonRpcMessage = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
})
export type JsonRpcMessage = z.infer<typeof JsonRpcMessage>

const McpStdioServer = z.looseObject({
  type: z.literal("stdio").optional(),
  command: z.string(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
})

const remote = { url: z.string(), headers: z.record(z.string(), z.string()).optional() }
/** Servers of the type `sdk` are hosted by the SDK itself, reached through `mcp_message`. */
const mcpServers = schemasOf("type", {}, { sse: remote, http: remote, sdk: { name: z.string() } })

export const McpServerConfig = openUnion("type", [McpStdioServer, ...Object.values(mcpServers)])
export type McpServerConfig = z.infer<typeof McpServerConfig>

/** `connecting` of some documents does not exist; `disabled` came with 2.1.37. */
const MCP_SERVER_STATES = ["connected", "failed", "needs-auth", "pending", "disabled"] as const
export const McpServerState = openEnum(MCP_SERVER_STATES)

export const McpServerStatus = z.looseObject({
  name: z.string(),
  status: McpServerState,
  serverInfo: z.looseObject({ name: z.string(), version: z.string().optional() }).nullish(),
  error: z.string().nullish(),
  // Reported configurations are reduced and know more kinds than one may configure.
  config: z.looseObject({ type: z.string().optional(), url: z.string().optional() }).nullish(),
  scope: z.string().nullish(),
  source: z.string().nullish(),
  transport: z.string().nullish(),
  tools: z
    .array(
      z.looseObject({
        name: z.string(),
        description: z.string().optional(),
        annotations: z
          .looseObject({
            readOnly: z.boolean().optional(),
            destructive: z.boolean().optional(),
            openWorld: z.boolean().optional(),
          })
          .nullish(),
      }),
    )
    .nullish(),
})
export type McpServerStatus = z.infer<typeof McpServerStatus>

export const McpResourceContents = z.looseObject({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
})
