import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { call, openSession, openStage, type Stage } from "../clients/stage.ts"
import { type FakeAgent, FakeRunner } from "./fake-runner.ts"
import { eventsOf, launch, rest, send, WAIT } from "./launching.ts"

async function launched(stage: Stage, body: Record<string, unknown> = { cwd: "/srv" }) {
  const runner = await FakeRunner.connect(stage)
  const { body: session } = await launch(stage, body)
  const agent = await runner.agent()
  agent.init({ cwd: "/srv", model: "opus", permissionMode: "acceptEdits" })
  agent.result()
  await agent.allAcked()
  return { runner, id: session.id, agent }
}

function becomes(stage: Stage, id: string, state: string): Promise<void> {
  return expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe(state)
}

async function park(stage: Stage, id: string, agent: FakeAgent): Promise<void> {
  agent.exit({ reason: "it was idle", parked: true })
  await expect
    .poll(async () => (await eventsOf(stage, id)).filter(({ subtype }) => subtype === "parked").length, WAIT)
    .toBeGreaterThan(0)
  await agent.allAcked()
}

describe("the life of an agent on a runner", () => {
  it("[HR30] ends with its process, and takes its asks along", async () => {
    const stage = await openStage()
    const { agent, id } = await launched(stage)
    agent.askPermission("q1")
    await becomes(stage, id, "waiting")
    agent.exit({ reason: "killed", signal: "SIGKILL" })
    await becomes(stage, id, "ended")
    expect(await stage.hub.core.getSession(id)).toMatchObject({
      exit: { reason: "killed", signal: "SIGKILL" },
      transport: null,
      pendingAsks: 0,
    })
    const { asks } = (await rest<{ asks: unknown[] }>(stage, "GET", `/api/asks?session=${id}`)).body
    expect(asks).toMatchObject([{ state: "orphaned" }])
  })

  it("[HR31] a message brings it back, on its runner, with folder, model and mode as they were", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    agent.exit({ reason: "over", code: 0 })
    await becomes(stage, id, "ended")
    const uuid = randomUUID()
    const [first, second] = await Promise.all([send(stage, id, "Go on.", uuid), send(stage, id, "And on.")])
    expect([first.status, second.status]).toEqual([202, 202])
    expect(await runner.spec(1)).toMatchObject({
      session: id,
      resume: agent.sessionId,
      cwd: "/srv",
      model: "opus",
      permissionMode: "acceptEdits",
    })
    const next = await runner.agent(1)
    await next.hears("Go on.")
    await next.hears("And on.")
    expect(runner.asked).toHaveLength(2)
    expect((await stage.hub.core.getSession(id)).exit).toBeUndefined()
    next.exit({ reason: "over", code: 0 })
    await becomes(stage, id, "ended")
    expect(await send(stage, id, "Go on.", uuid)).toMatchObject({ status: 202, body: { seq: first.body.seq } })
    expect((await stage.hub.core.getSession(id)).state).toBe("ended")
  })

  it("[HR31] also after a restart of the hub, with what had waited", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    runner.leave()
    await becomes(stage, id, "disconnected")
    await expect.poll(() => stage.hub.core.runners.list()[0]?.connected, WAIT).toBe(false)
    await send(stage, id, "Waits.")
    agent.isOver = true
    agent.exit({ reason: "over", code: 0 })
    await agent.dial()
    await becomes(stage, id, "ended")
    const again = await stage.reopen()
    expect((await again.hub.core.getSession(id)).state).toBe("ended")
    const back = await FakeRunner.connect(again, { token: runner.token })
    await send(again, id, "Go on.")
    const next = await back.agent()
    await next.hears("Go on.")
    expect(next.prompts).toEqual(["Waits.", "Go on."])
  })

  it("[HR31] one that never had a turn, and of which there is no record, begins anew as the same session", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { cwd: "/srv" })
    const agent = await runner.agent()
    agent.init()
    agent.exit({ reason: "over", code: 1 })
    await becomes(stage, body.id, "ended")
    runner.refusal = { code: "runner/no-transcript", message: "there is no record" }
    runner.refusesResumesOnly = true
    expect((await send(stage, body.id, "Begin.")).status).toBe(202)
    const { resume } = await runner.spec(2)
    expect(resume).toBeUndefined()
    const next = await runner.agent(2)
    await next.hears("Begin.")
    next.init()
    await expect.poll(async () => (await stage.hub.core.getSession(body.id)).agentSessionId, WAIT).toBe(next.sessionId)
    expect((await stage.hub.core.getSession(body.id)).next).toBeUndefined()
  })

  it("[HR31] where it cannot be brought back it is told why", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    agent.exit({ reason: "over", code: 0 })
    await becomes(stage, id, "ended")
    runner.refusal = { code: "runner/no-folder", message: "/srv is gone" }
    const refused = await send(stage, id, "Go on.")
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: "session/no-agent" }, reason: "runner/no-folder" },
    })
    expect(refused.body.error?.message).toContain("/srv is gone")
    runner.leave()
    await expect.poll(() => stage.hub.core.runners.list()[0]?.connected, WAIT).toBe(false)
    const away = await send(stage, id, "Go on.")
    expect(away).toMatchObject({ status: 409, body: { error: { code: "session/no-agent" }, reason: "runner/away" } })
    const byHand = await openSession(stage)
    await call(stage, "DELETE", `/api/sessions/${byHand.id}`)
    expect(await send(stage, byHand.id, "Go on.")).toMatchObject({
      status: 409,
      body: { error: { code: "session/no-agent" } },
    })
    expect((await eventsOf(stage, id)).filter(({ type }) => type === "user")).toEqual([])
  })

  it("[HR32] parked it is idle to everybody, and a message brings it back by itself", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await park(stage, id, agent)
    expect(await stage.hub.core.getSession(id)).toMatchObject({ state: "idle", transport: null })
    expect((await stage.hub.core.getSession(id)).exit).toBeUndefined()
    expect((await rest(stage, "POST", `/api/sessions/${id}/interrupt`)).status).toBe(200)
    expect(runner.asked).toHaveLength(1)
    expect((await send(stage, id, "Wake up.")).status).toBe(202)
    expect(await runner.spec(1)).toMatchObject({ resume: agent.sessionId, cwd: "/srv" })
    await (await runner.agent(1)).hears("Wake up.")
  })

  it("[HR32] a message that was on its way to a process that was being parked is not lost", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await send(stage, id, "Just now.")
    await agent.hears("Just now.")
    agent.exit({ reason: "it was idle", parked: true })
    await (await runner.agent(1)).hears("Just now.")
    expect((await eventsOf(stage, id)).filter(({ subtype }) => subtype === "message_unknown")).toEqual([])
  })

  it("[HR32] parked it stays over a restart of the hub, and what waits goes to it when its runner is back", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await park(stage, id, agent)
    const again = await stage.reopen()
    expect((await again.hub.core.getSession(id)).state).toBe("idle")
    expect((await send(again, id, "Wake up.")).status).toBe(202)
    const back = await FakeRunner.connect(again, { token: runner.token })
    await (await back.agent()).hears("Wake up.")
  })

  it("[HR32] a runner that is full is asked again; one that refuses for good ends the session with its reason", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await park(stage, id, agent)
    runner.refusal = { code: "runner/full", message: "stop one" }
    await send(stage, id, "Wake up.")
    await runner.spec(1)
    const stats = { op: "stats", memoryBytes: 0, freeMemoryBytes: 0, loadAverage: 0, agents: [] } as const
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("idle")
    runner.refusal = { code: "runner/no-folder", message: "/srv is gone" }
    await expect
      .poll(() => {
        runner.say(stats)
        return stage.hub.core.getSession(id)
      }, WAIT)
      .toMatchObject({ state: "ended", exit: { reason: expect.stringContaining("/srv is gone") as string } })
  })

  it("[HR32] a control request wakes it too", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await park(stage, id, agent)
    const body = { request: { subtype: "set_model", model: "haiku" } }
    expect((await rest(stage, "POST", `/api/sessions/${id}/control`, { body })).status).toBe(200)
    const woken = await runner.agent(1)
    expect(woken.heard).toContainEqual(expect.objectContaining({ request: body.request }))
  })

  it("[HR33] while its runner is away it is disconnected and messages wait; then it comes back by itself", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    runner.leave()
    await becomes(stage, id, "disconnected")
    // Its agent's connection and its own end one after the other.
    await expect.poll(async () => (await stage.hub.core.getSession(id)).runnerSeenAt, WAIT).toBeDefined()
    expect((await send(stage, id, "Later.")).status).toBe(202)
    await FakeRunner.connect(stage, { token: runner.token, agents: [agent] })
    await agent.dial()
    await agent.hears("Later.")
  })

  it("[HR34] processes that a killed runner lost end their sessions, which can be resumed", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    agent.askPermission("q1")
    await becomes(stage, id, "waiting")
    agent.say({ type: "said", text: "unsent" })
    runner.leave()
    await becomes(stage, id, "disconnected")
    const cut = [{ spawn: agent.spawn, session: id, reason: "the runner was killed" }]
    const back = await FakeRunner.connect(stage, { token: runner.token, cut })
    await becomes(stage, id, "ended")
    expect(await stage.hub.core.getSession(id)).toMatchObject({
      exit: { reason: "the runner was killed" },
      pendingAsks: 0,
    })
    await expect.poll(() => back.told, WAIT).toContainEqual({ ev: "noted", spawns: [agent.spawn] })
    agent.isOver = true
    agent.say({ type: "said", text: "found on the disk" })
    agent.exit({ reason: "the runner was killed" })
    await agent.dial()
    await expect.poll(() => agent.unacked, WAIT).toBe(0)
    expect(await eventsOf(stage, id)).toContainEqual({ type: "said", text: "found on the disk" })
    await send(stage, id, "Go on.")
    await (await back.agent()).hears("Go on.")
  })

  it("[HR36] is stopped by DELETE, and a message brings it back", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    const stopped = await rest(stage, "DELETE", `/api/sessions/${id}`)
    expect(stopped.body).toMatchObject({ state: "ended", exit: { reason: "stopped by admin", signal: "SIGTERM" } })
    expect((await runner.request("stop")).request).toMatchObject({ spawn: agent.spawn })
    expect(agent.heard).toContainEqual(expect.objectContaining({ request: { subtype: "end_session" } }))
    await send(stage, id, "Once more.")
    await (await runner.agent(1)).hears("Once more.")
  })

  it("[HR36] stopped while its runner is away it ends at once, and its process when the runner is back", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    runner.leave()
    await becomes(stage, id, "disconnected")
    await expect.poll(() => stage.hub.core.runners.list()[0]?.connected, WAIT).toBe(false)
    expect((await rest(stage, "DELETE", `/api/sessions/${id}`)).body).toMatchObject({ state: "ended" })
    const back = await FakeRunner.connect(stage, { token: runner.token, agents: [agent] })
    expect((await back.request("stop")).request).toMatchObject({ spawn: agent.spawn })
  })

  it("[HR36] a parked one is stopped without being woken", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await park(stage, id, agent)
    expect((await rest(stage, "DELETE", `/api/sessions/${id}`)).body).toMatchObject({ state: "ended" })
    expect(runner.asked).toHaveLength(1)
  })

  it("[HR37] a mode that asks nobody comes back only where the session was launched with it", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage, { permissionMode: "plan" })
    agent.init({ permissionMode: "bypassPermissions" })
    agent.exit({ reason: "over", code: 0 })
    await becomes(stage, id, "ended")
    await send(stage, id, "Go on.")
    expect((await runner.spec(1)).permissionMode).toBe("plan")
    const bypass = await launch(stage, { permissionMode: "bypassPermissions" })
    const other = await runner.agent(2)
    other.init({ permissionMode: "bypassPermissions" })
    other.exit({ reason: "over", code: 0 })
    await becomes(stage, bypass.body.id, "ended")
    await send(stage, bypass.body.id, "Go on.")
    expect((await runner.spec(3)).permissionMode).toBe("bypassPermissions")
  })

  it("[HR37] auto comes back as long as operators may choose it, and no longer", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage, { permissionMode: "plan" })
    const setting = (operatorsMayUseAuto: boolean) => call(stage, "PUT", "/api/settings", { operatorsMayUseAuto })
    const modeOfNext = async (last: FakeAgent, nth: number) => {
      last.init({ permissionMode: "auto" })
      last.exit({ reason: "over", code: 0 })
      await becomes(stage, id, "ended")
      await send(stage, id, "Go on.")
      return (await runner.spec(nth)).permissionMode
    }
    await setting(true)
    expect(await modeOfNext(agent, 1)).toBe("auto")
    await setting(false)
    expect(await modeOfNext(await runner.agent(1), 2)).toBe("plan")
  })
})
