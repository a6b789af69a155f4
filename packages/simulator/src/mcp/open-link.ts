import type { AgentCore } from "../agent/core.ts"
import type { NamedServer } from "./config.ts"
import { openHttpLink, openSseLink } from "./http-link.ts"
import { type McpLink, McpLinkFailure } from "./link.ts"
import { serveFor } from "./server-requests.ts"
import { openStdioLink } from "./stdio-link.ts"

/** Starts or dials a server. Throws an `McpLinkFailure`. */
export async function openLink(core: AgentCore, { name, config }: NamedServer, timeoutMs: number): Promise<McpLink> {
  const { launch, profile } = core
  const serve = serveFor(core, name)
  if (config.type === "stdio") {
    const env = { ...launch.env, CLAUDE_CODE_ENTRYPOINT: launch.env["CLAUDE_CODE_ENTRYPOINT"] ?? "sdk-cli" }
    return openStdioLink(config, { cwd: launch.cwd, env, serve })
  }
  if (!URL.canParse(config.url)) {
    throw new McpLinkFailure({ kind: "other", message: `"${config.url}" cannot be parsed as a URL.` })
  }
  const userAgent = `claude-code/${profile.version}${profile.generation === 37 ? "" : " (sdk-cli)"}`
  return config.type === "http"
    ? openHttpLink(config, { userAgent, serve })
    : openSseLink(config, { userAgent, serve, timeoutMs })
}
