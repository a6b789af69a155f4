import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { hubNow, offsetOf, setClockBy } from "../../src/app/clock.ts"

beforeEach(() => {
  vi.stubGlobal("document", { visibilityState: "visible" })
  vi.useFakeTimers({ now: 1_000_000 })
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const reading = (told: string | number) => ({
  told: typeof told === "number" ? new Date(told).toISOString() : told,
  askedAt: 10_000,
  heardAt: 10_400,
})

it("[G-100] the hub's clock is ahead by what the way there and back does not explain", () => {
  expect([10_000, 10_100, 10_400].map((told) => offsetOf(reading(told)))).toEqual([0, 0, 0])
  expect(offsetOf(reading(10_401))).toBe(201)
  expect(offsetOf(reading(3_610_200))).toBe(3_600_000)
  expect(offsetOf(reading(9_200))).toBe(-1_000)
  // An older hub tells no time.
  expect(offsetOf(reading(""))).toBeUndefined()
})

it("[G-100] the time is the hub's from its first answer on, and one that tells none changes nothing", async () => {
  expect(hubNow()).toBe(1_000_000)
  const told = { now: new Date(1_000_000 - 86_400_000).toISOString(), name: "ada" }
  expect(await setClockBy(async () => told)).toBe(told)
  expect(hubNow()).toBe(1_000_000 - 86_400_000)
  vi.advanceTimersByTime(5_000)
  expect(hubNow()).toBe(1_005_000 - 86_400_000)
  await setClockBy(async () => ({ now: "" }))
  expect(hubNow()).toBe(1_005_000 - 86_400_000)
  await expect(setClockBy(() => Promise.reject(new Error("away")))).rejects.toThrow("away")
  // The browser's clock was put right meanwhile.
  vi.setSystemTime(1_005_000 - 86_400_000)
  await setClockBy(async () => ({ now: new Date(Date.now()).toISOString() }))
  expect(hubNow()).toBe(Date.now())
})

/** They compare this browser's time with its own alone. */
const OWN_TIME = [
  "app/keyboard.ts",
  "asks/arrivals.ts",
  "session/composer/outgoing.ts",
  "transcript/content/colours.ts",
]

it("[G-100] no other file of the cockpit asks the browser for the time", () => {
  const source = join(import.meta.dirname, "../../src")
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path))
  const asking = files.filter((path) => /Date\.now\(\)|new Date\(\)/.test(readFileSync(join(source, path), "utf8")))
  expect(asking.toSorted()).toEqual(["app/clock.ts", ...OWN_TIME].toSorted())
})
