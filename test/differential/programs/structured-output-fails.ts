import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

const wrong = { tool: "StructuredOutput", input: { city: 5 } }
export const scenario = { turns: [{ steps: [...Array.from({ length: 8 }, () => wrong), { say: "I give up." }] }] }

/** The model never gives what was asked for. */
export async function run(): Promise<void> {
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  await watch(
    query({ prompt: "a city", options: { ...basics(), outputFormat: { type: "json_schema", schema } } }),
    (message) => {
      if (message.type === "result") observe("result", { subtype: message.subtype, isError: message.is_error })
    },
  )
}
