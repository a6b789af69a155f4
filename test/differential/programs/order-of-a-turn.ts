import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe } from "../program-context.ts"

const bash = [0, 1, 2, 3, 4, 5].map((n) => ({ tool: "Bash", input: { command: `touch file${n}` } }))
const hi = { tool: "mcp__s__hi", input: {} }
export const scenario = { turns: [{ steps: [...bash, hi, hi, { say: "Done." }] }] }

/** In which order a program sees the messages of a turn and is called back, tool after tool. */
export async function run(): Promise<void> {
  const seen = (what: string) => async () => {
    observe("seen", what)
    return {}
  }
  const greet = tool("hi", "says hi", {}, async () => {
    observe("seen", "tool")
    return { content: [] }
  })
  const running = query({
    prompt: "go",
    options: {
      ...basics(),
      mcpServers: { s: createSdkMcpServer({ name: "s", tools: [greet] }) },
      hooks: {
        PreToolUse: [{ hooks: [seen("before")] }],
        PostToolUse: [{ hooks: [seen("after")] }],
        Stop: [{ hooks: [seen("stop")] }],
      },
      canUseTool: async (_name, input) => {
        observe("seen", "permission")
        return { behavior: "allow", updatedInput: input }
      },
    },
  })
  for await (const message of running) observe("seen", message.type)
}
