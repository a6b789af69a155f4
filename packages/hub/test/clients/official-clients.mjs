// Three unmodified official browser clients on one session, in a process of their own: they need a global WebSocket.
// Reads its orders as JSON from the environment, tells what happened as one line of JSON per thing.
import { WebSocket } from "ws"

globalThis.WebSocket = /** @type {never} */ (WebSocket)

/**
 * @typedef {{ entry: string, road: "websocket" | "sse", url: string, session: string, token: string, prompt: string,
 *   turns: number }} Orders
 */

/** @type {Orders} */
const orders = JSON.parse(process.env["ORDERS"] ?? "{}")
const { createSdkMcpServer, query, tool, z } = await import(orders.entry)

/** @param {string} client @param {string} what @param {unknown} [detail] */
function tell(client, what, detail) {
  process.stdout.write(`${JSON.stringify({ client, what, detail })}\n`)
}

/** @param {string} client */
function road(client) {
  const { url, session, token } = orders
  if (orders.road === "websocket") {
    const authMessage = { type: "auth", credential: { type: "oauth", token } }
    return { websocket: { url: `${url.replace("http", "ws")}/ws/session/${session}`, authMessage } }
  }
  const base = `${url}/v1/code/sessions/${session}/events`
  const headers = { Authorization: `Bearer ${token}` }
  const [streamUrl, sendUrl] = [`${base}/stream?client=${client}`, `${base}?client=${client}`]
  return { sse: { streamUrl, sendUrl, sessionId: session, headers } }
}

/** @param {string} client @param {string} server @param {string} matcher */
function callbacks(client, server, matcher) {
  const shout = tool(
    "shout",
    "Says it loudly",
    { text: z.string() },
    async (/** @type {{ text: string }} */ { text }) => {
      tell(client, "tool", text)
      return { content: [{ type: "text", text: `${client}: ${text.toUpperCase()}` }] }
    },
  )
  return {
    mcpServers: { [server]: createSdkMcpServer({ name: server, tools: [shout] }) },
    hooks: {
      PreToolUse: [
        {
          matcher,
          hooks: [
            async (/** @type {{ tool_name: string }} */ input) => {
              tell(client, "hook", input.tool_name)
              return {}
            },
          ],
        },
      ],
    },
    canUseTool: async (/** @type {string} */ name, /** @type {Record<string, unknown>} */ input) => {
      tell(client, "asked", name)
      return { behavior: "allow", updatedInput: input }
    },
  }
}

/** Words come from the one who started us, a line each, for the client that is named. @type {Map<string, (text: string) => void>} */
const speakers = new Map()

/** @param {string} client */
function prompts(client) {
  /** @type {string[]} */
  const waiting = []
  /** @type {(() => void) | undefined} */
  let wake
  speakers.set(client, (text) => {
    waiting.push(text)
    wake?.()
  })
  return (async function* () {
    for (;;) {
      const text = waiting.shift()
      if (text === undefined) await new Promise((resolve) => (wake = () => resolve(undefined)))
      else yield { type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, session_id: "" }
    }
  })()
}

/** @param {string} client @param {Record<string, unknown>} options */
async function run(client, options) {
  const messages = query({ prompt: prompts(client), ...road(client), ...options })
  messages.initializationResult().then(
    (/** @type {{ commands: unknown[] }} */ reply) => tell(client, "initialized", reply.commands.length),
    (/** @type {Error} */ error) => tell(client, "not initialized", error.message),
  )
  try {
    for await (const message of messages) {
      const { type, subtype, isReplay } = message
      tell(client, "message", { type, subtype, isReplay, text: type === "result" ? message.result : undefined })
    }
    tell(client, "ended")
  } catch (error) {
    tell(client, "threw", error instanceof Error ? error.message : String(error))
  }
}

process.stdin.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
  for (const line of chunk.split("\n").filter((text) => text !== "")) {
    const { client, text } = JSON.parse(line)
    speakers.get(client)?.(text)
  }
})
process.stdin.on("end", () => process.exit(0))

void run("alpha", callbacks("alpha", "first", "Bash"))
void run("beta", callbacks("beta", "second", "mcp__.*"))
void run("gamma", {})
