// Hooks: one that keeps the agent out of a folder, and one that notes every tool that ran.
import { query } from "@signalbox/sdk"

const run = query({
  prompt: "Look into the secrets folder, then list this one.",
  options: {
    hooks: {
      PreToolUse: [
        {
          matcher: "Bash",
          hooks: [
            async (input) => {
              const isSecret =
                input.hook_event_name === "PreToolUse" && JSON.stringify(input.tool_input).includes("secrets")
              if (!isSecret) return {}
              return {
                hookSpecificOutput: {
                  hookEventName: "PreToolUse",
                  permissionDecision: "deny",
                  permissionDecisionReason: "That folder is off limits.",
                },
              }
            },
          ],
        },
      ],
      PostToolUse: [
        {
          hooks: [
            async (input) => {
              if (input.hook_event_name === "PostToolUse") console.log(`ran ${input.tool_name}`)
              return {}
            },
          ],
        },
      ],
    },
    allowedTools: ["Bash"],
  },
})

for await (const message of run)
  if (message.type === "result" && message.subtype === "success") console.log(message.result)
