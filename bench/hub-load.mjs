// One agent and some viewers, in a process of their own: `node hub-load.mjs '{"mode":"burst",…}'` prints what it measured.
import { connectAgent, connectViewer, countIn, lineOf, quantile, waysIn } from "./load-parts.mjs"

/**
 * @typedef {{ mode: "burst" | "paced", kind: "delta" | "event" | "mixed", lines: number, viewers: number, perSecond?: number,
 *   agent: { url: string, token?: string }, viewer: { url: string, token?: string, subscribe?: string } }} Load
 */

/** @type {Load} */
const load = JSON.parse(process.argv[2] ?? "{}")
const SESSION = `bench-${process.pid}-${Date.now()}`

/** @param {number} index */
function lineAt(index) {
  const uuid = `00000000-0000-4000-8000-${index.toString(16).padStart(12, "0")}`
  const isDelta = load.kind === "delta" || (load.kind === "mixed" && index % 21 !== 20)
  return lineOf(isDelta ? "delta" : "event", { session_id: SESSION, uuid })
}

const agent = await connectAgent(load.agent)

/** @type {number[]} */
const latencies = []
let delivered = 0
const wanted = load.lines * load.viewers
/** @type {(value?: unknown) => void} */
let finish = () => {}
const finished = new Promise((resolve) => {
  finish = resolve
})

/** @param {string} text */
function take(text) {
  if (load.mode === "paced") {
    const ways = waysIn(text)
    latencies.push(...ways)
    delivered += ways.length
  } else {
    delivered += countIn(text)
  }
  if (delivered >= wanted) finish()
}

for (let index = 0; index < load.viewers; index += 1) await connectViewer(load.viewer, take)

async function burst() {
  for (let index = 0; index < load.lines; index += 1) {
    agent.send(`${lineAt(index)}\n`)
    // The agent's pipe is bounded too, and the viewers of this process must get their turn.
    if (index % 200 === 199) await room()
  }
}

async function room() {
  do await new Promise((resolve) => setImmediate(resolve))
  while (agent.bufferedAmount > 1_000_000)
}

async function paced() {
  const perSecond = load.perSecond ?? 2_000
  const start = performance.now()
  let sent = 0
  while (sent < load.lines) {
    const due = Math.min(load.lines, Math.floor(((performance.now() - start) / 1000) * perSecond) + 1)
    while (sent < due) agent.send(`${lineAt(sent++)}\n`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

const start = performance.now()
await (load.mode === "burst" ? burst() : paced())
if (load.viewers > 0) {
  const timer = setTimeout(finish, 60_000)
  await finished
  clearTimeout(timer)
} else {
  // Nobody to wait for but the socket: what it took is the hub's.
  await new Promise((resolve) => agent.close(1000, "done") ?? agent.once("close", resolve))
}
const wallMs = performance.now() - start
const p50 = quantile(latencies, 0.5)
const p99 = quantile(latencies, 0.99)
console.log(JSON.stringify({ wallMs, delivered, wanted, p50, p99 }))
process.exit(0)
