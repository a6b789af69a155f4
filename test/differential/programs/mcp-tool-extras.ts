import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { z } from "zod"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "mcp__zoo__look", input: { at: "lions" } }, { say: "Lions." }] }] }

export async function run(): Promise<void> {
  const look = tool(
    "look",
    "Looks at animals",
    { at: z.string() },
    async ({ at }, extra) => {
      observe("tool", { at, extra: typeof extra })
      return {
        content: [
          { type: "text", text: `two ${at}` },
          { type: "resource_link", uri: "zoo://lions", name: "lions" },
        ],
        structuredContent: { count: 2 },
      }
    },
    { annotations: { readOnlyHint: true, title: "Look" }, alwaysLoad: true },
  )
  const zoo = createSdkMcpServer({ name: "zoo", version: "2.0.0", tools: [look], instructions: "Be quiet in the zoo." })
  await watch(
    query({ prompt: "look", options: { ...basics(), mcpServers: { zoo }, allowedTools: ["mcp__zoo__look"] } }),
  )
}
