// Many agents, some viewers each, at a steady pace, in a process of their own: `node hub-crowd.mjs FILE` with what to do,
// prints what it measured.
import { readFileSync } from "node:fs"
import { connectAgent, connectViewer, lineOf, quantile, waysIn } from "./load-parts.mjs"

/**
 * @import { Where } from "./load-parts.mjs"
 * @typedef {{ seconds: number, perSecond: number, viewers: number,
 *   rooms: { agent: Where, viewer: Where & { subscribe?: string } }[] }} Crowd
 */

/** @type {Crowd} */
const crowd = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"))
const DELTAS_PER_EVENT = 20

/** @param {number} room @param {number} index */
function lineAt(room, index) {
  const uuid = `${room.toString(16).padStart(8, "0")}-0000-4000-8000-${index.toString(16).padStart(12, "0")}`
  const kind = index % (DELTAS_PER_EVENT + 1) === DELTAS_PER_EVENT ? "event" : "delta"
  return lineOf(kind, { session_id: `crowd-${process.pid}-${room}`, uuid })
}

/** @type {number[]} */
const latencies = []
/** @type {Awaited<ReturnType<typeof connectAgent>>[]} */
const agents = []
for (const { agent, viewer } of crowd.rooms) {
  agents.push(await connectAgent(agent))
  for (let index = 0; index < crowd.viewers; index += 1)
    await connectViewer(viewer, (text) => latencies.push(...waysIn(text)))
}
console.log(JSON.stringify({ connected: agents.length }))

const lines = crowd.seconds * crowd.perSecond
const start = performance.now()
let sent = 0
while (sent < lines) {
  const due = Math.min(lines, Math.floor(((performance.now() - start) / 1000) * crowd.perSecond) + 1)
  while (sent < due) {
    const room = sent % agents.length
    agents[room]?.send(`${lineAt(room, Math.floor(sent / agents.length))}\n`)
    sent += 1
  }
  await new Promise((resolve) => setTimeout(resolve, 1))
}
const wanted = lines * crowd.viewers
const deadline = performance.now() + 30_000
while (latencies.length < wanted && performance.now() < deadline)
  await new Promise((resolve) => setTimeout(resolve, 10))
const wallMs = performance.now() - start
const p50 = quantile(latencies, 0.5)
const p99 = quantile(latencies, 0.99)
console.log(JSON.stringify({ wallMs, delivered: latencies.length, wanted, p50, p99 }))
process.exit(0)
