import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "mcp__who__asks", input: {} }, { say: "Known." }] }] }

/** What a server in the program learns of who talks to it, and the context its tools are called with. */
export async function run(): Promise<void> {
  const asks = tool("asks", "Tells who asks", {}, async (_input, extra) => {
    const { signal, requestId, _meta } = extra as { signal: AbortSignal; requestId: unknown; _meta?: object }
    observe("context", { aborted: signal.aborted, id: typeof requestId, meta: Object.keys(_meta ?? {}).sort() })
    const client = who.instance.server.getClientVersion()
    observe("client", { name: client?.name, title: client?.title, can: who.instance.server.getClientCapabilities() })
    return { content: [{ type: "text", text: "noted" }] }
  })
  const who = createSdkMcpServer({ name: "who", tools: [asks] })
  await watch(query({ prompt: "who", options: { ...basics(), mcpServers: { who }, allowedTools: ["mcp__who__asks"] } }))
}
