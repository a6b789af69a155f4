import { expect, it } from "vitest"
import { dialPresets } from "../../src/index.ts"
import { nextTry, type ReconnectBudget, type ReconnectPolicy } from "../../src/websocket/retry-policies.ts"

const MIDDLE = 0.5

/** When a server that is gone is dialled, in ms after the first failure, and when that ends. */
function schedule(policy: ReconnectPolicy | "never", first: "lost" | "dial", roll: () => number, stopAfter = 100) {
  if (policy === "never") throw new Error("there is no schedule")
  const dials: number[] = []
  let budget: ReconnectBudget | undefined
  let at = 0
  let kind = first
  while (dials.length < stopAfter) {
    const next = nextTry(policy, budget, { at, kind, roll: roll() })
    if (!next.retry) return { dials, gaveUpAt: at }
    at += next.delayMs
    budget = next.budget
    kind = "dial"
    dials.push(at)
  }
  return { dials, gaveUpAt: undefined }
}

it("[D2] cli2137 dials a server that died at +1 s and +5 s, and gives up then", () => {
  const { reconnect } = dialPresets.cli2137
  expect(schedule(reconnect, "lost", () => MIDDLE)).toEqual({ dials: [1000, 5000], gaveUpAt: 5000 })
})

it("[D2] cli2137 dials a server that was never there once more, at +2 s", () => {
  expect(schedule(dialPresets.cli2137.reconnect, "dial", () => MIDDLE)).toEqual({ dials: [2000], gaveUpAt: 2000 })
})

it("[D3] cli2120 doubles from 1 s to 30 s and gives up at the first failure past 600 s", () => {
  const doubling = [1000, 3000, 7000, 15_000, 31_000]
  const steady = Array.from({ length: 19 }, (_, n) => 61_000 + n * 30_000)
  const { dials, gaveUpAt } = schedule(dialPresets.cli2120.reconnect, "lost", () => MIDDLE)
  expect(dials).toEqual([...doubling, ...steady])
  expect(gaveUpAt).toBe(601_000)
})

it("[D3] cli2120 spreads every delay by a quarter either way, and makes 23 to 25 or so attempts", () => {
  expect(schedule(dialPresets.cli2120.reconnect, "lost", () => 0, 4).dials).toEqual([750, 2250, 5250, 11_250])
  const highest = schedule(dialPresets.cli2120.reconnect, "lost", () => 1 - Number.EPSILON, 3).dials
  expect(highest.map(Math.round)).toEqual([1250, 3750, 8750])
  let seed = 1
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }
  for (let run = 0; run < 50; run++) {
    const { dials, gaveUpAt } = schedule(dialPresets.cli2120.reconnect, "lost", random)
    expect(dials.length).toBeGreaterThanOrEqual(21)
    expect(dials.length).toBeLessThanOrEqual(28)
    expect(gaveUpAt).toBeLessThan(640_000)
  }
})

it("[D3] a gap of more than 60 s between failures means the machine slept: the budget begins anew", () => {
  const policy = dialPresets.cli2120.reconnect
  if (policy === "never") throw new Error("there is no schedule")
  const worn: ReconnectBudget = { failures: 20, firstFailureAt: 0, lastFailureAt: 590_000 }
  const awake = nextTry(policy, worn, { at: 650_000, kind: "dial", roll: MIDDLE })
  expect(awake).toEqual({ retry: false })
  const slept = nextTry(policy, worn, { at: 650_001, kind: "dial", roll: MIDDLE })
  expect(slept).toEqual({
    retry: true,
    delayMs: 1000,
    budget: { failures: 1, firstFailureAt: 650_001, lastFailureAt: 650_001 },
  })
})

it("[D3] patient never gives up", () => {
  const { dials, gaveUpAt } = schedule(dialPresets.patient.reconnect, "lost", () => MIDDLE, 5000)
  expect(dials).toHaveLength(5000)
  expect(gaveUpAt).toBeUndefined()
})
