import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, describeError, observe } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "left", steps: [{ tool: "Bash", input: { command: "echo left" } }, { say: "Left." }] },
    { on: "right", steps: [{ tool: "Bash", input: { command: "echo right" } }, { say: "Right." }] },
  ],
}
export const modelUnobserved = true

async function one(side: string): Promise<void> {
  const canUseTool = async (_name: string, input: Record<string, unknown>) => {
    observe(`${side} asked`, input)
    return { behavior: "allow" as const, updatedInput: input }
  }
  const settings = { permissions: { ask: ["Bash"] } }
  try {
    for await (const message of query({ prompt: side, options: { ...basics(), canUseTool, settings } }))
      observe(side, message.type === "result" && message.subtype === "success" ? message.result : message.type)
  } catch (error) {
    observe(side, describeError(error))
  }
}

export async function run(): Promise<void> {
  await Promise.all([one("left"), one("right")])
}
