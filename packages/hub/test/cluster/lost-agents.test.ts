import { describe, expect, it, onTestFinished, vi } from "vitest"
import { hasPostgres } from "../../../../test/postgres/server.ts"
import { HubError } from "../../src/errors.ts"
import { SessionRegistry } from "../../src/session/session-registry.ts"
import { FakeRunner } from "../runners/fake-runner.ts"
import { launch, WAIT } from "../runners/launching.ts"
import { openTwoHubs } from "./two-hubs.ts"

/** A runner is killed with its agent, whose session one hub has, and comes back to the other hub. */
async function comesBack({ tells = [], first }: { tells?: readonly string[]; first?: () => void } = {}) {
  const [at, beside] = await openTwoHubs()
  const runner = await FakeRunner.connect(at)
  const { id } = (await launch(at, { cwd: "/srv" })).body
  const agent = await runner.agent()
  runner.leave()
  await expect.poll(async () => (await at.hub.core.getSession(id)).state, WAIT).toBe("disconnected")
  const cut = [...tells, agent.spawn].map((spawn) => ({ spawn, session: id, reason: "the runner was killed" }))
  first?.()
  const back = await FakeRunner.connect(beside, { token: runner.token, cut })
  const noted = () => back.told.flatMap((message) => (message["ev"] === "noted" ? message["spawns"] : []))
  return { at, beside, id, back, noted, spawn: agent.spawn }
}

describe.runIf(hasPostgres)("an agent that comes from one hub to another", () => {
  it("[CT15] is greeted with the epoch of its session, higher at each hub that claims it", async () => {
    const [at, beside] = await openTwoHubs()
    const runner = await FakeRunner.connect(at)
    const { id } = (await launch(at, { cwd: "/srv" })).body
    const agent = await runner.agent()
    // The conversation goes on in another session of the hub: the epoch is still that of the one it was launched for.
    agent.init()
    agent.init({ session_id: "another-conversation" })
    await expect.poll(async () => (await at.hub.core.getSession(id)).next, WAIT).toBeDefined()
    for (const [index, hub] of [beside, at].entries()) {
      agent.leave()
      await agent.dial(hub)
      await expect.poll(() => agent.greetings.length, WAIT).toBe(index + 2)
    }
    const epochs = agent.greetings.map(({ epoch }) => Number(epoch))
    expect(epochs).toEqual([...new Set(epochs)].toSorted((one, other) => one - other))
  })
})

describe.runIf(hasPostgres)("agents that a killed runner lost", () => {
  it("[CT32] are noted in their sessions, whichever hub has them; one that no session knows any more is noted, too", async () => {
    const { at, beside, id, noted, spawn } = await comesBack({ tells: ["long-forgotten"] })
    await expect.poll(() => noted(), WAIT).toEqual(["long-forgotten", spawn])
    for (const { hub } of [at, beside]) expect((await hub.core.getSession(id)).state).toBe("ended")
  })

  it("[CT32] are noted as soon as the hub that has the session gives it away", async () => {
    const moved = new HubError("hub/moved", "it is on its way to another hub")
    const first = () => {
      const take = vi.spyOn(SessionRegistry.prototype, "take").mockRejectedValueOnce(moved).mockRejectedValueOnce(moved)
      onTestFinished(() => take.mockRestore())
    }
    const { beside, id, noted, spawn } = await comesBack({ first })
    expect(noted()).toEqual([])
    await expect.poll(() => noted(), WAIT).toEqual([spawn])
    expect((await beside.hub.core.getSession(id)).state).toBe("ended")
  })
})
