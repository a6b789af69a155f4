import { afterEach, describe, expect, it } from "vitest"
import { runnerTrials } from "../gate.ts"
import { Machine } from "./runner-process.ts"
import { ASKING_TURNS, expectWhole, pendingAsk, textsOf, WORDS } from "./turns.ts"

let machine: Machine | undefined

afterEach(async () => {
  await machine?.dispose()
  machine = undefined
})

describe.each(runnerTrials.kinds)("a hub that is killed, with an agent on a runner: %s", (agent) => {
  it("[RU38] the turn under way completes and is complete in the log; an ask across the kill is answered after it", async () => {
    const kills = runnerTrials.hubKills
    const on = await Machine.open({ scenario: ASKING_TURNS, ...(agent === "simulator" ? {} : { claude: agent }) })
    machine = on
    const { id } = await on.launch()
    for (let kill = 0; kill < kills; kill++) {
      await on.say(id, "speak")
      await on.isIn(id, "running")
      await on.hub.kill()
      await on.restartHub()
      await on.isIn(id, "idle")

      await on.say(id, "ask")
      const ask = await pendingAsk(on, id)
      await on.hub.kill()
      await on.restartHub()
      expect((await pendingAsk(on, id)).id).toBe(ask.id)
      await on.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
      await on.isIn(id, "idle")
    }
    const events = await on.events(id)
    expectWhole(events, Array.from({ length: kills }, (_, n) => [`Turn ${n}: ${WORDS}`, `Asked ${n}.`]).flat())
    expect((await on.session(id)).turns).toBe(kills * 2)
  }, 600_000)
})

describe("a hub that is away for long", () => {
  it("[RU39] misses nothing of a steady stream", async () => {
    const { hubAwayMs } = runnerTrials
    const count = Math.ceil(hubAwayMs / 10) + 500
    const steps = Array.from({ length: count }, (_, n) => ({ say: `Line ${n}.`, pauseMs: 5 }))
    const on = await Machine.open({ scenario: { turns: [{ steps }] } })
    machine = on
    const { id } = await on.launch({ prompt: "go" })
    await on.isIn(id, "running")
    await on.hub.kill()
    // This long, on purpose: the agent talks all the while.
    await new Promise((resolve) => setTimeout(resolve, hubAwayMs))
    await on.restartHub()
    await on.isIn(id, "idle", 300_000)
    const events = await on.events(id)
    expect(textsOf(events)).toEqual(steps.map(({ say }) => say))
  }, 600_000)
})
