import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { DoorSocket } from "../../src/runners/door-socket.ts"
import { call, openStage, type Stage, tokenOf } from "../clients/stage.ts"
import { dial, FakeRunner, factsOf } from "./fake-runner.ts"
import { RUNNER, rest, WAIT } from "./launching.ts"

interface RunnerList {
  readonly runners: Record<string, unknown>[]
}

async function runnersOf(stage: Stage): Promise<Record<string, unknown>[]> {
  return (await rest<RunnerList>(stage, "GET", "/api/runners")).body.runners
}

async function refusal(stage: Stage, path: string, headers: Record<string, string>): Promise<number | undefined> {
  const socket = new WebSocket(`${stage.wsUrl}${path}`, { headers })
  socket.on("error", () => undefined)
  const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage]
  response.resume()
  return response.statusCode
}

describe("the doors for runners", () => {
  it("[HR1] are opened by a runner's token alone, and not to pages of elsewhere", async () => {
    const stage = await openStage()
    const [{ token }, operator] = [await tokenOf(stage, "runner"), await tokenOf(stage, "operator")]
    for (const path of ["/runner/control", "/runner/agents/one"]) {
      expect(await refusal(stage, path, {})).toBe(401)
      expect(await refusal(stage, path, { authorization: "Bearer wrong" })).toBe(401)
      expect(await refusal(stage, path, { authorization: `Bearer ${stage.hub.admin.token}` })).toBe(403)
      expect(await refusal(stage, path, { authorization: `Bearer ${operator.token}` })).toBe(403)
      const bearer = { authorization: `Bearer ${token}` }
      expect(await refusal(stage, path, { ...bearer, origin: "https://elsewhere.example" })).toBe(403)
      expect(await refusal(stage, path, { ...bearer, host: "elsewhere.example" })).toBe(403)
    }
    expect(await refusal(stage, "/runner/elsewhere", { authorization: `Bearer ${token}` })).toBe(404)
  })

  it("[HR1] a token that is revoked closes what was opened with it", async () => {
    const stage = await openStage()
    const { id, token } = await tokenOf(stage, "runner")
    const runner = await FakeRunner.connect(stage, { token })
    await call(stage, "DELETE", `/api/tokens/${id}`)
    expect(await runner.closed).toBe(4001)
    await expect.poll(() => runnersOf(stage), WAIT).toMatchObject([{ connected: false }])
  })

  it("[HR2] whoever does not answer a ping is cut off at the next", async () => {
    const server = createServer()
    const sockets = new WebSocketServer({ server })
    onTestFinished(() => {
      sockets.close()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const accepted = once(sockets, "connection") as Promise<[WebSocket]>
    const { port } = server.address() as AddressInfo
    const silent = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong: false })
    const door = new DoorSocket({ socket: (await accepted)[0], caller: RUNNER })
    await once(silent, "open")
    const pinged = once(silent, "ping")
    door.checkAlive()
    await pinged
    door.checkAlive()
    expect(await door.closed).toContain("1006")
  })

  it("[HR2] a close reason that is too long is cut between two characters, and the connection is closed", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
    onTestFinished(() => server.close())
    await once(server, "listening")
    const accepted = once(server, "connection") as Promise<[WebSocket]>
    const { port } = server.address() as AddressInfo
    const peer = new WebSocket(`ws://127.0.0.1:${port}`)
    const door = new DoorSocket({ socket: (await accepted)[0], caller: RUNNER })
    await once(peer, "open")
    const closed = once(peer, "close") as Promise<[number, Buffer]>
    await door.end(1012, "ü".repeat(100))
    const [code, reason] = await closed
    expect([code, reason.toString()]).toEqual([1012, "ü".repeat(61)])
  })

  it("[HS161] the socket of one who says more than is read is paused at a megabyte, and read on later; nothing is lost", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
    onTestFinished(() => server.close())
    await once(server, "listening")
    const accepted = once(server, "connection") as Promise<[WebSocket]>
    const { port } = server.address() as AddressInfo
    const loud = new WebSocket(`ws://127.0.0.1:${port}`)
    const [socket] = await accepted
    const door = new DoorSocket({ socket, caller: RUNNER })
    const first = door.first()
    await once(loud, "open")
    const lines = Array.from({ length: 400 }, (_, n) => `L${n} ${"x".repeat(10_000)}`)
    loud.send("attach\n")
    for (let n = 0; n < lines.length; n += 10) loud.send(lines.slice(n, n + 10).join("\n"))
    loud.close(1000)
    expect(await first).toBe("attach")
    await expect.poll(() => socket.isPaused, WAIT).toBe(true)
    expect(door.lines.waitingChars).toBeLessThan(1_500_000)
    const read: string[] = []
    for await (const line of door.lines) read.push(line)
    expect(read).toEqual(lines)
    expect(await door.closed).toContain("1000")
  })

  it("[AB35] a frame of more lines than any runner sends is refused before one of them is taken", async () => {
    const stage = await openStage()
    const { token } = await tokenOf(stage, "runner")
    const hello = JSON.stringify({ op: "hello", runner: factsOf(), agents: [], cut: [] })
    for (const path of ["/runner/control", "/runner/agents/one"]) {
      const socket = await dial(stage, path, token)
      const closed = once(socket, "close") as Promise<[number]>
      socket.send(`${hello}${"\n".repeat(100_000)}`)
      expect((await closed)[0]).toBe(1009)
    }
    expect(await runnersOf(stage)).toEqual([])
    const runner = await FakeRunner.connect(stage)
    runner.say({ op: "stats", memoryBytes: 7, freeMemoryBytes: 0, loadAverage: 0, agents: [] }, "\n".repeat(99_000))
    await expect.poll(() => runnersOf(stage), WAIT).toMatchObject([{ memoryBytes: 7 }])
  })

  it("[HR3] whoever waits for the first line of a connection that is over is told so", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
    onTestFinished(() => server.close())
    await once(server, "listening")
    const accepted = once(server, "connection") as Promise<[WebSocket]>
    const { port } = server.address() as AddressInfo
    const peer = new WebSocket(`ws://127.0.0.1:${port}`)
    const door = new DoorSocket({ socket: (await accepted)[0], caller: RUNNER })
    const before = door.first()
    await once(peer, "open")
    peer.close()
    await door.closed
    expect(await before).toBeUndefined()
    expect(await door.first()).toBeUndefined()
  })

  it("[HR3] a connection that does not begin as a runner's does is closed", async () => {
    const stage = await openStage()
    const { token } = await tokenOf(stage, "runner")
    for (const path of ["/runner/control", "/runner/agents/one"]) {
      for (const first of ["no JSON", '{"op":"stats"}', "[]"]) {
        const socket = await dial(stage, path, token)
        const closed = once(socket, "close") as Promise<[number]>
        socket.send(first)
        expect((await closed)[0]).toBe(4001)
      }
    }
  })

  it("[HR4] a runner that is away is still known, over a restart of the hub too", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    expect(await runnersOf(stage)).toMatchObject([
      { id: "runner-1", name: "box", connected: true, maxAgents: 4, labels: ["gpu"], cliVersions: ["2.1.325"] },
    ])
    runner.leave()
    await expect.poll(() => runnersOf(stage), WAIT).toMatchObject([{ id: "runner-1", connected: false }])
    const again = await stage.reopen()
    expect(await runnersOf(again)).toMatchObject([{ id: "runner-1", name: "box", connected: false, agents: 0 }])
  })

  it("[HR4] of two with the same id the newer is the one that counts", async () => {
    const stage = await openStage()
    const first = await FakeRunner.connect(stage)
    await FakeRunner.connect(stage, { facts: { name: "newer" } })
    expect(await first.closed).toBe(4001)
    expect(await runnersOf(stage)).toMatchObject([{ name: "newer", connected: true }])
  })

  it("[HR5] folders and recorded sessions are told as the runner tells them, or why they are not", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const folders = { path: "/", parent: null, folders: [{ name: "a", path: "/a", isGit: true }], more: false }
    const asked = rest(stage, "GET", "/api/runners/runner-1/folders?path=/")
    const { id, request } = await runner.request("folders")
    expect(request).toEqual({ kind: "folders", path: "/" })
    runner.reply(id, folders)
    expect(await asked).toEqual({ status: 200, body: folders })
    const listed = rest(stage, "GET", "/api/runners/runner-1/sessions?cwd=/a")
    const sessions = { sessions: [], more: false }
    runner.reply((await runner.request("sessions")).id, sessions)
    expect(await listed).toEqual({ status: 200, body: sessions })
    const refused = rest(stage, "GET", "/api/runners/runner-1/folders?path=/nowhere")
    const { id: refusedId } = await runner.request("folders", 1)
    runner.say({ op: "refused", id: refusedId, code: "runner/no-folder", message: "make it" })
    expect(await refused).toEqual({ status: 422, body: { error: { code: "runner/no-folder", message: "make it" } } })
    expect(await rest(stage, "GET", "/api/runners/nobody/folders")).toMatchObject({
      status: 404,
      body: { error: { code: "runner/unknown" } },
    })
    const cutOff = rest(stage, "GET", "/api/runners/runner-1/sessions")
    await runner.request("sessions", 1)
    runner.cut()
    expect(await cutOff).toMatchObject({ status: 409, body: { error: { code: "runner/away" } } })
    expect(await rest(stage, "GET", "/api/runners/runner-1/sessions")).toMatchObject({
      status: 409,
      body: { error: { code: "runner/away" } },
    })
  })

  it("[HR9] the last lines of a runner's log are told as it tells them, to operators", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const log = { lines: [{ at: "2026-01-01T00:00:00.000Z", level: "info", text: "Connected to hub" }], more: true }
    const asked = rest(stage, "GET", "/api/runners/runner-1/log?lines=1")
    const { id, request } = await runner.request("log")
    expect(request).toEqual({ kind: "log", lines: 1 })
    runner.reply(id, log)
    expect(await asked).toEqual({ status: 200, body: log })
    expect(await rest(stage, "GET", "/api/runners/runner-1/log?lines=501")).toMatchObject({ status: 400 })
    expect(await rest(stage, "GET", "/api/runners/nobody/log")).toMatchObject({
      status: 404,
      body: { error: { code: "runner/unknown" } },
    })
    runner.leave()
    await expect.poll(() => runnersOf(stage), WAIT).toMatchObject([{ connected: false }])
    expect(await rest(stage, "GET", "/api/runners/runner-1/log")).toMatchObject({
      status: 409,
      body: { error: { code: "runner/away" } },
    })
  })

  it("[HR7] a runner that is away is forgotten on request, one that is here is not", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    expect(await rest(stage, "DELETE", "/api/runners/runner-1")).toMatchObject({
      status: 409,
      body: { error: { code: "runner/connected" } },
    })
    runner.leave()
    await expect.poll(() => runnersOf(stage), WAIT).toMatchObject([{ connected: false }])
    expect(await rest(stage, "DELETE", "/api/runners/runner-1")).toMatchObject({ status: 200, body: { name: "box" } })
    expect(await rest(stage, "DELETE", "/api/runners/runner-1")).toMatchObject({ status: 404 })
    const { body } = await rest<{ records: { what: string }[] }>(stage, "GET", "/api/audit")
    expect(body.records.map(({ what }) => what)).toContain("runner/forgotten")
    const again = await stage.reopen()
    expect(await runnersOf(again)).toEqual([])
    await FakeRunner.connect(again)
    expect(await runnersOf(again)).toMatchObject([{ id: "runner-1", connected: true }])
  })

  it("[HR8] a runner that is drained takes no new agents, until it is opened again", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const launch = () =>
      rest<{ id: string }>(stage, "POST", "/api/sessions", { body: { agent: "simulator", cwd: "/" } })
    const before = await launch()
    expect(before.status).toBe(201)
    const drained = await rest(stage, "PATCH", "/api/runners/runner-1", { body: { draining: true } })
    expect(drained).toMatchObject({ status: 200, body: { draining: true, connected: true } })
    expect(await launch()).toMatchObject({ status: 409, body: { error: { code: "runner/draining" } } })
    runner.leave()
    const again = await stage.reopen()
    await FakeRunner.connect(again)
    expect(await runnersOf(again)).toMatchObject([{ draining: true, connected: true }])
    const refused = await rest(again, "POST", "/api/sessions", {
      body: { agent: "simulator", cwd: "/", runner: "box" },
    })
    expect(refused).toMatchObject({ status: 409, body: { error: { code: "runner/draining" } } })
    expect(await rest(again, "PATCH", "/api/runners/nobody", { body: { draining: true } })).toMatchObject({
      status: 404,
    })
    await rest(again, "PATCH", "/api/runners/runner-1", { body: { draining: false } })
    expect((await rest(again, "POST", "/api/sessions", { body: { agent: "simulator", cwd: "/" } })).status).toBe(201)
  })

  it("[HR6] what a runner says of itself and its agents is told, and counted", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const usage = { spawn: "p", session: "s", pid: 1, memoryBytes: 500, cpuPercent: 12.5 }
    runner.say({ op: "stats", memoryBytes: 100, freeMemoryBytes: 900, loadAverage: 0.5, agents: [usage] })
    await expect
      .poll(() => runnersOf(stage), WAIT)
      .toMatchObject([
        {
          agents: 1,
          memoryBytes: 600,
          freeMemoryBytes: 900,
          loadAverage: 0.5,
          cpuPercent: 12.5,
          host: "box.example",
          platform: "linux",
          hasSimulator: true,
          home: "/home/box",
          usage: [{ session: "s", memoryBytes: 500, cpuPercent: 12.5 }],
        },
      ])
    const metrics = () => fetch(`${stage.url}/metrics`).then((reply) => reply.text())
    expect(await metrics()).toContain("signalbox_runners 1")
    runner.leave()
    await expect.poll(metrics, WAIT).toContain("signalbox_runners 0")
  })
})
