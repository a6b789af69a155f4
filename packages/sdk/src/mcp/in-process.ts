import type { McpSdkServerConfigWithInstance, McpServerConfig } from "../types/mcp.ts"

export function isInProcess(config: McpServerConfig): config is McpSdkServerConfigWithInstance {
  return config.type === "sdk"
}
