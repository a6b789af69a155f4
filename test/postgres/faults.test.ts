import { execFileSync } from "node:child_process"
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import type { PostgresServer } from "../../scripts/postgres-server.mjs"
import { type PlayedAgent, Stage } from "../hub/abuse-actors.ts"
import type { HubProcess, Json } from "../hub/hub-process.ts"
import { hasPostgres, testServer } from "./server.ts"

const stage = new Stage()
afterEach(() => stage.end())

const POLL = { timeout: 60_000, interval: 50 }
const [MOUNT, UNMOUNT] = ["mount", "umount"]
const NOBODY = 65_534

/** An agent that talks, and people who send it messages, on a hub whose database gets into trouble. */
class Trouble {
  readonly server: PostgresServer
  readonly hub: HubProcess
  readonly agent: PlayedAgent
  readonly #confirmed: string[] = []
  readonly #refused: string[] = []
  readonly #said: string[] = []

  constructor(server: PostgresServer, hub: HubProcess, agent: PlayedAgent) {
    this.server = server
    this.hub = hub
    this.agent = agent
  }

  static async on(url: string): Promise<Trouble> {
    const hub = await stage.hub(["--store", url])
    const trouble = new Trouble(await testServer(), hub, await stage.agent(hub))
    for (let n = 0; n < 10; n += 1) expect((await trouble.send()).status).toBe(202)
    trouble.speak(10)
    return trouble
  }

  async send(): Promise<{ status: number; body: Json }> {
    const uuid = crypto.randomUUID()
    const path = `/api/sessions/${this.agent.sessionId}/messages`
    const reply = await this.hub.call("POST", path, { content: "x".repeat(1_000), uuid })
    if (reply.status === 202) this.#confirmed.push(uuid)
    else this.#refused.push(uuid)
    return reply
  }

  speak(times: number): void {
    for (let n = 0; n < times; n += 1) this.#said.push(this.agent.speak(`line ${this.#said.length}`))
  }

  /** People are refused, and told why; what the agent says is kept for later. */
  async isRefused(code: string, { status = 503, withinMs = 10_000 } = {}): Promise<void> {
    await expect.poll(async () => (await this.send()).status, POLL).toBe(status)
    this.speak(50)
    const startedAt = performance.now()
    expect((await this.send()).body.error.code).toBe(code)
    expect(performance.now() - startedAt, "a refusal does not wait for the database").toBeLessThan(withinMs)
    await expect.poll(async () => (await this.hub.call("GET", "/readyz")).status, POLL).toBe(503)
    expect((await fetch(`${this.hub.ready.url}/healthz`)).status).toBe(200)
  }

