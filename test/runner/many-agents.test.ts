import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { runnerTrials } from "../gate.ts"
import type { Json } from "../hub/hub-process.ts"
import { Machine } from "./runner-process.ts"

const SCENARIO: Scenario = { turns: [{ on: "speak", repeat: true, steps: [{ say: "Spoken." }] }] }
const { agents } = runnerTrials

let machine: Machine | undefined

afterEach(async () => {
  await machine?.dispose()
  machine = undefined
})

describe(`${agents} simulated agents on one runner`, () => {
  it("[RU42] are launched up to the runner's number, parked when idle, brought back by a message, stopped, and leave no process", async () => {
    const on = await Machine.open({ scenario: SCENARIO, maxAgents: agents, limits: { parkAfterMs: 4_000 } })
    machine = on
    const every = async () => (await on.hub.get("/api/sessions?limit=500")).sessions as Json[]
    const haveTurns = async (count: number) =>
      (await every()).filter(({ turns, state }) => turns >= count && state === "idle").length
    const settled = { timeout: 300_000, interval: 250 }

    const ids: string[] = []
    for (let n = 0; n < agents; n++) ids.push((await on.launch({ prompt: "speak" })).id)
    await expect.poll(() => haveTurns(1), settled).toBe(agents)

    // Parked: no process is left, and nobody sees it but by that.
    await expect.poll(() => on.processes(), settled).toEqual([])
    expect(new Set((await every()).map(({ state }) => state))).toEqual(new Set(["idle"]))

    await Promise.all(ids.map((id) => on.say(id, "speak")))
    await expect.poll(() => haveTurns(2), settled).toBe(agents)

    await Promise.all(ids.map((id) => on.say(id, "speak")))
    await expect.poll(() => haveTurns(3), settled).toBe(agents)
    await Promise.all(ids.map((id) => on.hub.call("DELETE", `/api/sessions/${id}`)))
    await expect.poll(() => on.processes(), settled).toEqual([])
    expect(on.log).toBe("")
  }, 900_000)
})
