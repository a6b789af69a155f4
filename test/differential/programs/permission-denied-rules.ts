import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Bash", input: { command: "rm -rf build" } },
        { tool: "Read", input: { file_path: "/etc/hostname" } },
        { say: "Denied." },
      ],
    },
  ],
}

/** Rules of the program decide before its callback is asked. */
export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "try",
      options: {
        ...basics(),
        disallowedTools: ["Bash(rm:*)"],
        canUseTool: async (name) => {
          observe("asked", name)
          return { behavior: "deny", message: "and this one by hand" }
        },
      },
    }),
    (message) => {
      if (message.type === "result") observe("denials", message.permission_denials)
    },
  )
}
