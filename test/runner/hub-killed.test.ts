import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { runnerTrials } from "../gate.ts"
import type { Json } from "../hub/hub-process.ts"
import { Machine } from "./runner-process.ts"

const WORDS = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ")

/** A turn that speaks for a second and a half, and one that asks for something. */
const SCENARIO: Scenario = {
  turns: Array.from({ length: 30 }, (_, n) => [
    { steps: [{ say: `Turn ${n}: ${WORDS}`, pauseMs: 25, chunk: 8 }] },
    {
      steps: [
        { tool: "Bash", input: { command: `touch asked-${n}`, description: "make a file" } },
        { say: `Asked ${n}.` },
      ],
    },
  ]).flat(),
}

let machine: Machine | undefined

afterEach(async () => {
  await machine?.dispose()
  machine = undefined
})

function textsOf(events: readonly Json[]): string[] {
  return events.flatMap(({ from, message }) =>
    from === "agent" && message.type === "assistant"
      ? message.message.content.flatMap((block: Json) => (block.type === "text" ? [block.text] : []))
      : [],
  )
}

async function pendingAsk(on: Machine, session: string): Promise<Json> {
  const look = async () => (await on.hub.get(`/api/asks?state=pending&session=${session}`)).asks.length
  await expect.poll(look, { timeout: 60_000, interval: 50, message: on.log }).toBe(1)
  return (await on.hub.get(`/api/asks?state=pending&session=${session}`)).asks[0]
}

describe.each(runnerTrials.kinds)("a hub that is killed, with an agent on a runner: %s", (agent) => {
  it("[RU38] the turn under way completes and is complete in the log; an ask across the kill is answered after it", async () => {
    const kills = runnerTrials.hubKills
    const on = await Machine.open({ scenario: SCENARIO, ...(agent === "simulator" ? {} : { claude: agent }) })
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
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
    const said = Array.from({ length: kills }, (_, n) => [`Turn ${n}: ${WORDS}`, `Asked ${n}.`]).flat()
    expect(textsOf(events)).toEqual(said)
    const results = events.filter(({ message }) => message.type === "result")
    expect(results.map(({ message }) => message.subtype)).toEqual(said.map(() => "success"))
    const uuids = events.flatMap(({ message }) => message.uuid ?? [])
    expect(new Set(uuids).size).toBe(uuids.length)
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
