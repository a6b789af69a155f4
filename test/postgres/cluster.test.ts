import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { describe, expect, it } from "vitest"
import type { HubProcess, Json } from "../hub/hub-process.ts"
import { quietPort } from "../quiet-port.ts"
import { ASKING_TURNS, expectWhole, pendingAsk, WORDS } from "../runner/turns.ts"
import { hasPostgres } from "./server.ts"
import { isIn, openMachine, openTwo, selfOf, sharing, startBeside } from "./several-hubs.ts"

/** Before the hubs, as a balancer stands there: runners' control connections go to one, and their agents' to another while that is there. */
class Balancer {
  readonly #server = createServer((socket) => this.#take(socket))
  readonly #sockets = new Set<Socket>()
  port = 0
  control = ""
  agents = ""

  static async open(): Promise<Balancer> {
    const balancer = new Balancer()
    balancer.port = await quietPort()
    balancer.#server.listen(balancer.port, "127.0.0.1")
    await once(balancer.#server, "listening")
    return balancer
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, "close")
  }

  #take(socket: Socket): void {
    this.#keep(socket)
    socket.once("data", (head: Buffer) => {
      socket.pause()
      const isAgent = head.includes("/runner/agents/")
      const to = connect({ host: "127.0.0.1", port: Number(new URL(isAgent ? this.agents : this.control).port) })
      this.#keep(to)
      to.write(head)
      socket.pipe(to).pipe(socket)
      for (const [one, other] of [
        [socket, to],
        [to, socket],
      ] as const)
        one.on("close", () => other.destroy())
    })
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => this.#sockets.delete(socket))
  }
}

