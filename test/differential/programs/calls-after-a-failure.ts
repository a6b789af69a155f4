import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Why it failed is told by the iteration, and by what the first answer was to tell; for other calls it is just over. */
export async function run(): Promise<void> {
  const running = query({ prompt: "hello", options: { ...basics(), pathToClaudeCodeExecutable: fake("exits-with-1") } })
  await watch(running)
  await attempt("setModel", () => running.setModel("m"))
  await attempt("interrupt", () => running.interrupt())
  await attempt("mcpServerStatus", () => running.mcpServerStatus())
  await attempt("setMcpServers", () => running.setMcpServers({}))
  await attempt("readFile", () => running.readFile("p"))
  await attempt("supportedModels", () => running.supportedModels())
  await attempt("accountInfo", () => running.accountInfo())
  await attempt("next", () => running.next())
}
