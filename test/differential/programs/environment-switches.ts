import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Variables that the package sets, given by the program itself. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  const { PATH } = process.env
  const switches = ["", "0", "1", "TRUE", " on ", "false", "2"].map((DEBUG_CLAUDE_AGENT_SDK) => ({
    DEBUG_CLAUDE_AGENT_SDK,
  }))
  const own = [
    { CLAUDE_AGENT_SDK_VERSION: "9.9.9", CLAUDE_CODE_ENTRYPOINT: "mine" },
    { CLAUDE_AGENT_SDK_VERSION: "", CLAUDE_CODE_ENTRYPOINT: "" },
    { CLAUDE_CODE_SDK_READS_SESSION_STATE: "0" },
  ]
  for (const env of [...switches, ...own])
    await watch(query({ prompt: "hello", options: { ...options, env: { PATH, ...env } } }))
  // Inherited from whoever started the program.
  process.env["CLAUDE_AGENT_SDK_VERSION"] = "7.7.7"
  process.env["CLAUDE_CODE_SDK_READS_SESSION_STATE"] = "0"
  await watch(query({ prompt: "hello", options }))
}
