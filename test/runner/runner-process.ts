import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { claudeEnvironment, openScriptedApi, type Scenario, type ScriptedApi } from "@signalbox/simulator"
import { expect } from "vitest"
import { ensureClaude } from "../../scripts/claude-cli.mjs"
import { HubProcess, type Json } from "../hub/hub-process.ts"

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const MAIN = join(ROOT, "packages/runner/test/runner-main.mjs")
const SIMULATOR = join(ROOT, "packages/simulator/bin/claude-sim.mjs")

export interface MachineOptions {
  /** The script of its agents' model, in the folder that they work in. */
  readonly scenario: Scenario | ((cwd: string) => Scenario)
  /** "claude": the real CLI of this version with a scripted model. */
  readonly claude?: string
  /** The agents do not run as root, which the real CLI refuses some modes. */
  readonly isUnprivileged?: boolean
  readonly maxAgents?: number
  /** Options of `signalbox up`. */
  readonly hubFlags?: readonly string[]
  readonly limits?: Readonly<Record<string, number>>
  /** Where the runner finds its hub, if it is not the hub's own address. */
  readonly reach?: (hubUrl: string) => string
  /** Simulated agents write down what passes on their wire. */
  readonly isRecording?: boolean
}

/** A hub and a runner, each a process of its own that may be killed, and a folder for agents to work in. */
export class Machine {
  readonly hub: HubProcess
  readonly cwd: string
  readonly #base: string
  readonly #options: MachineOptions
  readonly #env: Record<string, string>
  readonly #api: ScriptedApi | undefined
  #runner: ChildProcess | undefined
  #log = ""
  #token: string | undefined

  private constructor(
    hub: HubProcess,
    place: { base: string; env: Record<string, string>; api: ScriptedApi | undefined },
    options: MachineOptions,
  ) {
    this.hub = hub
    this.#base = place.base
    this.cwd = join(place.base, "project")
    this.#env = place.env
    this.#api = place.api
    this.#options = options
  }

  static async open(options: MachineOptions): Promise<Machine> {
    const base = realpathSync(await mkdtemp(join(tmpdir(), "signalbox-machine-")))
    for (const name of ["home", "project", "wires"]) mkdirSync(join(base, name))
    const scenario = typeof options.scenario === "function" ? options.scenario(join(base, "project")) : options.scenario
    const api = options.claude === undefined ? undefined : await openScriptedApi({ scenario })
    writeFileSync(join(base, "scenario.json"), JSON.stringify(scenario))
    const env: Record<string, string> = {
      ...claudeEnvironment({ home: join(base, "home"), apiUrl: api?.url ?? "http://127.0.0.1:9" }),
      SIGNALBOX_SIM_SCENARIO: join(base, "scenario.json"),
      ...(options.claude === undefined ? {} : { CLAUDE_BIN: (await ensureClaude(options.claude)).command }),
    }
    if (options.isUnprivileged === true) env["CLAUDE_BIN"] = unprivileged(base, env["CLAUDE_BIN"] ?? "")
    const machine = new Machine(await HubProcess.start(options.hubFlags), { base, env, api }, options)
    await machine.startRunner()
    return machine
  }

  get agent(): "claude" | "simulator" {
    return this.#options.claude === undefined ? "simulator" : "claude"
  }

  /** The scripted model of a real CLI. */
  get model(): ScriptedApi {
    return this.#api ?? expect.fail("a simulated agent has its model in itself")
  }

  /** Recordings of simulated agents, in files whose names begin with the id of the process. */
  get wires(): string {
    return join(this.#base, "wires")
  }

  /** Lines on the runner's disk that the hub does not have yet. */
  spooled(): string {
    const files = readdirSync(join(this.#base, "state"), { recursive: true, withFileTypes: true })
    return files
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), "utf8"))
      .join("")
  }

  /** What the runner wrote to stderr, for a test that failed. */
  get log(): string {
    return this.#log
  }