  /** By itself, with everything that was confirmed or said and nothing that was refused, each once and in its order. */
  async recovers(): Promise<void> {
    await expect.poll(async () => (await this.send()).status, POLL).toBe(202)
    this.speak(1)
    await expect.poll(async () => (await this.#uuids()).includes(this.#said.at(-1) ?? ""), POLL).toBe(true)
    const uuids = await this.#uuids()
    expect(uuids.filter((uuid) => this.#said.includes(uuid))).toEqual(this.#said)
    expect(uuids.filter((uuid) => this.#confirmed.includes(uuid))).toEqual(this.#confirmed)
    expect(uuids.filter((uuid) => this.#refused.includes(uuid))).toEqual([])
    await expect.poll(async () => (await this.hub.call("GET", "/readyz")).status, POLL).toBe(200)
    expect(this.hub.log).not.toContain(this.server.password)
  }

  async #uuids(): Promise<string[]> {
    const { events } = await this.hub.get(`/api/sessions/${this.agent.sessionId}/events?limit=500`)
    expect(events.map(({ seq }: Json) => seq)).toEqual(events.map((_: Json, at: number) => at + 1))
    return events.flatMap(({ message }: Json) => message.uuid ?? [])
  }
}

async function withTrouble(): Promise<Trouble> {
  return Trouble.on(await (await testServer()).createDatabase())
}

const nameOf = (url: string) => new URL(url).pathname.slice(1)

describe.runIf(hasPostgres)("a hub whose database is in trouble", () => {
  it("[PQ3] stopped and started again", async () => {
    const trouble = await withTrouble()
    await trouble.server.stop()
    await trouble.isRefused("store/failed")
    await trouble.server.startAgain()
    await trouble.recovers()
  }, 180_000)

  it("[PQ9] does not answer, and keeps its connections open", async () => {
    const trouble = await withTrouble()
    trouble.server.pause()
    // One that may be in or not is neither confirmed nor refused until the database says so.
    const doubtful = trouble.send()
    try {
      // A new connection is waited for, since what is sent may be there already.
      await trouble.isRefused("store/failed", { withinMs: 25_000 })
    } finally {
      trouble.server.resume()
    }
    await doubtful
    await trouble.recovers()
  }, 180_000)

  it("[PQ6] turns read-only, and back", async () => {
    const server = await testServer()
    const url = await server.createDatabase()
    const trouble = await Trouble.on(url)
    const readOnly = async (isOn: boolean) => {
      await server.query(`ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = ${isOn}`)
      await endConnections(server, url)
    }
    await readOnly(true)
    await trouble.isRefused("store/failed")
    await readOnly(false)
    await trouble.recovers()
  }, 180_000)

  it("[PQ7] has no connection left", async () => {
    const server = await testServer()
    const url = await server.createDatabase()
    const trouble = await Trouble.on(url)
    await server.query(`ALTER DATABASE ${nameOf(url)} CONNECTION LIMIT 0`)
    await endConnections(server, url)
    await trouble.isRefused("store/failed")
    await server.query(`ALTER DATABASE ${nameOf(url)} CONNECTION LIMIT -1`)
    await trouble.recovers()
  }, 180_000)

  it("[PQ3] connections are cut again and again while the agent talks", async () => {
    const server = await testServer()
    const url = await server.createDatabase()
    const trouble = await Trouble.on(url)
    for (let n = 0; n < 20; n += 1) {
      trouble.speak(10)
      await endConnections(server, url)
    }
    await trouble.recovers()
  }, 180_000)
})

async function endConnections(server: PostgresServer, url: string): Promise<void> {
  await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [nameOf(url)])
}

/** A small disk of its own, or why there is none. */
function mountDisk(): { path: string } | { problem: string } {
  const path = mkdtempSync(join(tmpdir(), "signalbox-pg-disk-"))
  try {
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=48m,mode=0755", "tmpfs", path], { stdio: "pipe" })
  } catch (error) {
    rmSync(path, { recursive: true, force: true })
    return { problem: error instanceof Error ? error.message : String(error) }
  }
  return { path }
}

function unmount(path: string): void {
  execFileSync(UNMOUNT, ["-l", path])
  rmSync(path, { recursive: true, force: true })
}

/** Returns what makes room again. */
function fillUp(file: string): () => void {
  const handle = openSync(file, "w")
  for (let size = 1024 * 1024; size >= 4096; ) {
    try {
      writeSync(handle, Buffer.alloc(size))
    } catch {
      size = Math.floor(size / 2)
    }
  }
  closeSync(handle)
  return () => rmSync(file)
}

const trial = hasPostgres ? mountDisk() : { problem: "there is no PostgreSQL" }
if ("path" in trial) unmount(trial.path)
else
  process.stderr.write(
    `NOT TESTED: a full disk of PostgreSQL's. None can be mounted here (root may): ${trial.problem}\n`,
  )

describe.runIf("path" in trial || process.env["CI"] === "true")("a hub whose database has a full disk", () => {
  it("[PQ8] refuses new input at once with what to do, and recovers by itself", async () => {
    const disk = mountDisk()
    if (!("path" in disk)) throw new Error(disk.problem)
    const server = await testServer()
    const place = join(disk.path, "tables")
    mkdirSync(place)
    chownSync(place, NOBODY, NOBODY)
    await server.query(`CREATE TABLESPACE small LOCATION '${place}'`)
    const url = await server.createDatabase("TABLESPACE small")
    stage.onEnd(async () => {
      await server.query(`DROP DATABASE ${nameOf(url)} WITH (FORCE)`)
      await server.query("DROP TABLESPACE small")
      unmount(disk.path)
    })
    const trouble = await Trouble.on(url)
    const makeRoom = fillUp(join(disk.path, "ballast"))
    await trouble.isRefused("store/full", { status: 507 })
    makeRoom()
    await trouble.recovers()
  }, 180_000)
})
