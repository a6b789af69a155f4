import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { claudeEnvironment } from "@signalbox/simulator"
import { vi } from "vitest"
import { HubProcess, type Json } from "../hub/hub-process.ts"
import { CockpitHarness } from "./cockpit.ts"
import { LOOKS } from "./looks-scenarios.ts"
import { says } from "./scenarios.ts"

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const RUNNER = join(ROOT, "packages/runner/test/runner-main.mjs")
const SIMULATOR = join(ROOT, "packages/simulator/bin/claude-sim.mjs")
const PATIENCE = { timeout: 120_000, interval: 100 }

interface Told {
  readonly title: string
  readonly prompt: string
  readonly on: "atlas" | "borealis"
  readonly folder: "api" | "web"
  readonly mode?: string
}

/** What pictures are taken of: a hub with two machines, and sessions in every state there is. */
export class LooksScene {
  readonly cockpit: CockpitHarness
  readonly #base: string
  readonly #runners = new Map<string, { readonly id: string; readonly child: ChildProcess }>()
  readonly #ids = new Map<string, string>()

  private constructor(cockpit: CockpitHarness, base: string) {
    this.cockpit = cockpit
    this.#base = base
  }

  static async open(): Promise<LooksScene> {
    const base = realpathSync(await mkdtemp(join(tmpdir(), "looks-")))
    for (const name of ["home", "home/api", "home/web"]) mkdirSync(join(base, name))
    writeFileSync(join(base, "scenario.json"), JSON.stringify(LOOKS))
    const scene = new LooksScene(await CockpitHarness.open(await HubProcess.start()), base)
    for (const name of ["atlas", "borealis"]) await scene.#startRunner(name)
    return scene
  }

  get hub(): HubProcess {
    return this.cockpit.hub
  }

  folder(name: string): string {
    return join(this.#base, "home", name)
  }

  machine(name: string): string {
    return this.#runners.get(name)?.id ?? ""
  }

  session(title: string): string {
    const id = this.#ids.get(title)
    if (id === undefined) throw new Error(`there is no session "${title}"`)
    return id
  }

  async launch({ title, prompt, on, folder, mode }: Told): Promise<string> {
    const { id } = await this.hub.post("/api/sessions", {
      agent: "simulator",
      runner: this.machine(on),
      cwd: this.folder(folder),
      title,
      prompt,
      ...(mode === undefined ? {} : { permissionMode: mode }),
    })
    this.#ids.set(title, id)
    return id
  }

  /** One that dialled in and went away, and one that nobody has started yet. */
  async handmade(): Promise<void> {
    const { id, process } = await this.cockpit.agent({
      title: "Rotate the keys",
      scenario: says("Half of them are new."),
    })
    this.#ids.set("Rotate the keys", id)
    await this.#has(id, ({ turns }) => turns === 1)
    await process.child.close("gone")
    await this.#has(id, ({ state }) => state === "disconnected")
    const waiting = await this.hub.post("/api/sessions", { agent: "external", title: "Load test" })
    this.#ids.set("Load test", waiting.id)
  }

  /** What it asks, once it does. */
  async asks(title: string): Promise<Json> {
    const id = this.session(title)
    return vi.waitFor(async () => {
      const { asks } = await this.hub.get(`/api/asks?state=pending&session=${id}`)
      if (asks.length !== 1) throw new Error(`${title} asks ${asks.length} things`)
      return asks[0]
    }, PATIENCE)
  }

  /** Everything it asks for is allowed until it asks for this, or has done its turn. */
  async allow(title: string, isLast: (ask: Json) => boolean = () => false): Promise<void> {
    const id = this.session(title)
    await vi.waitFor(async () => {
      const [ask] = (await this.hub.get(`/api/asks?state=pending&session=${id}`)).asks
      if (ask !== undefined && isLast(ask)) return
      if (ask !== undefined) await this.hub.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" })
      else if ((await this.hub.get(`/api/sessions/${id}`)).turns > 0) return
      throw new Error(`${title} is not that far`)
    }, PATIENCE)
  }

  /** What it asks is not given. */
  async refuse(title: string): Promise<void> {
    const { id, kind } = await this.asks(title)
    const no = kind === "elicitation" ? { action: "decline" } : { behavior: "deny", message: "Not now" }
    await this.hub.call("POST", `/api/asks/${id}/answer`, no)
  }

  /** It is told the same again, turn after turn. */
  async goesOn(title: string, prompt: string, turns: number): Promise<void> {
    const id = this.session(title)
    for (let turn = 1; turn < turns; turn++) {
      await this.#has(id, (session) => session.turns === turn)
      await this.hub.post(`/api/sessions/${id}/messages`, { content: prompt })
    }
    await this.#has(id, (session) => session.turns === turns)
  }

  async isIn(title: string, state: string): Promise<void> {
    await this.#has(this.session(title), (session) => session.state === state)
  }

  async dispose(): Promise<void> {
    for (const { child } of this.#runners.values()) {
      const exited = once(child, "exit")
      child.kill("SIGTERM")
      await exited
    }
    await this.cockpit.dispose()
    await rm(this.#base, { recursive: true, force: true, maxRetries: 5 })
  }

  async #has(id: string, isSo: (session: Json) => boolean): Promise<void> {
    await vi.waitFor(async () => {
      const session = await this.hub.get(`/api/sessions/${id}`)
      if (!isSo(session)) throw new Error(`${session.title} is ${session.state} after ${session.turns} turns`)
    }, PATIENCE)
  }

  async #startRunner(name: string): Promise<void> {
    const { token } = await this.hub.post("/api/tokens", { role: "runner", name })
    const options = {
      name,
      hubUrl: this.hub.ready.url,
      stateDirectory: join(this.#base, `state-${name}`),
      simulator: [process.execPath, SIMULATOR],
      maxAgents: 12,
      limits: { startSpacingMs: 0, statsMs: 500, killAfterMs: 2_000 },
    }
    const child = spawn(process.execPath, [RUNNER, JSON.stringify(options)], {
      env: {
        ...claudeEnvironment({ home: join(this.#base, "home"), apiUrl: "http://127.0.0.1:9" }),
        SIGNALBOX_SIM_SCENARIO: join(this.#base, "scenario.json"),
        SIGNALBOX_SIM_SEED: "7",
        SIGNALBOX_TOKEN: token,
      },
      stdio: ["ignore", "pipe", "ignore"],
    })
    const { id } = await vi.waitFor(async () => {
      const { runners } = await this.hub.get("/api/runners")
      const found = runners.find((runner: Json) => runner.name === name && runner.connected)
      if (found === undefined) throw new Error(`${name} did not connect`)
      return found
    }, PATIENCE)
    this.#runners.set(name, { id, child })
  }
}
