#!/usr/bin/env node
// Says in every answer how many requests it has had.
import { createInterface } from "node:readline"
import { say } from "./agent.mjs"

let count = 0

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { type, request_id } = JSON.parse(line)
    if (type !== "control_request") return
    count++
    const response = {
      commands: [],
      models: [{ value: `model ${count}`, displayName: "m", description: "m" }],
      agents: [],
      account: {},
      output_style: "default",
      available_output_styles: [],
    }
    say({ type: "control_response", response: { subtype: "success", request_id, response } })
  })
  .on("close", () => process.exit(0))
