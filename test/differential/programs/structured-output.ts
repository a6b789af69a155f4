import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "StructuredOutput", input: { city: "Oslo", people: 700_000 } }, { say: "There." }] }],
}

export async function run(): Promise<void> {
  const schema = {
    type: "object",
    properties: { city: { type: "string" }, people: { type: "number" } },
    required: ["city", "people"],
    additionalProperties: false,
  }
  await watch(
    query({ prompt: "a city", options: { ...basics(), outputFormat: { type: "json_schema", schema } } }),
    (message) => {
      if (message.type === "result" && message.subtype === "success") observe("structured", message.structured_output)
    },
  )
}
