// What a runner takes beside its agents: its memory, idle and with many agents that have talked a while.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { WebSocketServer } from "ws"
import { frameText } from "./frame-text.mjs"
import { figureOf } from "./measure.mjs"

const AGENTS = 100
const LINES_EACH = 200
const SIGNALBOX = fileURLToPath(new URL("../packages/cli/bin/signalbox.mjs", import.meta.url))
/** Says what it is told, in the smallest process there is. */
const ECHO = ["/bin/sh", "-c", 'while read -r line; do echo "$line"; done']
const MB = 1024

/** A hub that launches agents, has them talk, and acknowledges what they say. */
class TinyHub {
  /** @type {Map<string, import("ws").WebSocket>} */
  agents = new Map()
  heard = 0
  /** A runner asks first whether this is a hub: one refuses its token, which is for its doors alone. */
  http = createServer((_, reply) => reply.writeHead(403).end('{"error":{"code":"auth/forbidden"}}'))
  server = new WebSocketServer({ server: this.http.listen(0, "127.0.0.1") })
  /** @type {import("ws").WebSocket | undefined} */
  control

  constructor() {
    this.server.on("connection", (socket, { url = "" }) => {
      if (url === "/runner/control") this.#takeControl(socket)
      else this.#takeAgent(socket, url)
    })
  }

  get url() {
    const address = this.server.address()
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
  }

  launch() {
    const spec = { spawn: randomUUID(), session: "s", agent: { command: ECHO }, cwd: tmpdir() }
    this.control?.send(JSON.stringify({ ev: "request", id: spec.spawn, request: { kind: "launch", spec } }))
  }

  /** @param {import("ws").WebSocket} socket */
  #takeControl(socket) {
    socket.once("message", () => {
      this.control = socket
      socket.send(JSON.stringify({ ev: "welcome", hub: "bench" }))
    })
  }

  /** @param {import("ws").WebSocket} socket @param {string} url */
  #takeAgent(socket, url) {
    this.agents.set(url, socket)
    socket.on("message", (data) => {
      const frames = frameText(data)
        .split("\n")
        .filter((frame) => frame.startsWith("L"))
      this.heard += frames.length
      const last = frames.at(-1)
      if (last !== undefined) socket.send(`A${last.slice(1, last.indexOf(" "))}`)
    })
  }
}

/** @param {number | undefined} pid */
function residentKb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])
}

/** @param {() => boolean} condition */
async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
function node(args, env = process.env) {
  return spawn(process.execPath, args, { stdio: "ignore", env })
}

async function bareKb() {
  const child = node(["-e", "setInterval(() => {}, 1000)"])
  await rest()
  const kb = residentKb(child.pid)
  child.kill("SIGKILL")
  return kb
}

function rest() {
  // Longer than a runner takes from one look at itself to the next.
  return new Promise((resolve) => setTimeout(resolve, 6_000))
}

async function measure() {
  const data = mkdtempSync(join(tmpdir(), "signalbox-bench-runner-"))
  const hub = new TinyHub()
  await once(hub.server, "listening")
  const args = [SIGNALBOX, "runner", "--hub", hub.url, "--data", data, "--max-agents", String(AGENTS)]
  const runner = node(args, { ...process.env, SIGNALBOX_TOKEN: "bench" })
  await until(() => hub.control !== undefined)
  await rest()
  const idleKb = residentKb(runner.pid)
  for (let n = 0; n < AGENTS; n++) hub.launch()
  await until(() => hub.agents.size === AGENTS)
  const line = JSON.stringify({ type: "user", message: { role: "user", content: "x".repeat(200) } })
  for (let n = 0; n < LINES_EACH; n++) for (const socket of hub.agents.values()) socket.send(`L${line}`)
  await until(() => hub.heard === AGENTS * LINES_EACH)
  await rest()
  const busyKb = residentKb(runner.pid)
  const exited = once(runner, "exit")
  runner.kill("SIGTERM")
  await exited
  hub.http.close()
  rmSync(data, { recursive: true, force: true })
  return { idleKb, busyKb }
}

export async function figures() {
  const bare = await bareKb()
  const { idleKb, busyKb } = await measure()
  return [
    figureOf({
      title: "runner without an agent: memory against a bare node and 25 MB",
      unit: "MB",
      atMost: 1,
      rows: [
        { name: "signalbox runner", value: idleKb / MB },
        { name: "node and 25 MB", value: bare / MB + 25 },
      ],
    }),
    figureOf({
      title: `runner with ${AGENTS} agents: memory against a bare node, 25 MB and 150 KB for each`,
      unit: "MB",
      atMost: 1,
      rows: [
        { name: "signalbox runner", value: busyKb / MB },
        { name: "node, 25 MB and 150 KB for each", value: bare / MB + 25 + (AGENTS * 150) / MB },
      ],
    }),
  ]
}
