// Plays a Claude Code CLI from a script: FAKE_STEPS is a JSON list of steps, FAKE_LOG a file that gets what was seen.
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"

const steps = JSON.parse(process.env["FAKE_STEPS"] ?? "[]")
const settings = JSON.parse(process.env["FAKE_SETTINGS"] ?? "{}")

/** @param {Record<string, unknown>} entry */
function note(entry) {
  const log = process.env["FAKE_LOG"]
  if (log !== undefined) appendFileSync(log, `${JSON.stringify(entry)}\n`)
}

/** @param {unknown} message */
function say(message) {
  process.stdout.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`)
}

/** @type {{ kind: string }[]} What came and was not waited for yet. */
const arrived = []
/** @type {(() => void) | undefined} */
let wake

/** @param {string} kind */
function arrive(kind) {
  arrived.push({ kind })
  wake?.()
}

/** @param {string} kind */
async function until(kind) {
  for (;;) {
    const at = arrived.findIndex((entry) => entry.kind === kind)
    if (at !== -1) return void arrived.splice(at, 1)
    await new Promise((resolve) => {
      wake = () => resolve(undefined)
    })
  }
}

/** @param {{ request_id: string, request: { subtype: string } }} message */
function answerCall({ request_id, request }) {
  const { subtype } = request
  if (settings.mute?.includes(subtype)) return
  const error = settings.refuse?.[subtype]
  const pending = subtype === "initialize" ? settings.pending : undefined
  const response = error === undefined ? { response: settings.replies?.[subtype] ?? {} } : { error }
  say({
    type: "control_response",
    response: { subtype: error === undefined ? "success" : "error", request_id, ...response, ...pending },
  })
}

note({ argv: process.argv.slice(2), pid: process.pid, cwd: process.cwd(), env: process.env })
if (settings.ignoreTerm) process.on("SIGTERM", () => note({ signal: "SIGTERM" }))

const input = createInterface({ input: process.stdin })
input.on("line", (line) => {
  const message = JSON.parse(line)
  note({ line: message })
  if (message.type === "control_request") answerCall(message)
  const subtype = message.request?.subtype
  arrive(subtype === undefined ? message.type : `${message.type}/${subtype}`)
})
input.on("close", () => {
  note({ end: true })
  arrive("end")
})

for (const step of steps) {
  if (step.say !== undefined) for (let n = 0; n < (step.times ?? 1); n++) say(step.say)
  if (step.until !== undefined) await until(step.until)
  if (step.stderr !== undefined) process.stderr.write(step.stderr)
  if (step.pause !== undefined) await new Promise((resolve) => setTimeout(resolve, step.pause))
  if (step.flood !== undefined) {
    for (let n = 0; n < step.flood; n++) {
      const room = process.stdout.write(`${JSON.stringify({ ...step.message, n })}\n`)
      if (!room) await new Promise((resolve) => process.stdout.once("drain", resolve))
    }
    note({ flooded: step.flood })
  }
  if (step.kill !== undefined) process.kill(process.pid, step.kill)
  if (step.exit !== undefined) process.exit(step.exit)
}
await until("end")
if (settings.stay) setInterval(() => undefined, 1000)
else process.exit(0)
