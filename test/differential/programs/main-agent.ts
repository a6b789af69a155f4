import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Checked." }] }] }

/** One of the agents as the main one: its prompt and tools are the session's. */
export async function run(): Promise<void> {
  const agents = { checker: { description: "Checks", prompt: "You check things.", tools: ["Read"] } }
  await watch(query({ prompt: "check", options: { ...basics(), agents, agent: "checker" } }))
}
