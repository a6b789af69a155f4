import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, Prompts, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A fake CLI refuses everything it is asked, `initialize` too. */
export async function run(): Promise<void> {
  const prompts = new Prompts()
  const running = query({
    prompt: prompts,
    options: { ...basics(), pathToClaudeCodeExecutable: fake("refuses-everything") },
  })
  const watching = watch(running)
  await attempt("initializationResult", () => running.initializationResult())
  await attempt("supportedCommands", () => running.supportedCommands())
  await attempt("accountInfo", () => running.accountInfo())
  await attempt("interrupt", () => running.interrupt())
  await attempt("setModel", () => running.setModel("m"))
  await attempt("mcpServerStatus", () => running.mcpServerStatus())
  await attempt("readFile", () => running.readFile("p"))
  await attempt("rewindFiles", () => running.rewindFiles("u", { dryRun: true }))
  await attempt("backgroundTasks", () => running.backgroundTasks())
  prompts.end()
  await watching
}
