import { createSdkMcpServer, query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }] }

/** A server of the program's own with a resource, a prompt, and a tool that is added later. */
export async function run(): Promise<void> {
  const library = createSdkMcpServer({ name: "library", version: "1.2.3", instructions: "Books are here." })
  library.instance.registerResource("book", "book://one", { mimeType: "text/plain" }, async (uri) => ({
    contents: [{ uri: uri.href, text: "Once upon a time", mimeType: "text/plain" }],
  }))
  const prompts = new Prompts(user("one"))
  const running = query({ prompt: prompts, options: { ...basics(), mcpServers: { library } } })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    await attempt("read", () => running.readMcpResource("library", "book://one"))
    await attempt("read what is not there", () => running.readMcpResource("library", "book://two"))
    await attempt("status", async () =>
      (await running.mcpServerStatus()).map(({ name, status, serverInfo }) => ({ name, status, serverInfo })),
    )
    await attempt("switched off", () => running.toggleMcpServer("library", false))
    await attempt("status", async () => (await running.mcpServerStatus()).map(({ name, status }) => ({ name, status })))
    await attempt("switched on", () => running.toggleMcpServer("library", true))
    await attempt("connected again", () => running.reconnectMcpServer("library"))
    await attempt("not known", () => running.reconnectMcpServer("nobody"))
    prompts.end()
  })
}