  async startRunner(): Promise<void> {
    // The hub binds a runner to its token: the next process of this machine has the same one.
    this.#token ??= (await this.hub.post("/api/tokens", { role: "runner", name: "test" })).token
    const options = {
      hubUrl: this.#options.reach?.(this.hub.ready.url) ?? this.hub.ready.url,
      stateDirectory: join(this.#base, "state"),
      simulator: [
        process.execPath,
        ...(this.#options.isRecording === true ? recordingInto(this.wires) : []),
        SIMULATOR,
      ],
      maxAgents: this.#options.maxAgents ?? 10,
      limits: { startSpacingMs: 0, spoolAfterMs: 50, statsMs: 500, killAfterMs: 2_000, ...this.#options.limits },
      linkTiming: { baseDelayMs: 50, maxDelayMs: 500 },
    }
    const child = spawn(process.execPath, [MAIN, JSON.stringify(options)], {
      env: { ...this.#env, SIGNALBOX_TOKEN: this.#token, RUNNER_LOG: "warn" },
      stdio: ["ignore", "pipe", "pipe"],
    })
    this.#runner = child
    child.stderr.on("data", (text: Buffer) => {
      this.#log += text.toString()
    })
    await once(child.stdout, "data")
    await this.#isConnected()
  }

  /** The runner's end, by a signal. */
  async endRunner(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.#runner
    this.#runner = undefined
    if (child === undefined || child.exitCode !== null) return
    const exited = once(child, "exit")
    child.kill(signal)
    await exited
  }

  async restartHub(): Promise<void> {
    await this.hub.startAgain()
    await this.#isConnected()
  }

  launch(more: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    return this.hub.post("/api/sessions", { agent: this.agent, cwd: this.cwd, ...more })
  }

  say(session: string, content: string): Promise<Json> {
    return this.hub.post(`/api/sessions/${session}/messages`, { content })
  }

  session(id: string): Promise<Json> {
    return this.hub.get(`/api/sessions/${id}`)
  }

  async isIn(id: string, state: string, timeoutMs = 60_000): Promise<void> {
    const look = async () => (await this.session(id)).state
    await expect.poll(look, { timeout: timeoutMs, interval: 50, message: this.#log }).toBe(state)
  }

  /** Everything in a session's log, page by page. */
  async events(id: string): Promise<Json[]> {
    const events: Json[] = []
    for (;;) {
      const after = events.at(-1)?.seq ?? 0
      const page = await this.hub.get(`/api/sessions/${id}/events?after=${after}&limit=500`)
      events.push(...page.events)
      if (page.more !== true) return events
    }
  }

  /** The agents' processes on this machine, told by the mark that the runner gave them. */
  processes(): number[] {
    return readdirSync("/proc").flatMap((name) => {
      if (!/^\d+$/.test(name)) return []
      try {
        const environment = readFileSync(`/proc/${name}/environ`, "latin1")
        const isOurs = environment.includes("CLAUDE_RUNNER_SPAWN=") && environment.includes(this.#base)
        return isOurs ? [Number(name)] : []
      } catch {
        return []
      }
    })
  }

  async dispose(): Promise<void> {
    await this.endRunner("SIGTERM")
    await this.hub.dispose()
    await this.#api?.close()
    await rm(this.#base, { recursive: true, force: true, maxRetries: 5 })
  }

  async #isConnected(): Promise<void> {
    const look = async () => (await this.hub.get("/api/runners")).runners.some((runner: Json) => runner.connected)
    await expect.poll(look, { timeout: 60_000, interval: 50, message: "no runner connected" }).toBe(true)
  }
}

/** Options of Node with which each simulator records itself. */
function recordingInto(folder: string): readonly string[] {
  const record = `process.env.SIGNALBOX_SIM_RECORD = ${JSON.stringify(`${folder}/`)} + process.pid + "-" + Date.now()`
  return ["--import", `data:text/javascript,${encodeURIComponent(record)}`]
}

const NOBODY = 65_534

/** A command that runs this one as nobody in particular, with a home and a project of its own. */
function unprivileged(base: string, command: string): string {
  if (process.getuid?.() !== 0) return command
  chmodSync(base, 0o755)
  for (const name of ["home", "project"]) chownSync(join(base, name), NOBODY, NOBODY)
  const [binary, wrapper] = [join(base, "claude-binary"), join(base, "claude")]
  linkOrCopy(command, binary)
  const drop = `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups`
  writeFileSync(wrapper, `#!/bin/sh\nexec ${drop} "${binary}" "$@"\n`, { mode: 0o755 })
  return wrapper
}

/** Its own folder is root's alone. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}