describe.runIf(hasPostgres)("two hubs on one database", () => {
  it("[CT20] [CT21] [CT22] a session is launched, steered, answered and stopped on the hub that does not have its agent", async () => {
    const { at, beside } = await openTwo()
    const { id } = await beside.post("/api/sessions", { agent: "simulator", cwd: at.cwd })
    await isIn(beside, id, "idle")
    await expect.poll(async () => (await at.session(id)).owner, { timeout: 30_000 }).toBe(await selfOf(at.hub))
    expect((await beside.get(`/api/sessions/${id}`)).owner).toBe(await selfOf(at.hub))

    await beside.post(`/api/sessions/${id}/messages`, { content: "speak" })
    await isIn(beside, id, "running")
    await isIn(beside, id, "idle")
    await beside.post(`/api/sessions/${id}/messages`, { content: "ask" })
    const ask = await pendingAsk(at, id)
    expect((await beside.get(`/api/sessions/${id}`)).pendingAsks).toBe(1)
    const answers = await Promise.all(
      [beside, at.hub, beside, at.hub].map((hub) =>
        hub.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error?.code === "ask/settled")).toHaveLength(3)
    await isIn(beside, id, "idle")
    expectWhole(await at.events(id), [`Turn 0: ${WORDS}`, "Asked 0."])

    const mode = { request: { subtype: "set_permission_mode", mode: "plan" } }
    expect(await beside.call("POST", `/api/sessions/${id}/control`, mode)).toMatchObject({ status: 200 })
    expect((await beside.call("PATCH", `/api/sessions/${id}`, { title: "by the other" })).body).toMatchObject({
      title: "by the other",
    })
    expect(await beside.call("DELETE", `/api/sessions/${id}`)).toMatchObject({ status: 200, body: { state: "ended" } })
    expect(at.processes()).toEqual([])
    const key = { agent: "simulator", cwd: at.cwd, requestKey: "once" }
    const twice = await Promise.all([beside, at.hub].map((hub) => hub.post("/api/sessions", key)))
    expect(new Set(twice.map((session) => session.id)).size).toBe(1)
  }, 180_000)

  it("[CT23] the hub of an agent is killed in the middle of a turn: the other one shows it, and nothing is lost when the agent is back", async () => {
    const { at, beside } = await openTwo()
    const { id } = await at.launch()
    await at.say(id, "speak")
    await isIn(beside, id, "running")
    await at.hub.kill()
    await isIn(beside, id, "disconnected")
    const late = await beside.call("POST", `/api/sessions/${id}/messages`, { content: "ask" })
    expect(late.status).toBe(202)
    await at.restartHub()
    const ask = await pendingAsk(at, id)
    expect((await beside.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" })).status).toBe(200)
    await isIn(beside, id, "idle")
    expectWhole(await at.events(id), [`Turn 0: ${WORDS}`, "Asked 0."])
  }, 180_000)

  it("[CT5] [CT24] a hub that was stopped for longer than its lease writes nothing of what another has taken over, and goes on with its agents", async () => {
    const { at, beside } = await openTwo()
    const { id } = await at.launch()
    await at.say(id, "speak")
    await isIn(beside, id, "running")
    at.hub.signal("SIGSTOP")
    await isIn(beside, id, "disconnected")
    // 503 as long as the other one's lease has not run out for both the hub and the database.
    const rename = async () => (await beside.call("PATCH", `/api/sessions/${id}`, { title: "taken over" })).status
    await expect.poll(rename, { timeout: 30_000 }).toBe(200)
    expect((await beside.get(`/api/sessions/${id}`)).owner).toBe(await selfOf(beside))
    at.hub.signal("SIGCONT")
    await expect
      .poll(async () => (await at.hub.call("GET", `/api/sessions/${id}`)).body.state, {
        timeout: 60_000,
        message: at.hub.log,
      })
      .toBe("idle")
    expect((await at.session(id)).title).toBe("taken over")
    expectWhole(await at.events(id), [`Turn 0: ${WORDS}`])
  }, 180_000)

  it("[CT31] agents whose connections are at another hub than their runner's are taken, kept, and brought back when that hub is killed", async () => {
    const hubFlags = await sharing()
    const beside = await startBeside(hubFlags)
    const balancer = await Balancer.open()
    try {
      balancer.agents = beside.ready.url
      const reach = (hubUrl: string) => {
        balancer.control = hubUrl
        return `http://127.0.0.1:${balancer.port}`
      }
      const at = await openMachine({ scenario: ASKING_TURNS, hubFlags, reach })
      const sessions = [await at.launch(), await at.launch(), await at.launch()]
      for (const { id } of sessions) {
        await isIn(at.hub, id, "idle")
        await expect.poll(async () => (await at.session(id)).owner, { timeout: 30_000 }).toBe(await selfOf(beside))
        await at.say(id, "speak")
      }
      const processes = at.processes()
      expect(processes).toHaveLength(3)
      for (const { id } of sessions) await isIn(at.hub, id, "running")
      await beside.kill()
      balancer.agents = at.hub.ready.url
      for (const { id } of sessions) {
        await isIn(at.hub, id, "idle")
        expectWhole(await at.events(id), [`Turn 0: ${WORDS}`])
      }
      expect(at.processes()).toEqual(processes)
      for (const { id } of sessions) {
        await at.say(id, "ask")
        const ask = await pendingAsk(at, id)
        expect((await at.hub.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" })).status).toBe(200)
      }
    } finally {
      await balancer.close()
    }
  }, 240_000)

  it("[CT30] [CT40] each hub knows the runners of all; policy, tokens and what is changed of runners on one hub hold on the other at once", async () => {
    const { at, beside } = await openTwo()
    const [{ id }] = (await beside.get("/api/runners")).runners
    expect(await beside.call("GET", `/api/runners/${id}/folders?path=${encodeURIComponent(at.cwd)}`)).toMatchObject({
      status: 200,
      body: { path: at.cwd },
    })
    expect(await beside.call("GET", `/api/runners/${id}/log`)).toMatchObject({ status: 200 })
    await beside.call("PATCH", `/api/runners/${id}`, { draining: true })
    await expect
      .poll(async () => (await at.hub.get("/api/runners")).runners[0].draining, { timeout: 30_000 })
      .toBe(true)

    const made = await at.hub.post("/api/tokens", { role: "viewer", name: "ann" })
    expect((await beside.call("GET", "/api/me", undefined, made.token)).status).toBe(200)
    expect((await at.hub.call("DELETE", `/api/tokens/${made.id}`)).status).toBe(200)
    expect((await beside.call("GET", "/api/me", undefined, made.token)).status).toBe(401)
    const rule = { id: "no-rm", effect: "deny", tool: "Bash", reason: "no" }
    expect(await beside.call("PUT", "/api/policy", { rules: [rule] })).toMatchObject({ status: 200 })
    expect(await at.hub.call("GET", "/api/policy")).toMatchObject({ body: { rules: [{ id: "no-rm" }] } })
  }, 180_000)

  it("[CT41] changes on both hubs at the same time all count: of runs, of signed-in browsers; a forgotten runner is forgotten everywhere", async () => {
    const { at, beside } = await openTwo()
    const hubs = [at.hub, beside]
    const texts = Array.from({ length: 10 }, (_, index) => ({ text: `task ${index + 1}` }))
    const run = await at.hub.post("/api/runs", { title: "All", tasks: texts })
    const patch = (index: number) =>
      hubs[index % 2]?.call("PATCH", `/api/runs/${run.id}/tasks/${index + 1}`, { state: "done" })
    const made = hubs.map((hub) => hub.post("/api/runs", { title: "More", tasks: texts }))
    const replies = await Promise.all(texts.map((_, index) => patch(index)))
    expect(replies.map((reply) => reply?.status)).toEqual(texts.map(() => 200))
    const ids = (await Promise.all(made)).map(({ id }) => id)
    for (const hub of hubs) {
      const kept = await hub.get(`/api/runs/${run.id}`)
      expect(kept.tasks.map(({ state }: Json) => state)).toEqual(texts.map(() => "done"))
      const { runs } = await hub.get("/api/runs")
      expect(runs.map(({ id }: Json) => id)).toEqual(expect.arrayContaining([run.id, ...ids]))
    }

    const tokens = await Promise.all(
      hubs.map((hub) => hub.post("/api/tokens", { role: "viewer", name: `person at ${hub.ready.url}` })),
    )
    const signIn = async (hub: HubProcess, { token }: Json) => {
      const reply = await fetch(`${hub.ready.url}/api/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token }),
      })
      expect(reply.status).toBe(200)
      return (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
    }
    const [one, other] = await Promise.all([signIn(at.hub, tokens[0]), signIn(beside, tokens[1])])
    const me = async (hub: HubProcess, cookie: string) =>
      (await fetch(`${hub.ready.url}/api/me`, { headers: { cookie } })).status
    for (const hub of hubs) for (const cookie of [one, other]) expect(await me(hub, cookie)).toBe(200)
    const signOut = (hub: HubProcess, cookie: string) =>
      fetch(`${hub.ready.url}/api/logout`, { method: "POST", headers: { cookie, origin: hub.ready.url } })
    const [, third] = await Promise.all([signOut(at.hub, one), signIn(beside, tokens[1])])
    for (const hub of hubs)
      expect([await me(hub, one), await me(hub, other), await me(hub, third)]).toEqual([401, 200, 200])

    const [{ id }] = (await beside.get("/api/runners")).runners
    await at.endRunner("SIGTERM")
    const isAway = async () => (await beside.get("/api/runners")).runners.map((runner: Json) => runner.connected)
    await expect.poll(isAway, { timeout: 30_000 }).toEqual([false])
    expect((await beside.call("DELETE", `/api/runners/${id}`)).status).toBe(200)
    const listed = async () => Promise.all(hubs.map(async (hub) => (await hub.get("/api/runners")).runners.length))
    await expect.poll(listed, { timeout: 30_000 }).toEqual([0, 0])
  }, 180_000)
})
