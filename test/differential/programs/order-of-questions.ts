import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const asked = (request_id: string, request: object) => ({ type: "control_request", request_id, request })
const permission = (id: string) =>
  asked(id, { subtype: "can_use_tool", tool_name: "Bash", input: { command: id }, tool_use_id: id })
const hook = (id: string) =>
  asked(id, {
    subtype: "hook_callback",
    callback_id: "hook_0",
    input: { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: {} },
    tool_use_id: id,
  })
const call = (id: string) =>
  asked(id, {
    subtype: "mcp_message",
    server_name: "s",
    message: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "hi", arguments: {} } },
  })
const saying = (text: string) => ({
  type: "assistant",
  message: { role: "assistant", content: [{ type: "text", text }] },
})
const raw = (...messages: object[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join("")

const STEPS = [
  { until: "user" },
  { raw: raw(permission("p1"), hook("h1"), call("m1")) },
  { answered: 3 },
  {
    raw: raw(saying("one"), permission("p2"), hook("h2"), saying("two"), permission("p3"), hook("h3"), saying("three")),
  },
  { answered: 4 },
  { result: "Done." },
]

/** Questions of every kind and messages in one piece: callbacks and messages are seen in the order of the wire. */
export async function run(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const hi = tool("hi", "says hi", {}, async () => {
      observe("seen", "tool")
      return { content: [] }
    })
    const running = query({
      prompt: "go",
      options: {
        ...basics(),
        pathToClaudeCodeExecutable: fake("follows-steps"),
        env: { ...process.env, STEPS: JSON.stringify(STEPS) },
        mcpServers: { s: createSdkMcpServer({ name: "s", tools: [hi] }) },
        hooks: {
          PreToolUse: [
            {
              hooks: [
                async (_input, id) => {
                  observe("seen", `hook ${id}`)
                  return {}
                },
              ],
            },
          ],
        },
        canUseTool: async (_name, input, { toolUseID }) => {
          observe("seen", `permission ${toolUseID}`)
          return { behavior: "allow", updatedInput: input }
        },
      },
    })
    for await (const message of running) observe("seen", message)
  }
}
