export { createMcpBridge, type McpBridge, type McpBridgeOptions } from "./bridge.ts"
export {
  type CreateSdkMcpServerOptions,
  createSdkMcpServer,
  type SdkMcpServer,
} from "./create-sdk-mcp-server.ts"
export { type AnyZodRawShape, type InferShape, type SdkMcpToolDefinition, type ToolExtras, tool } from "./tool.ts"
