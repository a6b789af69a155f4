import { isObject } from "../base/wire.ts"
import type { McpSdkServerConfigWithInstance, McpServerConfig } from "../types/mcp.ts"

/** A server of this program. One that is only named so, without the server itself, is whatever the agent makes of it. */
export function isInProcess(config: McpServerConfig): config is McpSdkServerConfigWithInstance {
  return config.type === "sdk" && isObject(config.instance)
}
