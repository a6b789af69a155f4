import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Scenario } from "@signalbox/simulator"
import { expect } from "vitest"

const COMMAND = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "packages/cli/bin/signalbox.mjs")
export const POLL = { timeout: 60_000, interval: 50 }

// oxlint-disable-next-line typescript/no-explicit-any -- the shapes that are printed and told are what these tests check
type Json = any

/** A loop that was started, and what it has printed so far. */
export interface StartedLoop {
  readonly child: ChildProcess
  readonly lines: readonly string[]
  /** With `--json`: what was printed, of this kind. */
  readonly events: (kind?: string) => Json[]
  readonly said: () => string
  readonly exit: Promise<number | null>
}

/** A place with a home, a project and a data directory; a hub with its runner, if a test brings one. */
export class LoopScene {
  readonly base: string
  readonly data: string
  readonly project: string
  readonly #env: NodeJS.ProcessEnv
  #hub: { readonly child?: ChildProcess; readonly url: string; readonly token: string } | undefined
  readonly #loops: ChildProcess[] = []
  #scenarios = 0

  /** `env` is what hub, runner, agents and checks get, beside the bare minimum. */
  constructor(env: (home: string) => NodeJS.ProcessEnv = () => ({})) {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-loop-")))
    this.data = join(this.base, "data")
    this.project = join(this.base, "project")
    for (const name of ["home", "project"]) mkdirSync(join(this.base, name))
    const home = join(this.base, "home")
    this.#env = { PATH: process.env["PATH"], HOME: home, ...env(home) }
  }

  /** The hub that a loop brought for itself. */
  async findHub(): Promise<void> {
    const card = join(this.data, "hub.json")
    await expect.poll(() => existsSync(card), POLL).toBe(true)
    this.#hub = {
      url: JSON.parse(readFileSync(card, "utf8")).url,
      token: readFileSync(join(this.data, "admin-token"), "utf8").trim(),
    }
  }

  async startHub(): Promise<void> {
    const child = spawn(process.execPath, [COMMAND, "up", "--json", "--port", "0", "--data", this.data], {
      stdio: ["ignore", "pipe", "ignore"],
      env: this.#env,
    })
    for await (const line of createInterface({ input: child.stdout })) {
      this.#hub = { child, ...JSON.parse(line) }
      return
    }
    throw new Error("the hub did not start")
  }

  async killHub(): Promise<void> {
    const child = this.#hub?.child
    if (child === undefined) throw new Error("there is no hub")
    child.kill("SIGKILL")
    await once(child, "exit")
  }

  /** The arguments that make the simulator play this. */
  playing(scenario: Scenario): string[] {
    const file = join(this.base, `scenario-${this.#scenarios++}.json`)
    writeFileSync(file, JSON.stringify(scenario))
    return ["--agent", "simulator", "--arg=--scenario", `--arg=${file}`]
  }

  list(...tasks: readonly string[]): string {
    const file = join(this.base, "TASKS.md")
    writeFileSync(file, tasks.map((task) => `- [ ] ${task}\n`).join(""))
    return file
  }

  loop(...args: readonly string[]): StartedLoop {
    const child = spawn(process.execPath, [COMMAND, "loop", ...args, "--data", this.data], {
      stdio: ["ignore", "pipe", "pipe"],
      env: this.#env,
      cwd: this.project,
    })
    this.#loops.push(child)
    const lines: string[] = []
    let said = ""
    createInterface({ input: child.stdout }).on("line", (line) => void lines.push(line))
    child.stderr.on("data", (data: Buffer) => {
      said += data.toString()
    })
    const exit = once(child, "close").then(() => child.exitCode)
    const events = (kind?: string) =>
      lines.map((line): Json => JSON.parse(line)).filter(({ event }) => kind === undefined || event === kind)
    return { child, lines, events, said: () => said, exit }
  }

  async call(method: string, path: string, body?: object): Promise<Json> {
    const { url, token } = this.#hub ?? { url: "", token: "" }
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const value: Json = await reply.json()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(value)}`)
    return value
  }

  run(id: string): Promise<Json> {
    return this.call("GET", `/api/runs/${id}`)
  }

  session(id: string): Promise<Json> {
    return this.call("GET", `/api/sessions/${id}`)
  }

  /** What was said to a session's agent, in order. */
  async messages(session: string): Promise<string[]> {
    const { events } = await this.call("GET", `/api/sessions/${session}/events?after=0&limit=500`)
    return events
      .filter(({ from, message }: Json) => from === "client" && message.type === "user")
      .map(({ message }: Json) => message.message.content[0].text)
  }

  /** The open asks, once there are so many. */
  async asks(count: number): Promise<Json[]> {
    let asks: Json[] = []
    const look = async () => {
      asks = (await this.call("GET", "/api/asks?state=pending")).asks
      return asks.length
    }
    await expect.poll(look, POLL).toBe(count)
    return asks
  }

  answer(ask: string, answer: object): Promise<Json> {
    return this.call("POST", `/api/asks/${ask}/answer`, answer)
  }

  async dispose(): Promise<void> {
    for (const child of this.#loops) child.kill("SIGKILL")
    await promisify(execFile)(process.execPath, [COMMAND, "down", "--agents", "--data", this.data], { env: this.#env })
    this.#hub?.child?.kill("SIGKILL")
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The processes of a group that live; those that wait to be buried do not. */
export async function livingIn(group: number): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pgid=,stat="])
  return stdout.split("\n").filter((line) => new RegExp(`^\\s*${group} +[^Z]`).test(line)).length
}

/** The most tasks that were at work at the same time, as the loop told it. */
export function mostAtOnce({ events }: StartedLoop): number {
  const working = new Set<number>()
  let most = 0
  for (const { task, state } of events("task")) {
    if (["waiting", "done", "failed"].includes(state)) working.delete(task)
    else working.add(task)
    most = Math.max(most, working.size)
  }
  return most
}
