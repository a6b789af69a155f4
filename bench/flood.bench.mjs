// The effect of one agent that writes as fast as it can on people: another session's round trip, from a message to the answer that a
// viewer sees, beside the same without the flood.
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { call, here, startHub, stop } from "./hub-process.mjs"
import { connectViewer, quantile } from "./load-parts.mjs"
import { best, figureOf, samplesInTurns } from "./measure.mjs"

const TRIPS = 200
const ROUNDS = 5
const PATIENCE_MS = 60_000
/** A runner brings all that it has kept during the flood. */
const DRAIN_MS = 600_000
const AGENT = here("./flood-agent.mjs")
const SIGNALBOX = here("../packages/cli/bin/signalbox.mjs")

/**
 * @import { RunningHub } from "./hub-process.mjs"
 * @typedef {(hub: RunningHub, how: "echo" | "flood") => Promise<{ id: string, leave: () => Promise<unknown> }>} Launch
 */

/** Dials in by itself, as a CLI with `--sdk-url` does. @type {Launch} */
async function dialled(hub, how) {
  const { id, ingress } = await call(hub, "/api/sessions", { agent: "external" })
  const env = { ...process.env, AGENT_URL: ingress.url, AGENT_TOKEN: ingress.token }
  const child = spawn(process.execPath, [AGENT, how], { stdio: "ignore", env })
  await orStop(child, () => isIdle(hub, id))
  return { id, leave: () => stop(child) }
}

/** On the runner that is there. @type {Launch} */
async function onRunner(hub, how) {
  const { id } = await call(hub, "/api/sessions", { agent: { command: [process.execPath, AGENT, how] }, cwd: tmpdir() })
  await until(() => isIdle(hub, id))
  const headers = { authorization: `Bearer ${hub.token}` }
  return { id, leave: () => fetch(`${hub.url}/api/sessions/${id}`, { method: "DELETE", headers }) }
}

/** @param {RunningHub} hub @param {string} id */
async function isIdle(hub, id) {
  return (await call(hub, `/api/sessions/${id}`)).state === "idle"
}

/** @param {() => Promise<boolean>} condition @param {number} patienceMs */
async function until(condition, patienceMs = PATIENCE_MS) {
  const deadline = performance.now() + patienceMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`still not so after ${patienceMs / 1000} s`)
    await pause(20)
  }
}

/** @param {import("node:child_process").ChildProcess} child @param {() => Promise<boolean>} condition */
async function orStop(child, condition) {
  try {
    await until(condition)
  } catch (error) {
    await stop(child)
    throw error
  }
}

/** @param {RunningHub} hub */
async function startRunner(hub) {
  const { token } = await call(hub, "/api/tokens", { role: "runner", name: "bench" })
  const data = mkdtempSync(join(tmpdir(), "signalbox-bench-runner-"))
  const env = { ...process.env, SIGNALBOX_TOKEN: token }
  const child = spawn(process.execPath, [SIGNALBOX, "runner", "--hub", hub.url, "--data", data], {
    stdio: "ignore",
    env,
  })
  await orStop(child, async () => (await call(hub, "/api/runners")).runners.length > 0)
  return async () => {
    await stop(child)
    rmSync(data, { recursive: true })
  }
}

/** One after the other: each message is sent when the answer to the one before was seen. @param {RunningHub} hub @param {string} id */
async function openTrips(hub, id) {
  let seen = () => {}
  let awaited = ""
  const subscribe = JSON.stringify({ op: "subscribe", session: id })
  const url = `${hub.url.replace("http", "ws")}/api/stream`
  await connectViewer({ url, token: hub.token, subscribe }, (text) => {
    if (text.includes(awaited) && text.includes("heard")) seen()
  })
  let count = 0
  return async () => {
    /** @type {number[]} */
    const took = []
    for (let trip = 0; trip < TRIPS; trip += 1) {
      awaited = `trip-${++count}.`
      const answered = new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`no answer after ${PATIENCE_MS / 1000} s`)), PATIENCE_MS)
        seen = () => {
          clearTimeout(late)
          resolve(undefined)
        }
      })
      answered.catch(() => undefined)
      const begun = performance.now()
      const { error } = await call(hub, `/api/sessions/${id}/messages`, { content: awaited })
      if (error !== undefined) throw new Error(error.message)
      await answered
      took.push(performance.now() - begun)
    }
    return { p50: quantile(took, 0.5), p99: quantile(took, 0.99) }
  }
}

/** @param {Launch} launch @param {string} where @param {(hub: RunningHub) => Promise<() => Promise<void>>} [prepare] */
async function flood(launch, where, prepare = async () => async () => {}) {
  const hub = await startHub()
  /** @type {(() => unknown)[]} */
  const closers = [() => rmSync(hub.data, { recursive: true }), () => hub.stop()]
  try {
    closers.push(await prepare(hub))
    const quiet = await launch(hub, "echo")
    closers.push(quiet.leave)
    const trips = await openTrips(hub, quiet.id)
    return figuresOf(where, await samplesInTurns([trips, () => tripsBeside(hub, launch, trips)], ROUNDS))
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

/** @param {RunningHub} hub @param {Launch} launch @param {() => Promise<{ p50: number, p99: number }>} trips */
async function tripsBeside(hub, launch, trips) {
  const loud = await launch(hub, "flood")
  const lastSeq = async () => (await call(hub, `/api/sessions/${loud.id}`)).lastSeq
  try {
    await call(hub, `/api/sessions/${loud.id}/messages`, { content: "go" })
    await until(async () => (await lastSeq()) > 10_000)
    const [before, begun] = [await lastSeq(), performance.now()]
    const measured = await trips()
    return { ...measured, msPerLine: (performance.now() - begun) / ((await lastSeq()) - before) }
  } finally {
    await loud.leave()
    // A runner has kept what the hub did not take yet, and brings it now.
    await until(async () => {
      const seen = await lastSeq()
      await pause(500)
      return seen === (await lastSeq())
    }, DRAIN_MS)
  }
}

/** @param {string} where @param {import("./measure.mjs").Sample[][]} samples */
function figuresOf(where, [without = [], during = []]) {
  return figureOf({
    title: `another session's round trip while one agent floods, ${where}: p99 against 5 × the one without + 50 ms`,
    unit: "",
    atMost: 1,
    rows: [
      { name: "during the flood, p99 in ms", value: best(during, "p99") },
      { name: "during the flood, p50 in ms", value: best(during, "p50") },
      { name: "durable lines of the flood per s", value: 1000 / best(during, "msPerLine") },
      { name: "without, p99 in ms", value: best(without, "p99") },
      { name: "without, p50 in ms", value: best(without, "p50") },
      { name: "5 × the p99 without + 50 ms", value: 5 * best(without, "p99") + 50 },
    ],
  })
}

export async function figures() {
  return [await flood(dialled, "agents that dial in"), await flood(onRunner, "agents on one runner", startRunner)]
}
