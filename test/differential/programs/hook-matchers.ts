import { type HookCallbackMatcher, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Bash", input: { command: "echo one" } },
        { tool: "Write", input: { file_path: "two", content: "2" } },
        { say: "Both." },
      ],
    },
  ],
}

const named = (name: string, matcher?: string): HookCallbackMatcher => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: [
    async (input) => {
      observe(`hook ${name}`, "tool_name" in input ? input.tool_name : input.hook_event_name)
      return {}
    },
  ],
})

export async function run(): Promise<void> {
  const hooks = {
    PreToolUse: [named("bash", "Bash"), named("files", "Write|Edit"), named("all"), named("none", "Grep")],
  }
  await watch(
    query({ prompt: "two", options: { ...basics(), permissionMode: "acceptEdits", allowedTools: ["Bash"], hooks } }),
  )
}
