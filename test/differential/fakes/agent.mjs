// What the fake executables share: they read the host's lines and answer as a CLI does, with a twist each.
import { createInterface } from "node:readline"

export const SESSION = "d1ff0000-0000-4000-8000-0000000000fa"

/** @param {unknown} value a message, or a text that goes out as it is */
export function say(value) {
  process.stdout.write(`${typeof value === "string" ? value : JSON.stringify(value)}\n`)
}

/** @param {string} text */
export function sayResult(text) {
  const base = { session_id: SESSION, uuid: SESSION }
  say({
    type: "assistant",
    message: { role: "assistant", content: [{ type: "text", text }] },
    parent_tool_use_id: null,
    ...base,
  })
  say({
    type: "result",
    subtype: "success",
    is_error: false,
    result: text,
    num_turns: 1,
    total_cost_usd: 0,
    usage: {},
    ...base,
  })
}

/**
 * Calls back for everything but control requests, which are answered; exits when the input ends.
 * @param {(message: any) => void} take
 * @param {{ ended?: () => void }} [options]
 */
export function listen(take, { ended = () => process.exit(0) } = {}) {
  const lines = createInterface({ input: process.stdin })
  lines.on("line", (line) => {
    const message = JSON.parse(line)
    if (message.type !== "control_request") return take(message)
    const response = {
      commands: [],
      models: [],
      agents: [],
      account: {},
      output_style: "default",
      available_output_styles: [],
    }
    say({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response } })
    take(message)
  })
  lines.on("close", ended)
}
