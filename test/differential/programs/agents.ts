import { type AgentDefinition, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        {
          tool: "Task",
          input: {
            subagent_type: "counter",
            description: "count",
            prompt: "Count the files.",
            run_in_background: false,
          },
        },
        { say: "There are none." },
      ],
    },
  ],
  side: { agent: "I counted none." },
}

export async function run(): Promise<void> {
  const counter: AgentDefinition = {
    description: "Counts files",
    prompt: "You count.",
    tools: ["Bash"],
    model: "sonnet",
  }
  await watch(
    query({
      prompt: "count",
      options: {
        ...basics(),
        agents: { counter },
        hooks: {
          SubagentStart: [{ hooks: [async (input) => (observe("hook", input.hook_event_name), {})] }],
          SubagentStop: [{ hooks: [async (input) => (observe("hook", input.hook_event_name), {})] }],
        },
      },
    }),
  )
}
