import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterEach, expect, vi } from "vitest"

export const COMMAND = join(dirname(dirname(fileURLToPath(import.meta.url))), "bin/signalbox.mjs")

export interface Running {
  readonly child: ChildProcess
  readonly lines: string[]
  readonly said: () => string
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Ready {
  readonly event: string
  readonly url: string
  readonly token: string
  readonly data: string
  readonly pid: number
}

// Every command is a process of its own, and machines may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

export function atEnd(cleanUp: () => unknown): void {
  cleanUps.push(cleanUp)
}

export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "signalbox-cli-"))
  atEnd(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

/** A port that nothing listens on. */
export async function deadAddress(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
}

/** Nothing of whoever runs the tests: not their hub, not their home. */
export function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: "/nonexistent", ...more }
}

/** Goes on until the test ends it, or its end. */
export function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(env),
  })
  atEnd(() => child.kill("SIGKILL"))
  const lines: string[] = []
  let text = ""
  createInterface({ input: child.stdout }).on("line", (line) => void lines.push(line))
  child.stderr.on("data", (data: Buffer) => {
    text += data.toString()
  })
  return { child, lines, said: () => text }
}

export async function exitOf({ child }: Running): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  return child.exitCode
}

/** Runs to its end. */
export async function run(
  args: readonly string[],
  { env = {}, input, cwd }: { readonly env?: NodeJS.ProcessEnv; readonly input?: string; readonly cwd?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: "pipe", env: environment(env), cwd })
  atEnd(() => child.kill("SIGKILL"))
  let [stdout, stderr] = ["", ""]
  child.stdout.on("data", (data: Buffer) => {
    stdout += data.toString()
  })
  child.stderr.on("data", (data: Buffer) => {
    stderr += data.toString()
  })
  child.stdin.end(input ?? "")
  const [code] = await once(child, "close")
  return { code, stdout, stderr }
}

export async function ready(running: Running): Promise<Ready> {
  await expect.poll(() => running.lines.length + (running.child.exitCode ?? 0), { timeout: 30_000 }).toBeGreaterThan(0)
  return JSON.parse(running.lines[0] ?? "")
}

export interface TestHub extends Ready {
  readonly process: Running
  /** A command on this hub, to its end. */
  readonly run: (args: readonly string[], more?: { readonly input?: string }) => Promise<Ended>
  /** A call of the hub's API. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as below
  readonly call: (method: "GET" | "POST", path: string, body?: object) => Promise<any>
  /** What a command printed as JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what is printed is what these tests look at, field by field
  readonly json: (...args: string[]) => Promise<any>
}

/** A hub as its users start it; with a runner, which is ended with everything on it. */
interface HubStart {
  readonly data?: string
  readonly env?: NodeJS.ProcessEnv
  readonly port?: number
}

export async function startHub(
  runner: "runner" | "no-runner",
  { data = folder(), env = {}, port = 0 }: HubStart = {},
): Promise<TestHub> {
  // At the end everything is gone before the folder is.
  if (runner === "runner") atEnd(() => run(["down", "--agents", "--data", data]))
  const flags = runner === "runner" ? [] : ["--no-runner"]
  const running = start(["up", "--json", "--port", String(port), "--data", data, ...flags], env)
  const told = await ready(running)
  const withData = (args: readonly string[]) => [...args, "--data", data]
  return {
    ...told,
    process: running,
    async call(method, path, body) {
      const headers = { authorization: `Bearer ${told.token}`, "content-type": "application/json" }
      const reply = await fetch(`${told.url}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return reply.json()
    },
    run: (args, more = {}) => run(withData(args), more),
    async json(...args) {
      const ended = await run(withData([...args, "--json"]))
      if (ended.code !== 0) throw new Error(`${args.join(" ")}: ${ended.code} ${ended.stderr}`)
      return JSON.parse(ended.stdout)
    },
  }
}

/** A request of a simulated agent, open. */
export async function openAsk(hub: TestHub): Promise<string> {
  const args = ["new", "--agent", "simulator", "--cwd", folder(), "--prompt", "permission please"]
  const id = (await hub.run(args)).stdout.trim()
  const asks = async () => (await hub.call("GET", `/api/asks?state=pending&session=${id}`)).asks
  await expect.poll(async () => (await asks()).length, { timeout: 30_000, interval: 100 }).toBe(1)
  return (await asks())[0].id
}
