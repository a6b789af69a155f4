import { randomUUID } from "node:crypto"
import { readFileSync, realpathSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { LaunchSpec } from "@signalbox/protocol/runner-wire"
import { pino } from "pino"
import { openRunner, type Runner, type RunnerOptions } from "../src/index.ts"
import { TestHub } from "./test-hub.ts"

export const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), "agent-program.mjs")

export const LINK_TIMING = { baseDelayMs: 20, maxDelayMs: 100, refusedDelayMs: 50 }

/** A runner with a hub of the test's own, in an empty folder. */
export class Scene {
  readonly hub: TestHub
  readonly base: string
  readonly #runners: Runner[] = []
  runner: Runner | undefined

  private constructor(hub: TestHub, base: string) {
    this.hub = hub
    this.base = base
  }

  static async open(options: Partial<RunnerOptions> = {}): Promise<Scene> {
    const scene = new Scene(await TestHub.open(), realpathSync(await mkdtemp(join(tmpdir(), "signalbox-runner-"))))
    await scene.start(options)
    return scene
  }

  get state(): string {
    return join(this.base, "state")
  }

  async start(options: Partial<RunnerOptions> = {}): Promise<Runner> {
    const runner = await openRunner({
      hubUrl: () => this.hub.url,
      token: () => "runner-token",
      stateDirectory: this.state,
      log: pino({ level: "silent" }),
      env: { PATH: process.env["PATH"], HOME: this.base },
      linkTiming: LINK_TIMING,
      ...options,
      limits: { startSpacingMs: 0, stopGraceMs: 2_000, spoolAfterMs: 50, statsMs: 100, ...options.limits },
    })
    this.#runners.push(runner)
    this.runner = runner
    return runner
  }

  spec(more: Partial<LaunchSpec> = {}): LaunchSpec {
    return {
      spawn: randomUUID(),
      session: "session-1",
      agent: { command: [process.execPath, PROGRAM] },
      cwd: this.base,
      ...more,
    }
  }

  /** Launches the test's own program; resolves with its spawn when the hub has its connection. */
  async launch(more: Partial<LaunchSpec> = {}): Promise<string> {
    const spec = this.spec(more)
    await this.hub.launch(spec)
    await this.hub.until(() => this.hub.agent(spec.spawn).socket !== undefined)
    return spec.spawn
  }

  /** Has the agent do something, and waits for the end of that turn. */
  async turn(spawn: string, command: string): Promise<void> {
    const uuid = randomUUID()
    this.hub.say(spawn, command, uuid)
    const { taken } = this.hub.agent(spawn)
    let looked = taken.length
    await this.hub.until(() => {
      for (; looked < taken.length; looked++) {
        const frame = taken[looked]
        if (frame?.kind === "line" && frame.line.includes(`"result"`) && frame.line.includes(uuid)) return true
      }
      return false
    })
  }

  message(spawn: string, type: string): Record<string, unknown> {
    const messages = this.hub.lines(spawn).map((line) => JSON.parse(line) as Record<string, unknown>)
    const found = messages.findLast((message) => message["type"] === type)
    if (found === undefined) throw new Error(`${spawn} said no ${type}`)
    return found
  }

  /** Resolves when nothing more has come from an agent for a while: it is held up, or has nothing to say. */
  async turnsStill(spawn: string): Promise<void> {
    for (let before = -1; before !== this.hub.agent(spawn).frames.length; ) {
      before = this.hub.agent(spawn).frames.length
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
  }

  async dispose(): Promise<void> {
    for (const runner of this.#runners) await runner.close({ agents: true })
    await this.hub.leave()
    await rm(this.base, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The dead that nobody has collected still answer to a signal; in a container without an init they do so for ever. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== "linux" || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return false
  }
}

/** For what nobody reports: a process that ends, a file that goes. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
}
