// An answer in the shape that was asked for.
import { query } from "@signalbox/sdk"

const schema = {
  type: "object",
  properties: { name: { type: "string" }, population: { type: "number" } },
  required: ["name", "population"],
}

const run = query({ prompt: "The largest city of France.", options: { outputFormat: { type: "json_schema", schema } } })

for await (const message of run) {
  if (message.type === "result" && message.subtype === "success") console.log(JSON.stringify(message.structured_output))
}
