import { execFile } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { askBytes } from "./ask-bytes.bench.mjs"
import { crowd } from "./hub-crowd.bench.mjs"
import { hubHistory } from "./hub-history.bench.mjs"
import { call, here, residentKb, start, startHub, stop } from "./hub-process.mjs"
import { best, figureOf, samplesInTurns } from "./measure.mjs"

const runNode = promisify(execFile)

const BURST_LINES = 60_000
const PACED_LINES = 10_000
const PACE_PER_SECOND = 2_000
const VIEWERS = 4
const IDLE_SESSIONS = 1_000

/** @typedef {import("./hub-process.mjs").RunningHub} RunningHub */

/** @param {object} load */
async function run(load) {
  const { stdout } = await runNode(process.execPath, [here("./hub-load.mjs"), JSON.stringify(load)])
  return JSON.parse(stdout)
}

/** @param {RunningHub} hub @param {object} load */
async function throughHub(hub, load) {
  const session = await call(hub, "/api/sessions", { agent: "external" })
  const subscribe = JSON.stringify({ op: "subscribe", session: session.id, after: 0 })
  const viewer = { url: `${hub.url.replace("http", "ws")}/api/stream`, token: hub.token, subscribe }
  return run({ ...load, viewers: VIEWERS, agent: session.ingress, viewer })
}

/** @param {string} url @param {object} load */
function throughRelay(url, load) {
  return run({ ...load, viewers: VIEWERS, agent: { url: `${url}/agent` }, viewer: { url: `${url}/view` } })
}

/** @param {RunningHub} hub @param {string} relay @param {"delta" | "event" | "mixed"} kind */
async function burst(hub, relay, kind) {
  const load = { mode: "burst", kind, lines: BURST_LINES }
  const [ours = [], theirs = []] = await samplesInTurns([() => throughHub(hub, load), () => throughRelay(relay, load)])
  const perSecond = (/** @type {any[]} */ samples) => (BURST_LINES * VIEWERS) / (best(samples, "wallMs") / 1000)
  const what = {
    delta: "deltas only",
    event: "durable events only",
    mixed: "a turn's mix: 1 durable event to 20 deltas",
  }
  return figureOf({
    title: `hub, burst of ${BURST_LINES} lines, 1 agent, ${VIEWERS} viewers, log on (${what[kind]})`,
    unit: "deliveries/s",
    atLeast: 1.5,
    rows: [
      { name: "hub", value: perSecond(ours) },
      { name: "bare ws relay", value: perSecond(theirs) },
    ],
  })
}

/** @param {RunningHub} hub @param {string} relay */
async function latency(hub, relay) {
  const load = { mode: "paced", kind: "event", lines: PACED_LINES, perSecond: PACE_PER_SECOND }
  const [ours = [], theirs = []] = await samplesInTurns([() => throughHub(hub, load), () => throughRelay(relay, load)])
  const relayP99 = best(theirs, "p99")
  return figureOf({
    title: `hub, ${PACE_PER_SECOND} durable lines/s, ${VIEWERS} viewers: p99 against 1.5 × the bare relay's + 1 ms`,
    unit: "ms",
    atMost: 1,
    rows: [
      { name: "hub, p99", value: best(ours, "p99") },
      { name: "hub, p50", value: best(ours, "p50") },
      { name: "bare ws relay, p99", value: relayP99 },
      { name: "1.5 × that + 1 ms", value: 1.5 * relayP99 + 1 },
    ],
  })
}

/** Memory of idle agents: the hub before and after they came. */
async function idleMemory() {
  const hub = await startHub()
  const urls = []
  for (let index = 0; index < IDLE_SESSIONS; index += 1) {
    urls.push((await call(hub, "/api/sessions", { agent: "external" })).ingress)
  }
  await settle()
  const before = residentKb(hub.pid)
  const list = join(hub.data, "agents.json")
  writeFileSync(list, JSON.stringify(urls))
  const { child } = await start([here("./idle-agents.mjs"), list])
  await settle()
  const after = residentKb(hub.pid)
  await stop(child)
  await hub.stop()
  rmSync(hub.data, { recursive: true })
  return figureOf({
    title: `${IDLE_SESSIONS} connected idle sessions: hub memory each, against 40 KB`,
    unit: "KB",
    atMost: 1,
    rows: [
      { name: "each", value: (after - before) / IDLE_SESSIONS },
      { name: "must stay under", value: 40 },
    ],
  })
}

function settle() {
  return new Promise((resolve) => setTimeout(resolve, 1_000))
}

/** From the start of the process until it answers, with a data directory that exists. */
async function ready() {
  const hub = await startHub()
  await hub.stop()
  const timed = async (/** @type {() => Promise<unknown>} */ action) => {
    const begun = performance.now()
    await action()
    return { wallMs: performance.now() - begun }
  }
  const [ours = [], floor = []] = await samplesInTurns([
    async () => {
      const begun = performance.now()
      const again = await startHub(hub.data)
      const wallMs = performance.now() - begun
      await again.stop()
      return { wallMs }
    },
    () => timed(() => runNode(process.execPath, ["-e", "0"])),
  ])
  rmSync(hub.data, { recursive: true })
  return figureOf({
    title: "hub ready after start, data directory exists",
    unit: "ms",
    atMost: 6,
    rows: [
      { name: "signalbox up", value: best(ours, "wallMs") },
      { name: "node -e 0", value: best(floor, "wallMs") },
    ],
  })
}

/** Opening the tail of a long session against a short one. */
async function tail() {
  const hub = await startHub()
  const sizes = { long: 1_000_000, short: 1_000 }
  /** @type {Record<string, string>} */
  const ids = {}
  for (const [name, lines] of Object.entries(sizes)) {
    const session = await call(hub, "/api/sessions", { agent: "external" })
    ids[name] = session.id
    await run({ mode: "burst", kind: "event", lines, viewers: 0, agent: session.ingress, viewer: {} })
    await waitForEvents(hub, session.id, lines)
  }
  const open = (/** @type {string} */ name) => async () => {
    const begun = performance.now()
    for (let index = 0; index < 20; index += 1)
      await call(hub, `/api/sessions/${ids[name]}/events?before=100000000&limit=500`)
    return { wallMs: (performance.now() - begun) / 20 }
  }
  const [long = [], short = []] = await samplesInTurns([open("long"), open("short")])
  await hub.stop()
  rmSync(hub.data, { recursive: true })
  return figureOf({
    title: "opening the last 500 events of a session with 1,000,000 events against one with 1,000",
    unit: "ms",
    atMost: 1.5,
    rows: [
      { name: "1,000,000 events", value: best(long, "wallMs") },
      { name: "1,000 events", value: best(short, "wallMs") },
    ],
  })
}

/** @param {RunningHub} hub @param {string} id @param {number} count */
async function waitForEvents(hub, id, count) {
  for (;;) {
    const session = await call(hub, `/api/sessions/${id}`)
    if (session.lastSeq >= count) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

export async function figures() {
  const { child: relayProcess, ready: relay } = await start([here("./bare-relay.mjs")])
  const hub = await startHub()
  const figures = [
    await burst(hub, relay.url, "mixed"),
    await burst(hub, relay.url, "delta"),
    await burst(hub, relay.url, "event"),
    await latency(hub, relay.url),
  ]
  await hub.stop()
  rmSync(hub.data, { recursive: true })
  await stop(relayProcess)
  return [
    ...figures,
    await crowd(),
    await idleMemory(),
    await ready(),
    await tail(),
    ...(await askBytes()),
    ...(await hubHistory()),
  ]
}
