// @ts-check
// The hub of the scripted year: a process that is killed and started again on its port, asked through its public API and
// the command alone.

import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { promisify } from "node:util"
import { residentKb } from "../bench/hub-process.mjs"
import { commandOf } from "../scripts/releases.mjs"
import { root } from "../scripts/setup.mjs"

/** @typedef {Record<string, any>} Json */
/** @typedef {{ status: number, body: Json }} Reply */

const COMMAND = commandOf(root)
const FAST_CLOCK = new URL("fast-clock.mjs", import.meta.url).href
const SINCE = Date.now()
const runFile = promisify(execFile)
const AWAY_MS = 60_000
const COMMAND_MS = 600_000
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

export class HubUnderTest {
  /** Everything is below it. */
  base = mkdtempSync(join(tmpdir(), "signalbox-year-"))
  kills = 0
  startedAt = 0
  /** Resident memory a moment after each start. @type {number[]} */
  startsMb = []
  /** An admin's. */
  token = ""
  #port = 0
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child
  /** Until the hub is back from all kills. */
  #coming = Promise.resolve()

  /** @param {string} [data] a data directory that there is */
  constructor(data) {
    this.data = data ?? join(this.base, "data")
    mkdirSync(this.data, { recursive: true })
  }

  async start() {
    if (this.#port === 0) this.#port = await freePort()
    const flags = ["--json", "--no-open", "--no-runner", "--port", String(this.#port), "--data", this.data]
    const child = spawn(process.execPath, ["--import", FAST_CLOCK, COMMAND, "up", ...flags], {
      env: { ...process.env, SIGNALBOX_SOAK_SINCE: String(SINCE) },
      stdio: ["ignore", "pipe", "inherit"],
    })
    this.#child = child
    this.startedAt = Date.now()
    for await (const line of createInterface({ input: child.stdout })) {
      this.token = JSON.parse(line).token
      await pause(300)
      this.startsMb.push(this.memoryMb())
      return
    }
    throw new Error("the hub did not start")
  }

  /** Killed, and started again at once. One kill follows the other. */
  kill() {
    this.#coming = this.#coming.then(() => this.#killAndStart())
    return this.#coming
  }

  /** No kill is under way. */
  async isBack() {
    await this.#coming
  }

  async #killAndStart() {
    this.kills += 1
    await this.#end("SIGKILL")
    await this.start()
  }

  /** For good, with all that is below it. */
  async dispose() {
    await this.#coming.catch(() => undefined)
    await this.#end("SIGTERM")
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 })
  }

  /** @param {NodeJS.Signals} signal */
  async #end(signal) {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, "exit")
    child.kill(signal)
    await exited
  }

  /** The same call again for as long as the hub is away, as any client would. @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<Reply>} */
  async call(method, path, body) {
    const deadline = Date.now() + AWAY_MS
    for (;;) {
      try {
        const headers = { authorization: `Bearer ${this.token}`, "content-type": "application/json" }
        const url = `http://127.0.0.1:${this.#port}${path}`
        const reply = await fetch(url, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        const text = await reply.text()
        return { status: reply.status, body: text === "" ? {} : JSON.parse(text) }
      } catch (error) {
        if (Date.now() > deadline) throw error
        await pause(25)
      }
    }
  }

  /** The body of a call that must succeed. @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<Json>} */
  async must(method, path, body) {
    const reply = await this.call(method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply.body
  }

  async metrics() {
    const headers = { authorization: `Bearer ${this.token}` }
    return (await fetch(`http://127.0.0.1:${this.#port}/metrics`, { headers })).text()
  }

  /** Whether this token signs in. @param {string} token */
  async accepts(token) {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`http://127.0.0.1:${this.#port}/api/me`, { headers })).ok
  }

  /** Runs the command on this hub. @param {string[]} args @returns {Promise<string>} what it printed */
  async run(...args) {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SIGNALBOX_")))
    const options = { env, maxBuffer: MAX_OUTPUT_BYTES, timeout: COMMAND_MS }
    const { stdout } = await runFile(process.execPath, [COMMAND, ...args], options)
    return stdout
  }

  memoryMb() {
    return residentKb(this.#child?.pid ?? 0) / 1024
  }

  /** The size of everything in the data directory. */
  sizeMb() {
    const sizes = readdirSync(this.data, { withFileTypes: true }).map((entry) =>
      entry.isFile() ? (statSync(join(this.data, entry.name), { throwIfNoEntry: false })?.size ?? 0) : 0,
    )
    return sizes.reduce((sum, size) => sum + size, 0) / 1024 / 1024
  }
}

/** One that nobody is given by chance while the hub is away. */
async function freePort() {
  for (let tried = 0; tried < 100; tried += 1) {
    const port = 12_000 + Math.floor(Math.random() * 20_000)
    const server = createServer().listen(port, "127.0.0.1")
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, "close")
    return port
  }
  throw new Error("no port is free")
}
