#!/usr/bin/env node
// Answers `initialize` with two questions that were open before, sends the second once more while it is in flight, and
// tells every answer.
import { createInterface } from "node:readline"
import { SESSION, say, sayResult } from "./agent.mjs"

/** @param {number} number */
const question = (number) => ({
  type: "control_request",
  request_id: `open-${number}`,
  request: { subtype: "can_use_tool", tool_name: "Bash", input: { number }, tool_use_id: `toolu_${number}` },
})
let answers = 0
let prompted = false

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line)
    if (message.type === "user") prompted = true
    if (message.type === "control_request") {
      const { request_id } = message
      const response = { subtype: "success", request_id, response: { commands: [], models: [], account: {} } }
      const pending = [question(1), question(2)]
      say({ type: "control_response", response: { ...response, pending_permission_requests: pending } })
      say(question(2))
    }
    if (message.type === "control_response") {
      answers++
      say({ type: "told", answer: message, session_id: SESSION, uuid: SESSION })
    }
    if (prompted && answers === 2) sayResult("Answered.")
  })
  .on("close", () => process.exit(0))
