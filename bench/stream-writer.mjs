#!/usr/bin/env node
// Plays a CLI that streams: after the prompt it writes BENCH_MESSAGES `stream_event` lines as fast as the reader takes
// them, then a result, and exits at the end of its input. What it writes is prepared, so that the reader is what is
// measured.
import { createInterface } from "node:readline"

const LINES_IN_CHUNK = 250
const total = Number(process.env["BENCH_MESSAGES"] ?? 200_000)
const ids = { session_id: "00000000-0000-4000-8000-000000000000", uuid: "00000000-0000-4000-8000-000000000001" }
const event = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a few words of an answer" } }
const line = `${JSON.stringify({ type: "stream_event", event, parent_tool_use_id: null, ...ids })}\n`
const chunk = Buffer.from(line.repeat(LINES_IN_CHUNK))

/** @param {unknown} message */
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

async function stream() {
  for (let written = 0; written < total; written += LINES_IN_CHUNK)
    if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once("drain", resolve))
  const usage = { input_tokens: 1, output_tokens: 1 }
  say({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "",
    num_turns: 1,
    total_cost_usd: 0,
    usage,
    ...ids,
  })
}

createInterface({ input: process.stdin })
  .on("line", (text) => {
    const message = JSON.parse(text)
    if (message.type === "user") void stream()
    if (message.type !== "control_request") return
    const response = { commands: [], models: [], agents: [], account: {} }
    say({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response } })
  })
  .on("close", () => process.exit(0))
