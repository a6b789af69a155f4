#!/usr/bin/env node
import { listen, SESSION, say } from "./agent.mjs"

const MEGABYTES = 3
const base = { session_id: SESSION, uuid: SESSION }

/** In pieces that end anywhere, also within a letter. @param {string} text */
async function inPieces(text) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 7) {
    process.stdout.write(bytes.subarray(at, at + 7))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** @param {any} message */
async function take(message) {
  if (message.type !== "user") return
  say({ type: "told", line: message, ...base })
  await inPieces(`${JSON.stringify({ type: "told", text: "ä\u2028€\u2029😀", ...base })}\n`)
  process.stdout.write(`${JSON.stringify({ type: "told", ends: "as on Windows", ...base })}\r\n`)
  process.stdout.write(`  ${JSON.stringify({ type: "told", ends: "between spaces", ...base })}  \n\n`)
  const result = "x".repeat(MEGABYTES * 1024 * 1024)
  const last = { type: "result", subtype: "success", is_error: false, result, num_turns: 1, usage: {}, ...base }
  process.stdout.write(JSON.stringify(last), () => process.exit(0))
}

listen((message) => void take(message))
