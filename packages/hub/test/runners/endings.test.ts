import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { createPrometheusMetrics } from "../../src/operations/metrics.ts"
import { ProcessEndings } from "../../src/runners/process-endings.ts"
import { RunnerFleet } from "../../src/runners/runner-fleet.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { openStage, type Stage } from "../clients/stage.ts"
import { setUpSessions, FakeAgent as WireAgent } from "../session/session-setup.ts"
import { FakeAgent, FakeRunner } from "./fake-runner.ts"
import { claimsOn, eventsOf, launch, send, WAIT } from "./launching.ts"

const LAUNCH = { runner: "runner-1", agent: "claude", cwd: "/w", spawn: "p1", earlier: [] } as const

async function launched(stage: Stage) {
  const runner = await FakeRunner.connect(stage)
  const { body: session } = await launch(stage, { cwd: "/srv" })
  const agent = await runner.agent()
  agent.init()
  agent.result()
  await agent.allAcked()
  return { runner, id: session.id, agent }
}

async function notes(stage: Stage, id: string, subtype: string) {
  return (await eventsOf(stage, id)).filter((event) => event["subtype"] === subtype)
}

/** Takes a message back when the test lets it. */
class HeldDirectory extends MemoryDirectory {
  #free: () => void = () => undefined
  isHolding = false

  override async setMessageState(...change: Parameters<MemoryDirectory["setMessageState"]>): Promise<void> {
    if (this.isHolding) await new Promise<void>((resolve) => (this.#free = resolve))
    return super.setMessageState(...change)
  }

  free(): void {
    this.isHolding = false
    this.#free()
  }
}

describe("when a process ends by itself", () => {
  it("[HR38] a message that was sent as it ended goes to the next, which is started for it", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    const [first, second] = [randomUUID(), randomUUID()]
    await send(stage, id, "Taken.", first)
    await agent.hears("Taken.")
    await send(stage, id, "Too late.", second)
    await agent.hears("Too late.")
    agent.exit({ reason: "it crashed", code: 1, lastReceived: first })
    const next = await runner.agent(1)
    await next.hears("Too late.")
    expect(next.prompts).toEqual(["Too late."])
    expect(await notes(stage, id, "message_unknown")).toMatchObject([{ message_uuid: first }])
  })

  it("[HR38] what had waited while its runner was away starts the next", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    runner.leave()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("disconnected")
    await send(stage, id, "Are you there?")
    const cut = [{ spawn: agent.spawn, session: id, reason: "the runner was killed" }]
    const back = await FakeRunner.connect(stage, { token: runner.token, cut })
    await (await back.agent()).hears("Are you there?")
    expect(await notes(stage, id, "ended")).toMatchObject([{ reason: "the runner was killed" }])
  })

  it("[HR38] one that never gets to a turn is started three times, and then when somebody writes", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await send(stage, id, "Hello?")
    let last = agent
    for (let nth = 0; nth <= 3; nth += 1) {
      last = await runner.agent(nth)
      await last.hears("Hello?")
      last.exit({ reason: "it crashed", code: 1, lastReceived: null })
    }
    await last.allAcked()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("ended")
    expect(runner.kinds).toEqual(["launch", "launch", "launch", "launch"])
    await send(stage, id, "And now?")
    const next = await runner.agent(4)
    await next.hears("And now?")
    expect(next.prompts).toEqual(["Hello?", "And now?"])
  })

  it("[HR30] it is told, whatever the number of its last word", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    agent.leave()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("disconnected")
    const forgetful = new FakeAgent(stage, runner.token, { spawn: agent.spawn, session: id })
    forgetful.isOver = true
    forgetful.exit({ reason: "the runner was killed" })
    await forgetful.dial()
    await expect
      .poll(async () => (await stage.hub.core.getSession(id)).exit?.reason, WAIT)
      .toBe("the runner was killed")
    await expect.poll(() => forgetful.unacked, WAIT).toBe(0)
  })

  it("[HR30] the hub forgets it when all of its end is noted, so that a hub killed before is told again", async () => {
    const directory = new HeldDirectory()
    const { registry } = setUpSessions(directory)
    const fleet = new RunnerFleet({
      directory,
      claims: claimsOn(directory),
      metrics: createPrometheusMetrics(),
      trouble: () => undefined,
    })
    const endings = new ProcessEndings(fleet)
    const session = registry.create({})
    session.expect(LAUNCH)
    const agent = new WireAgent("p1")
    await agent.attach(session)
    await session.send({ content: "Hello" }, "ada")
    await expect.poll(() => agent.prompts, WAIT).toEqual(["Hello"])
    directory.isHolding = true
    const exited = endings.exited(session, "p1", { reason: "over", lastReceived: null })
    await session.send({ content: "Just now" }, "ada")
    expect(session.kept.own.launch?.spawn).toBe("p1")
    expect(session.isEnded).toBe(false)
    directory.free()
    await exited
    expect(session.kept.own.launch).toMatchObject({ spawn: null, earlier: ["p1"] })
    expect(session.isEnded).toBe(true)
    expect(session.messages.waiting).toBe(2)
    expect(agent.prompts).toEqual(["Hello"])
  })

  it("[HR30] a session whose process was forgotten and whose end was not kept has ended", async () => {
    const { registry, directory } = setUpSessions()
    const session = registry.create({})
    session.expect(LAUNCH)
    await new WireAgent("p1").attach(session)
    session.changeOwn({ launch: { ...LAUNCH, spawn: null, earlier: ["p1"] } })
    await session.settled()
    const again = setUpSessions(directory).registry
    expect((await again.get(session.id)).view().state).toBe("ended")
  })
})
