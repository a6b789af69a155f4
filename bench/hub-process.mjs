// A hub, or anything else that says on one line of JSON that it is ready, as a process of its own.
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))
const COMMAND = here("../packages/cli/bin/signalbox.mjs")
const TICKS_PER_SECOND = 100

/** @typedef {{ url: string, token: string, pid: number, data: string, stop: () => Promise<void> }} RunningHub */

/** @param {string[]} args @returns {Promise<{ child: import("node:child_process").ChildProcess, ready: any }>} */
export async function start(args) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] })
  if (child.stdout === null) throw new Error("no pipe")
  for await (const line of createInterface({ input: child.stdout })) return { child, ready: JSON.parse(line) }
  throw new Error(`${args.join(" ")} did not start`)
}

/** @param {import("node:child_process").ChildProcess} child */
export async function stop(child) {
  const exited = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGTERM")
  await exited
}

/** @param {string} [data] @param {readonly string[]} [flags] @returns {Promise<RunningHub>} */
export async function startHub(data = mkdtempSync(join(tmpdir(), "signalbox-bench-")), flags = []) {
  const { child, ready } = await start([
    COMMAND,
    "up",
    "--json",
    "--no-open",
    "--no-runner",
    "--port",
    "0",
    "--data",
    data,
    ...flags,
  ])
  return { ...ready, data, stop: () => stop(child) }
}

/** @param {RunningHub} hub @param {string} path @param {unknown} [body] @returns {Promise<any>} */
export async function call(hub, path, body) {
  const headers = { authorization: `Bearer ${hub.token}`, "content-type": "application/json" }
  const options = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) }
  const response = await fetch(`${hub.url}${path}`, options)
  return response.json()
}

/** Resident memory of a process, in KB. @param {number} pid */
export function residentKb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN)
}

/** CPU time of a process so far, in milliseconds. @param {number} pid */
export function cpuMs(pid) {
  const fields = (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1] ?? "").split(" ")
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
}
