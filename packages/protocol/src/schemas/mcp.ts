import { z } from "zod"
import { openEnum } from "./open-enum.ts"
import { openUnion } from "./open-union.ts"

export const JsonRpcMessage = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
})
export type JsonRpcMessage = z.infer<typeof JsonRpcMessage>

export const McpStdioServer = z.looseObject({
  type: z.literal("stdio").optional(),
  command: z.string(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
})
export type McpStdioServer = z.infer<typeof McpStdioServer>

export const McpSseServer = z.looseObject({
  type: z.literal("sse"),
  url: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
})
export type McpSseServer = z.infer<typeof McpSseServer>

export const McpHttpServer = z.looseObject({
  type: z.literal("http"),
  url: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
})
export type McpHttpServer = z.infer<typeof McpHttpServer>

/** Hosted by the SDK itself, reached through `mcp_message`. */
export const McpSdkServer = z.looseObject({ type: z.literal("sdk"), name: z.string() })
export type McpSdkServer = z.infer<typeof McpSdkServer>

export const McpServerConfig = openUnion("type", [McpStdioServer, McpSseServer, McpHttpServer, McpSdkServer])
export type McpServerConfig = z.infer<typeof McpServerConfig>

/** `connecting` of some documents does not exist; `disabled` came with 2.1.37. */
export const MCP_SERVER_STATES = ["connected", "failed", "needs-auth", "pending", "disabled"] as const
export const McpServerState = openEnum(MCP_SERVER_STATES)
export type McpServerState = z.infer<typeof McpServerState>

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
export type McpResourceContents = z.infer<typeof McpResourceContents>
