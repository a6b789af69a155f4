import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "mcp__things__picture", input: {} },
        { tool: "mcp__things__both", input: {} },
        { tool: "mcp__things__link", input: {} },
        { tool: "mcp__things__failing", input: {} },
        { tool: "mcp__things__empty", input: {} },
        { say: "Seen." },
      ],
    },
  ],
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** What tools of the program's own may give back: pictures, several parts, links, an error that is no exception. */
export async function run(): Promise<void> {
  const things = createSdkMcpServer({
    name: "things",
    tools: [
      tool("picture", "A picture", {}, async () => ({
        content: [{ type: "image", data: PIXEL, mimeType: "image/png" }],
      })),
      tool("both", "Two parts", {}, async () => ({
        content: [
          { type: "text", text: "one" },
          { type: "text", text: "two" },
        ],
      })),
      tool("link", "A resource", {}, async () => ({
        content: [{ type: "resource", resource: { uri: "x://y", text: "inside", mimeType: "text/plain" } }],
      })),
      tool("failing", "Says no", {}, async () => ({ content: [{ type: "text", text: "no" }], isError: true })),
      tool("empty", "Says nothing", {}, async () => ({ content: [] })),
    ],
  })
  await watch(query({ prompt: "all", options: { ...basics(), mcpServers: { things }, allowedTools: ["mcp__things"] } }))
}
