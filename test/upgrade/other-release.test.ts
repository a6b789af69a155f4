import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import { commandOf, commitOf, ensureRelease, isWholeHistory, OLDEST } from "../../scripts/releases.mjs"
import { isWholeRun } from "../gate.ts"
import { HubProcess, type Json } from "../hub/hub-process.ts"

const NEW = commandOf(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
const BUILD_MS = 600_000

const WORDS = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ")
/** Turns that speak for more than a second, and turns that ask. */
const SCENARIO = {
  turns: Array.from({ length: 10 }, (_, n) => [
    { steps: [{ say: `Turn ${n}: ${WORDS}`, pauseMs: 25, chunk: 8 }] },
    {
      steps: [
        { tool: "Bash", input: { command: `touch asked-${n}`, description: "make a file" } },
        { say: `Asked ${n}.` },
      ],
    },
  ]).flat(),
}

/** A run that somebody relies on fails without the old release, unless no clone of this repository has it. */
const isExcused = (await isWholeHistory()) || !(isWholeRun || process.env["CI"] === "true")
const isLeftOut = isExcused && (await commitOf(OLDEST)) === undefined
if (isLeftOut) {
  const why = (await isWholeHistory()) ? "this repository's history" : "this shallow clone"
  process.stderr.write(`SKIPPED: no release is tried with another one, because ${why} has no commit ${OLDEST}\n`)
}

/** A hub and a runner, each of some release. */
class Pair {
  readonly hub: HubProcess
  readonly #base: string
  #runner: ChildProcess | undefined
  #token: string | undefined
  #log = ""

  private constructor(hub: HubProcess, base: string) {
    this.hub = hub
    this.#base = base
  }

  static async start(of: { readonly hub: string; readonly runner: string }): Promise<Pair> {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-pair-")))
    for (const name of ["home", "project"]) mkdirSync(join(base, name))
    writeFileSync(join(base, "scenario.json"), JSON.stringify(SCENARIO))
    const pair = new Pair(await HubProcess.start([], { command: of.hub }), base)
    open.push(pair)
    await pair.startRunner(of.runner)
    return pair
  }

  async startRunner(command: string): Promise<void> {
    this.#token ??= (await this.hub.post("/api/tokens", { role: "runner", name: "pair" })).token
    const args = ["runner", "--hub", this.hub.ready.url, "--name", "pair", "--data", join(this.#base, "runner")]
    const env = { PATH: process.env["PATH"], HOME: join(this.#base, "home"), SIGNALBOX_TOKEN: this.#token }
    const child = spawn(process.execPath, [command, ...args], {
      env: { ...env, SIGNALBOX_SIM_SCENARIO: join(this.#base, "scenario.json") },
      stdio: ["ignore", "ignore", "pipe"],
    })
    child.stderr.on("data", (text: Buffer) => {
      this.#log += text.toString()
    })
    this.#runner = child
    await this.#isConnected()
  }

  async endRunner(): Promise<void> {
    const child = this.#runner
    this.#runner = undefined
    if (child === undefined || child.exitCode !== null) return
    const exited = once(child, "exit")
    child.kill("SIGTERM")
    await exited
  }

  launch(more: object = {}): Promise<{ status: number; body: Json }> {
    return this.hub.call("POST", "/api/sessions", { agent: "simulator", cwd: join(this.#base, "project"), ...more })
  }

  /** The hub is killed in the middle of what the agent says. */
  async speak(id: string): Promise<void> {
    await this.hub.post(`/api/sessions/${id}/messages`, { content: "speak" })
    await this.isIn(id, "running")
    await this.hub.kill()
    await this.hub.startAgain()
    await this.isIn(id, "idle")
  }

  /** The hub is killed, and another started in its place, while the agent waits for an answer. */
  async ask(id: string, next = this.hub.command): Promise<void> {
    await this.hub.post(`/api/sessions/${id}/messages`, { content: "ask" })
    const ask = await this.#pending(id)
    await this.hub.kill()
    this.hub.command = next
    await this.hub.startAgain()
    expect((await this.#pending(id)).id).toBe(ask.id)
    await this.#isConnected()
    await this.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
    await this.isIn(id, "idle")
  }

  /** What the agent said, in order; that the log is dense and has nothing twice is checked on the way. */
  async said(id: string): Promise<string[]> {
    const { events } = await this.hub.get(`/api/sessions/${id}/events?limit=5000`)
    expect(events.map(({ seq }: Json) => seq)).toEqual(events.map((_: Json, at: number) => at + 1))
    const uuids = events.flatMap(({ message }: Json) => message.uuid ?? [])
    expect(new Set(uuids).size).toBe(uuids.length)
    return events.flatMap(({ from, message }: Json) =>
      from === "agent" && message.type === "assistant"
        ? message.message.content.flatMap((block: Json) => (block.type === "text" ? [block.text] : []))
        : [],
    )
  }

  async isIn(id: string, state: string): Promise<void> {
    const look = async () => (await this.hub.get(`/api/sessions/${id}`)).state
    await expect.poll(look, { timeout: 60_000, interval: 50, message: this.#log }).toBe(state)
  }

  async dispose(): Promise<void> {
    await this.endRunner()
    await this.hub.dispose()
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 5 })
  }

  async #pending(id: string): Promise<Json> {
    const look = async () => (await this.hub.get(`/api/asks?state=pending&session=${id}`)).asks
    await expect.poll(async () => (await look()).length, { timeout: 60_000, message: this.#log }).toBe(1)
    return (await look())[0]
  }

  async #isConnected(): Promise<void> {
    const look = async () => (await this.hub.get("/api/runners")).runners.some(({ connected }: Json) => connected)
    await expect.poll(look, { timeout: 60_000, interval: 50, message: this.#log }).toBe(true)
  }
}

const open: Pair[] = []

/** A day of an agent, with everything that hub and runner say to each other. */
async function worksTogether(pair: Pair): Promise<void> {
  const { status, body } = await pair.launch()
  expect([status, body.error]).toEqual([201, undefined])
  await pair.speak(body.id)
  await pair.ask(body.id)
  expect(await pair.said(body.id)).toEqual([`Turn 0: ${WORDS}`, "Asked 0."])
  expect((await pair.hub.get("/api/runners")).runners).toMatchObject([{ name: "pair", connected: true, agents: 1 }])
  const stopped = await pair.hub.call("DELETE", `/api/sessions/${body.id}`)
  expect(stopped).toMatchObject({ status: 200, body: { state: "ended" } })
  const agents = async () => (await pair.hub.get("/api/runners")).runners[0].agents
  await expect.poll(agents, { timeout: 30_000 }).toBe(0)
}

describe.skipIf(isLeftOut)(`today's release and ${OLDEST}`, () => {
  let old = ""

  beforeAll(async () => {
    old = commandOf(await ensureRelease(OLDEST))
  }, BUILD_MS)
  afterEach(async () => {
    for (const pair of open.splice(0)) await pair.dispose()
  })

  it("[UP5] an old runner works with a new hub", async () => {
    await worksTogether(await Pair.start({ hub: NEW, runner: old }))
  }, 180_000)

  it("[UP6] a new runner works with an old hub", async () => {
    await worksTogether(await Pair.start({ hub: old, runner: NEW }))
  }, 180_000)

  it("[UP7] a new hub asks nothing of an old runner that it would not do, and says so", async () => {
    const pair = await Pair.start({ hub: NEW, runner: old })
    const sentence =
      /runner pair is older than the hub \(runner \d+\.\d+\.\d+, hub \d+\.\d+\.\d+\).* update Signalbox on that machine/
    const refused = (code: string) => ({ error: { code, message: expect.stringMatching(sentence) } })
    expect(await pair.launch({ enforce: "everything" })).toEqual({
      status: 409,
      body: refused("policy/cannot-enforce"),
    })
    expect((await pair.launch({ maxTurns: 3 })).body).toEqual(refused("runner/invalid"))
    await pair.hub.call("PUT", "/api/policy", { rules: [], enforce: "everything" })
    expect((await pair.launch()).body).toEqual(refused("policy/cannot-enforce"))
    expect((await pair.hub.get("/api/sessions")).sessions).toEqual([])
    expect((await pair.launch({ enforce: "asked" })).status).toBe(201)
  }, 180_000)

  it("[UP8] a hub is upgraded under an agent that is at work, and its runner after it", async () => {
    const pair = await Pair.start({ hub: old, runner: old })
    const { id } = (await pair.launch()).body
    await pair.speak(id)
    await pair.ask(id, NEW)
    await pair.speak(id)
    expect(await pair.said(id)).toEqual([`Turn 0: ${WORDS}`, "Asked 0.", `Turn 1: ${WORDS}`])
    await pair.endRunner()
    await pair.isIn(id, "ended")
    await pair.startRunner(NEW)
    // A message brings the agent back, on the new runner and with its conversation.
    await pair.hub.post(`/api/sessions/${id}/messages`, { content: "go on" })
    await expect.poll(async () => (await pair.said(id)).length, { timeout: 60_000 }).toBeGreaterThan(3)
    expect((await pair.hub.get(`/api/sessions/${id}`)).runner).toBe((await pair.hub.get("/api/runners")).runners[0].id)
  }, 240_000)
})
