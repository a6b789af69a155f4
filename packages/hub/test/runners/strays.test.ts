import { describe, expect, it } from "vitest"
import { HubError } from "../../src/errors.ts"
import { StrayProcesses } from "../../src/runners/process-endings.ts"
import { openStage, type Stage } from "../clients/stage.ts"
import { FakeAgent, FakeRunner } from "./fake-runner.ts"
import { eventsOf, launch, rest, send, WAIT } from "./launching.ts"

const STATS = { op: "stats", memoryBytes: 0, freeMemoryBytes: 0, loadAverage: 0, agents: [] } as const

async function parked(stage: Stage) {
  const runner = await FakeRunner.connect(stage)
  const { body: session } = await launch(stage, { cwd: "/srv" })
  const agent = await runner.agent()
  agent.init()
  agent.result()
  agent.exit({ reason: "it was idle", parked: true })
  await expect
    .poll(async () => (await eventsOf(stage, session.id)).some(({ subtype }) => subtype === "parked"), WAIT)
    .toBe(true)
  return { runner, id: session.id }
}

/** The runner has heard all that the hub said to it before. */
async function isHeard(stage: Stage, runner: FakeRunner): Promise<void> {
  const listed = rest(stage, "GET", "/api/runners/runner-1/folders")
  const { id } = await runner.request("folders")
  runner.reply(id, { path: "/", parent: null, folders: [], more: false })
  expect((await listed).status).toBe(200)
}

describe("a process that its session does not want", () => {
  it("[HR39] is gone before another is started for the session", async () => {
    const stage = await openStage()
    const { runner, id } = await parked(stage)
    runner.leave()
    await expect.poll(() => stage.hub.core.runners.list()[0]?.connected, WAIT).toBe(false)
    await send(stage, id, "Wake up.")
    const stray = new FakeAgent(stage, runner.token, { spawn: "stray", session: id })
    const back = await FakeRunner.connect(stage, { token: runner.token, agents: [stray], holdsStops: true })
    const stop = await back.request("stop")
    expect(stop.request).toMatchObject({ spawn: "stray" })
    await isHeard(stage, back)
    expect(back.kinds).toEqual(["stop", "folders"])
    back.reply(stop.id, {})
    await (await back.agent()).hears("Wake up.")
  })

  it("[HR39] as one whose start was never confirmed, and one that still has the conversation ends nothing", async () => {
    const stage = await openStage()
    const { runner, id } = await parked(stage)
    runner.isSlow = true
    await send(stage, id, "Wake up.")
    const { spawn } = await runner.spec(1)
    runner.cut()
    await expect.poll(() => stage.hub.core.runners.list()[0]?.connected, WAIT).toBe(false)
    const back = await FakeRunner.connect(stage, { token: runner.token, holdsStops: true })
    back.refusal = { code: "runner/session-in-use", message: "it is open" }
    const stop = await back.request("stop")
    expect(stop.request).toMatchObject({ spawn })
    back.refuse(stop.id, "runner/no-answer")
    await back.spec()
    await isHeard(stage, back)
    expect((await stage.hub.core.getSession(id)).state).toBe("idle")
    back.refusal = undefined
    const again = async () => {
      back.say(STATS)
      return back.kinds.filter((kind) => kind === "stop").length
    }
    await expect.poll(again, WAIT).toBe(2)
    back.refuse((await back.request("stop", 1)).id, "runner/unknown-agent")
    await (await back.agent(1)).hears("Wake up.")
  })

  it("[HR36] is one that was being started when its session was stopped", async () => {
    const stage = await openStage()
    const { runner, id } = await parked(stage)
    runner.isSlow = true
    await send(stage, id, "Wake up.")
    await runner.spec(1)
    expect((await rest(stage, "DELETE", `/api/sessions/${id}`)).body).toMatchObject({ state: "ended" })
    const agent = await runner.start(1)
    expect((await runner.request("stop")).request).toMatchObject({ spawn: agent.spawn })
    await expect.poll(() => agent.closeCode, WAIT).toBe(4004)
    expect(await stage.hub.core.getSession(id)).toMatchObject({ state: "ended", exit: { reason: "stopped by admin" } })
    runner.isSlow = false
    await send(stage, id, "Once more.")
    const next = await runner.agent(2)
    await next.hears("Once more.")
    expect(next.prompts).toEqual(["Wake up.", "Once more."])
  })

  it("[HR39] counts as living until its runner has said that it does not", async () => {
    const strays = new StrayProcesses()
    strays.add("s", "p1")
    let asked = 0
    const noAnswer = async () => {
      asked += 1
      throw new HubError("runner/no-answer", "no answer")
    }
    await Promise.all([strays.stop("s", noAnswer), strays.stop("s", noAnswer)])
    expect(asked).toBe(1)
    expect(strays.has("s")).toBe(true)
    await strays.stop("s", async () => ({}))
    expect(strays.has("s")).toBe(false)
  })
})
