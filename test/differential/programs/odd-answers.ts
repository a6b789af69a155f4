import { type CanUseTool, type HookCallback, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const question = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "toolu_1" }
const event = { subtype: "hook_callback", callback_id: "hook_0", input: { hook_event_name: "Stop" }, tool_use_id: "t" }

function stepsWith(ask: object): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], STEPS: JSON.stringify([{ until: "user" }, { ask }, { result: "Asked." }]) }
}

/** What a JavaScript program may answer with: something else than the types say, or an error of any kind. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("follows-steps") }
  const odd: unknown[] = [undefined, {}, { behavior: "deny" }, { behavior: "deny", interrupt: true, more: 1 }]
  const full = {
    behavior: "allow",
    updatedInput: { a: 1 },
    toolUseID: "mine",
    decisionClassification: "user_temporary",
  }
  const thrown: unknown[] = [new Error("no"), "a text", { message: "an object" }]
  const given = [...odd, full].map((value) => async () => value)
  const failing = thrown.map((value) => async () => Promise.reject(value))
  for (const answer of [...given, ...failing]) {
    const canUseTool = answer as CanUseTool
    await watch(query({ prompt: "ask", options: { ...options, canUseTool, env: stepsWith(question) } }))
  }
  const outputs: unknown[] = [undefined, null, { continue: true, more: 1 }, { async: true, asyncTimeout: 5 }]
  for (const answer of [...outputs.map((value) => async () => value), ...failing]) {
    const hooks = { Stop: [{ hooks: [answer as HookCallback] }] }
    await watch(query({ prompt: "ask", options: { ...options, hooks, env: stepsWith(event) } }))
  }
}
