import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect } from "vitest"
import { abuseCase, Bystander, expectUnharmed, healthMs, Stage } from "./abuse-actors.ts"
import type { HubProcess, Json } from "./hub-process.ts"

const stage = new Stage()
afterEach(() => stage.end())

const SIGNALBOX = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "packages/cli/bin/signalbox.mjs")
const DISK_MB = 24
const [MOUNT, UNMOUNT] = ["mount", "umount"]
const POLL = { timeout: 20_000, interval: 50 }

/** A small disk of its own, or why there is none. */
function mountDisk(): { path: string } | { problem: string } {
  const path = mkdtempSync(join(tmpdir(), "signalbox-disk-"))
  try {
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", `size=${DISK_MB}m,mode=0700`, "tmpfs", path], { stdio: "pipe" })
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

/** Whether this machine lets us mount at all, said once and loudly; in CI not being able to is a failure. */
const trial = mountDisk()
if ("path" in trial) unmount(trial.path)
else process.stderr.write(`NOT TESTED: a full disk. None can be mounted here (root may): ${trial.problem}\n`)
const isPossible = "path" in trial || process.env["CI"] === "true"

async function hubOnSmallDisk(): Promise<{ hub: HubProcess; fill: () => () => void }> {
  const disk = mountDisk()
  if (!("path" in disk)) throw new Error(disk.problem)
  stage.onEnd(() => unmount(disk.path))
  const hub = await stage.hub(["--data", disk.path])
  return { hub, fill: () => fillUp(join(disk.path, "ballast")) }
}

/** Returns what makes room again. */
function fillUp(file: string): () => void {
  const handle = openSync(file, "w")
  for (let size = 1024 * 1024; size >= 1; ) {
    try {
      writeSync(handle, Buffer.alloc(size))
    } catch {
      size = Math.floor(size / 2)
    }
  }
  closeSync(handle)
  return () => rmSync(file)
}

async function everything(hub: HubProcess, id: string): Promise<Json[]> {
  return (await hub.get(`/api/sessions/${id}/events?limit=500`)).events
}

describe.runIf(isPossible)("a full disk", () => {
  abuseCase(
    "[AB28] new input is refused at once, reading goes on, nothing confirmed is lost, and it recovers by itself",
    async () => {
      const { hub, fill } = await hubOnSmallDisk()
      const bystander = await Bystander.on(stage, hub)
      const agent = await stage.agent(hub)
      const messages = `/api/sessions/${agent.sessionId}/messages`
      const confirmed: string[] = []
      const refused: string[] = []
      const send = async () => {
        const uuid = crypto.randomUUID()
        const reply = await hub.call("POST", messages, { content: "x".repeat(1_000), uuid })
        if (reply.status === 202) confirmed.push(uuid)
        else refused.push(uuid)
        return reply
      }
      for (let n = 0; n < 10; n += 1) expect((await send()).status).toBe(202)
      const requestId = agent.ask()
      const pending = () => hub.get(`/api/asks?state=pending&session=${agent.sessionId}`)
      await expect.poll(async () => (await pending()).asks.length, POLL).toBe(1)
      const ask = (await pending()).asks[0]

      const makeRoom = fill()
      await expect.poll(async () => (await send()).status, POLL).toBe(507)
      const startedAt = performance.now()
      const answer = await hub.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" })
      expect(answer).toMatchObject({ status: 507, body: { error: { code: "store/full" } } })
      expect((await send()).body.error.code).toBe("store/full")
      expect((await hub.call("POST", "/api/tokens", { role: "viewer" })).status).toBe(507)
      expect(performance.now() - startedAt, "three refusals did not wait for room").toBeLessThan(3_000)
      const said = Array.from({ length: 50 }, (_, n) => agent.speak(`while full ${n}`))
      const late = agent.ask({ command: "late" })
      expect((await everything(hub, agent.sessionId)).length).toBeGreaterThan(10)
      expect((await pending()).asks[0].state).toBe("pending")
      expect((await hub.call("GET", "/readyz")).status).toBe(503)
      expect(await healthMs(hub)).toBeLessThan(1_000)
      expect(agent.socket.lines.some((line) => line.response?.request_id === requestId)).toBe(false)

      makeRoom()
      await expect.poll(async () => (await send()).status, POLL).toBe(202)
      expect((await hub.call("GET", "/readyz")).status).toBe(200)
      expect((await hub.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" })).status).toBe(200)
      await agent.socket.until((line) => line.response?.request_id === requestId)
      const lastSaid = async () =>
        (await everything(hub, agent.sessionId)).some((event) => event.message.request_id === late)
      await expect.poll(lastSaid, POLL).toBe(true)
      const events = await everything(hub, agent.sessionId)
      expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
      const uuids = events.flatMap((event) => event.message.uuid ?? [])
      expect(uuids.filter((uuid) => confirmed.includes(uuid))).toEqual(confirmed)
      expect(uuids.filter((uuid) => refused.includes(uuid))).toEqual([])
      expect(uuids.filter((uuid) => said.includes(uuid))).toEqual(said)
      await expectUnharmed(hub, bystander, { expectedErrors: /the store cannot be written/ })
    },
  )

  abuseCase("[AB34] a launch is refused at once, and `new` says why; no agent is started", async () => {
    const { hub, fill } = await hubOnSmallDisk()
    const agent = await stage.agent(hub)
    const { token } = await hub.post("/api/tokens", { role: "runner" })
    const data = mkdtempSync(join(tmpdir(), "signalbox-runner-"))
    stage.onEnd(() => rmSync(data, { recursive: true, force: true }))
    const args = [SIGNALBOX, "runner", "--hub", hub.ready.url, "--data", data]
    const runner = spawn(process.execPath, args, { env: { ...process.env, SIGNALBOX_TOKEN: token }, stdio: "ignore" })
    stage.onEnd(async () => {
      runner.kill()
      await once(runner, "exit")
    })
    const connected = async () => (await hub.get("/api/runners")).runners[0]
    await expect.poll(async () => (await connected())?.connected, POLL).toBe(true)
    fill()
    const send = { content: "x".repeat(1_000) }
    const full = async () => (await hub.call("POST", `/api/sessions/${agent.sessionId}/messages`, send)).status
    await expect.poll(full, POLL).toBe(507)
    const launch = { agent: "simulator" }
    const refused = await hub.call("POST", "/api/sessions", launch)
    expect(refused).toMatchObject({ status: 507, body: { error: { code: "store/full" } } })
    const env = { PATH: process.env["PATH"], SIGNALBOX_URL: hub.ready.url, SIGNALBOX_TOKEN: hub.ready.token }
    const command = [SIGNALBOX, "new", "--agent", "simulator"]
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: "utf8", timeout: 60_000, env })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^signalbox: The disk is full: .*Free some space\.\n$/)])
    expect((await connected()).agents).toBe(0)
    expect((await hub.get("/api/sessions")).sessions).toHaveLength(1)
  })

  abuseCase(
    "[AB29] told to stop while the disk is full and an agent talks on, it stops, and keeps what it had confirmed",
    async () => {
      const { hub, fill } = await hubOnSmallDisk()
      const agent = await stage.agent(hub)
      const { uuid } = await hub.post(`/api/sessions/${agent.sessionId}/messages`, { content: "kept" })
      const makeRoom = fill()
      const full = async () =>
        (await hub.call("POST", `/api/sessions/${agent.sessionId}/messages`, { content: "x".repeat(1_000) })).status
      await expect.poll(full, POLL).toBe(507)
      const talk = async () => {
        for (let n = 0; n < 50_000 && agent.socket.isOpen; n += 1) {
          agent.speak("x".repeat(1_000))
          await agent.socket.drained()
        }
      }
      const talking = talk()
      const startedAt = performance.now()
      expect(await hub.stop()).toBe(0)
      expect(performance.now() - startedAt, "it stopped by itself").toBeLessThan(20_000)
      await talking
      makeRoom()
      await hub.startAgain()
      const events = await everything(hub, agent.sessionId)
      expect(events.some((event) => event.message.uuid === uuid)).toBe(true)
      expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
    },
  )
})
