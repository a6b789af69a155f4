// Our SDK for a program that knows nothing of hubs. What the program says of the process becomes the command line of an
// agent that dials the hub, as somebody would start it by hand; everything else goes to a query on that hub's session.
import { spawn } from "node:child_process"
import { query as ours } from "../../../packages/sdk/dist/index.js"
import { environmentFor } from "../../../packages/sdk/dist/launch/executable.js"
import { argumentsFor } from "../../../packages/sdk/dist/launch/flags.js"

export * from "../../../packages/sdk/dist/index.js"

/** What a query on a hub takes. It also takes model and mode; here the agent is started with them, as it is locally. */
const THROUGH_HUB = [
  "abortController",
  "canUseTool",
  "hooks",
  "includePartialMessages",
  "mcpServers",
  "onElicitation",
  "onUserDialog",
  "permissionTimeoutMs",
  "supportedDialogKinds",
  "verbatimPrompts",
]

/** @param {{ prompt: any, options?: any }} parameters */
export function query({ prompt, options = {} }) {
  const { hub, ingress } = JSON.parse(process.env["SIGNALBOX_TEST_HUB"] ?? "{}")
  startAgent(options, ingress)
  const kept = Object.fromEntries(Object.entries(options).filter(([name]) => THROUGH_HUB.includes(name)))
  return ours({ prompt, options: { ...kept, hub } })
}

/**
 * @param {any} options
 * @param {{ url: string, token: string }} ingress
 */
function startAgent(options, { url, token }) {
  const path = options.pathToClaudeCodeExecutable
  const [command, ...first] = path.endsWith(".mjs") ? [process.execPath, path] : [path]
  const { NODE_OPTIONS: _, ...env } = environmentFor(options, { isWarm: false })
  const args = [...first, "--print", "--sdk-url", url, "--replay-user-messages", ...argumentsFor(options)]
  const agent = spawn(command, args, {
    cwd: options.cwd,
    env: { ...env, CLAUDE_CODE_SESSION_ACCESS_TOKEN: token },
    stdio: "ignore",
  })
  // It outlives the query, and must not keep the program's process.
  agent.unref()
  process.on("exit", () => agent.kill("SIGKILL"))
}
