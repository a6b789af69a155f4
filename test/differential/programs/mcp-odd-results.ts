import { createSdkMcpServer, query, type SdkMcpToolDefinition, tool } from "@anthropic-ai/claude-agent-sdk"
import { z } from "zod"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

type Result = Awaited<ReturnType<SdkMcpToolDefinition["handler"]>>

const PNG = { type: "image" as const, data: "AAAA", mimeType: "image/png" }
const results: Record<string, Result> = {
  error: { content: [{ type: "text", text: "went wrong" }], isError: true },
  structured: { content: [], structuredContent: { a: 1 }, _meta: { b: 2 } },
  kinds: {
    content: [
      PNG,
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "note://1", text: "a note" } },
      { type: "resource_link", uri: "note://2", name: "another" },
    ],
  },
}

function call(id: number | string, method: string, params?: object) {
  return {
    subtype: "mcp_message",
    server_name: "s",
    message: { jsonrpc: "2.0", id, method, ...(params && { params }) },
  }
}

/** Every kind of content, errors returned and thrown, annotations, defaults, ids of both kinds, and methods nobody has. */
export async function run(): Promise<void> {
  const told = Object.entries(results).map(([name, result]) => tool(name, "gives it", {}, async () => result))
  const shape = {
    n: z.number().default(3),
    which: z.enum(["x", "y"]).describe("which one"),
    more: z.array(z.string()).optional(),
  }
  const annotations = {
    title: "T",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  }
  const tools = [
    ...told,
    tool("throws", "fails", {}, async () => Promise.reject(new Error("boom"))),
    tool(
      "defaults",
      "tells its arguments",
      shape,
      async (args) => ({ content: [{ type: "text", text: JSON.stringify(args) }] }),
      {
        annotations,
        searchHint: "args",
      },
    ),
  ]
  const clientInfo = { name: "cli", version: "1" }
  const asked = [
    call(0, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }),
    call(1, "tools/list"),
    ...["error", "structured", "kinds", "throws"].map((name) => call(name, "tools/call", { name, arguments: {} })),
    call(2, "tools/call", { name: "defaults", arguments: { which: "x", unknown: 1 } }),
    call(3, "ping"),
    call(4, "resources/list"),
    call(5, "prompts/list"),
  ]
  const steps = [{ until: "user" }, ...asked.map((ask, at) => ({ ask, id: `a${at}` })), { result: "Asked." }]
  const env = { PATH: process.env["PATH"], STEPS: JSON.stringify(steps) }
  const mcpServers = { s: createSdkMcpServer({ name: "s", version: "1", tools }) }
  await watch(
    query({
      prompt: "ask",
      options: { ...basics(), pathToClaudeCodeExecutable: fake("follows-steps"), env, mcpServers },
    }),
  )
}
