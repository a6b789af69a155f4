import { type HookCallback, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Bash", input: { command: "exit 3" } },
        { tool: "Read", input: { file_path: "/nowhere/at/all" } },
        { say: "Both failed." },
      ],
    },
  ],
}

/** Hooks on a tool that fails, on the batch it was in, and several on one event, each with an output of its own. */
export async function run(): Promise<void> {
  const note =
    (who: string, output: Awaited<ReturnType<HookCallback>> = {}): HookCallback =>
    async (input, toolUseID) => {
      const { hook_event_name, tool_name, error, is_interrupt } = input as unknown as Record<string, unknown>
      observe(who, { hook_event_name, tool_name, error, is_interrupt, hasId: toolUseID !== undefined })
      return output
    }
  await watch(
    query({
      prompt: "fail",
      options: {
        ...basics(),
        permissionMode: "bypassPermissions",
        allowDangerouslySkipPermissions: true,
        hooks: {
          PostToolUse: [{ hooks: [note("after")] }],
          PostToolUseFailure: [
            {
              hooks: [
                note("failed", {
                  hookSpecificOutput: { hookEventName: "PostToolUseFailure", additionalContext: "It fails often." },
                }),
                note("failed too", { systemMessage: "a word to the user", suppressOutput: true }),
              ],
            },
          ],
          PostToolBatch: [{ hooks: [note("batch")] }],
        },
      },
    }),
  )
}
