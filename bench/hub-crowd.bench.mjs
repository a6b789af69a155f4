import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { call, cpuMs, here, residentKb, start, startHub, stop } from "./hub-process.mjs"
import { figureOf } from "./measure.mjs"

const AGENTS = 200
const VIEWERS = 2
const SECONDS = 60
const PER_SECOND = 2_000

/** @typedef {{ agent: { url: string, token?: string }, viewer: { url: string, token?: string, subscribe?: string } }} Room */
/** @typedef {{ p50: number, p99: number, delivered: number, wanted: number, cpuShare: number, memoryMb: number }} Measured */

/** @param {Room[]} rooms @param {number} pid of what is between them @returns {Promise<Measured>} */
async function measure(rooms, pid) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-crowd-"))
  const file = join(folder, "crowd.json")
  writeFileSync(file, JSON.stringify({ seconds: SECONDS, perSecond: PER_SECOND, viewers: VIEWERS, rooms }))
  const child = spawn(process.execPath, [here("./hub-crowd.mjs"), file], { stdio: ["ignore", "pipe", "inherit"] })
  if (child.stdout === null) throw new Error("no pipe")
  let before = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const told = JSON.parse(line)
    if (told.connected !== undefined) {
      before = cpuMs(pid)
      continue
    }
    rmSync(folder, { recursive: true })
    return { ...told, cpuShare: ((cpuMs(pid) - before) / told.wallMs) * 100, memoryMb: residentKb(pid) / 1024 }
  }
  throw new Error("the crowd ended without a word")
}

/** @param {readonly string[]} [flags] of the hub */
export async function crowdThroughHub(flags) {
  const hub = await startHub(undefined, flags)
  /** @type {Room[]} */
  const rooms = []
  for (let index = 0; index < AGENTS; index += 1) {
    const { id, ingress } = await call(hub, "/api/sessions", { agent: "external" })
    const subscribe = JSON.stringify({ op: "subscribe", session: id, after: 0 })
    const url = `${hub.url.replace("http", "ws")}/api/stream`
    rooms.push({ agent: ingress, viewer: { url, token: hub.token, subscribe } })
  }
  const measured = await measure(rooms, hub.pid)
  await hub.stop()
  rmSync(hub.data, { recursive: true })
  if (measured.delivered !== measured.wanted)
    throw new Error(`${measured.wanted - measured.delivered} lines did not arrive`)
  return measured
}

async function throughRelay() {
  const { child, ready } = await start([here("./bare-relay.mjs")])
  const rooms = Array.from({ length: AGENTS }, (_, index) => ({
    agent: { url: `${ready.url}/agent/${index}` },
    viewer: { url: `${ready.url}/view/${index}` },
  }))
  const measured = await measure(rooms, child.pid ?? 0)
  await stop(child)
  return measured
}

/** Many agents at once for a minute: how long lines take, and what it costs. */
export async function crowd() {
  const [ours, theirs] = [await crowdThroughHub(), await throughRelay()]
  return figureOf({
    title: `hub, ${AGENTS} agents × ${VIEWERS} viewers, ${PER_SECOND} lines/s for ${SECONDS} s (1 durable event to 20 deltas): p99 against 1.5 × the bare relay's + 1 ms`,
    unit: "",
    atMost: 1,
    rows: [
      { name: "hub, p99 in ms", value: ours.p99 },
      { name: "hub, p50 in ms", value: ours.p50 },
      { name: "hub, CPU in % of one core", value: ours.cpuShare },
      { name: "hub, memory in MB", value: ours.memoryMb },
      { name: "bare ws relay, p99 in ms", value: theirs.p99 },
      { name: "bare ws relay, p50 in ms", value: theirs.p50 },
      { name: "bare ws relay, CPU in % of one core", value: theirs.cpuShare },
      { name: "bare ws relay, memory in MB", value: theirs.memoryMb },
      { name: "1.5 × its p99 + 1 ms", value: 1.5 * theirs.p99 + 1 },
    ],
  })
}
