import { parseScenario, SimulatorError } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { describeFaults, parseFault } from "../../src/faults/parse-fault.ts"

function mistake(spec: string): string {
  try {
    parseFault(spec)
  } catch (error) {
    if (error instanceof SimulatorError && error.code === "fault/unknown") return error.message
    throw error
  }
  throw new Error(`${spec} was taken`)
}

describe("a fault, as it is written", () => {
  it.each([
    ["exit", { do: "exit", code: 1 }],
    ["exit=7", { do: "exit", code: 7 }],
    ["kill", { do: "kill", signal: "SIGKILL" }],
    ["kill=SEGV", { do: "kill", signal: "SIGSEGV" }],
    ["kill=SIGTERM", { do: "kill", signal: "SIGTERM" }],
    ["hang", { do: "hang", ms: 3_600_000 }],
    ["hang=2s", { do: "hang", ms: 2000 }],
    ["close", { do: "close" }],
    ["ignore-term", { do: "ignore-term" }],
    ["half", { do: "half" }],
    ["rubbish=1KB", { do: "rubbish", bytes: 1024 }],
    ["long", { do: "long", bytes: 64 * 1024 * 1024 }],
    ["duplicate", { do: "duplicate", copies: 2 }],
    ["delay=250", { do: "delay", ms: 250 }],
    ["late=1m", { do: "late", ms: 60_000 }],
    ["flood", { do: "flood", perSecond: 100_000, seconds: 1 }],
    ["flood=500x3", { do: "flood", perSecond: 500, seconds: 3 }],
  ])("[SF1] %s", (spec, mishap) => {
    expect(parseFault(spec).mishap).toEqual(mishap)
  })

  it.each([
    ["exit@line#7", { type: "line", from: 7, to: 7, chance: 1, after: false }],
    ["exit@turn#2", { type: "system", subtype: "init", from: 2, to: 2, chance: 1, after: false }],
    ["exit@result", { type: "result", from: 1, to: 1, chance: 1, after: false }],
    ["exit@after:result", { type: "result", from: 1, to: 1, chance: 1, after: true }],
    [
      "exit@control_request/can_use_tool#3",
      { type: "control_request", subtype: "can_use_tool", from: 3, to: 3, chance: 1, after: false },
    ],
    ["half@assistant#2+", { type: "assistant", from: 2, to: Infinity, chance: 1, after: false }],
    ["half@assistant#*", { type: "assistant", from: 1, to: Infinity, chance: 1, after: false }],
    ["half@stream_event~0.5", { type: "stream_event", from: 1, to: Infinity, chance: 0.5, after: false }],
    ["half", { type: "line", from: 1, to: 1, chance: 1, after: false }],
    ["exit", { type: "line", from: 0, to: 0, chance: 1, after: false }],
  ])("[SF1] %s", (spec, place) => {
    expect(parseFault(spec).at).toEqual(place)
  })

  it("[SF2] one that does not exist is refused with the list of those that do", () => {
    const message = mistake("explode@result")
    for (const line of describeFaults()) expect(message).toContain(line)
  })

  it.each(["exit=900", "kill=SIGWINCH", "hang=2d", "delay", "long=9000MB", "duplicate=1", "flood=1x2x3"])(
    "[SF2] %s: the value is refused, and the message shows what may stand there",
    (spec) => {
      const [name] = spec.split("=")
      expect(mistake(spec)).toContain(`the value must be as in ${name}`)
    },
  )

  it("[SF2] a value out of its range is told the range, and one that is not wanted that there is none", () => {
    expect(mistake("exit=900")).toContain("from 0 to 255")
    expect(mistake("hang=2d")).toContain("at most 1h")
    expect(mistake("long=9000MB")).toContain("at most 256MB")
    expect(mistake("duplicate=1")).toContain("from 2 to 1000")
    expect(mistake("flood=9999999")).toContain("from 1 to 1000000")
    expect(mistake("close=1")).toContain("close takes no value")
  })

  it("[SF2] a place that no agent ever comes to is refused with those there are", () => {
    expect(mistake("exit@reslut")).toMatch(/no "reslut".*assistant.*result/s)
    expect(mistake("exit@line#0")).toContain("line#7")
    expect(mistake("exit@line~3")).toContain("above 0 and at most 1")
  })

  it("[SF2] in a scenario a wrong one is told by its place", () => {
    const scenario = { turns: [{ steps: [{ say: "hi" }] }], faults: ["exit@result", "explode"] }
    expect(() => parseScenario(scenario)).toThrow(/faults\[1\].*explode/s)
    expect(parseScenario({ ...scenario, faults: ["exit@result"] }).faults).toEqual(["exit@result"])
  })
})
