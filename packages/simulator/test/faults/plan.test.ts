import { describe, expect, it } from "vitest"
import { parseFault } from "../../src/faults/parse-fault.ts"
import {
  beginFaults,
  createFaultPlan,
  type FaultAction,
  longLine,
  stepFaults,
  unmetFaults,
} from "../../src/faults/plan.ts"

const init = '{"type":"system","subtype":"init","session_id":"s"}'
const words = (text: string) => JSON.stringify({ type: "assistant", text, session_id: "s" })
const result = '{"type":"result","subtype":"success","session_id":"s"}'

/** What is done in place of these lines. */
function play(specs: readonly string[], lines: readonly string[], seed = 1): FaultAction[][] {
  let plan = createFaultPlan(specs.map(parseFault), seed, "s")
  return lines.map((line) => {
    const stepped = stepFaults(plan, line)
    plan = stepped.plan
    return stepped.actions
  })
}

const send = (line: string) => ({ do: "send", line })

describe("a plan of faults", () => {
  it("[SF3] leaves lines alone that are not meant", () => {
    expect(play(["exit@result"], [init, words("a")])).toEqual([[send(init)], [send(words("a"))]])
  })

  it("[SF3] what happens at a line happens before it, or after it where that is asked for", () => {
    expect(play(["exit=2@result", "kill@after:line#1"], [init, result])).toEqual([
      [send(init), { do: "kill", signal: "SIGKILL" }],
      [{ do: "exit", code: 2 }, send(result)],
    ])
  })

  it("[SF3] several faults at one line happen in the order in which they were given", () => {
    const [actions] = play(["close@line", "hang=5@line", "duplicate@line", "delay=9@line"], [init])
    expect(actions).toEqual([
      { do: "cut" },
      { do: "hang", ms: 5 },
      { do: "wait", ms: 9 },
      send(init),
      { do: "wait", ms: 9 },
      send(init),
    ])
  })

  it("[SF3] counts lines of its own kind only", () => {
    const [, , , third] = play(["late=5@assistant#2"], [init, words("a"), result, words("b"), words("c")])
    expect(third).toEqual([{ do: "late", line: words("b"), ms: 5 }])
  })

  it("[SF3] what has no place happens before the first line", () => {
    const plan = createFaultPlan(["ignore-term", "rubbish", "half"].map(parseFault), 1, "s")
    const begun = beginFaults(plan)
    expect(begun.actions.map((action) => action.do)).toEqual(["ignore-term", "send"])
    expect(stepFaults(begun.plan, init).actions).toEqual([{ do: "piece", text: init.slice(0, 26) }])
  })

  it("[SF4] chance is the seed's: the same one hits the same lines, another one others", () => {
    const lines = Array.from({ length: 400 }, (_, at) => words(String(at)))
    const hit = (seed: number) => play(["half@assistant~0.25"], lines, seed).map(([action]) => action?.do === "piece")
    expect(hit(7)).toEqual(hit(7))
    expect(hit(7)).not.toEqual(hit(8))
    const share = hit(7).filter(Boolean).length / lines.length
    expect(share).toBeGreaterThan(0.15)
    expect(share).toBeLessThan(0.35)
  })

  it("[SF4] rubbish is the same for the same seed, of the size asked for, and never a message", () => {
    const [[one] = []] = play(["rubbish=500@line"], [init], 3)
    const [[same] = []] = play(["rubbish=500@line"], [init], 3)
    const [[other] = []] = play(["rubbish=500@line"], [init], 4)
    expect(one).toEqual(same)
    expect(one).not.toEqual(other)
    const line = one?.do === "send" ? one.line : ""
    expect(line).toHaveLength(500)
    expect(line).not.toContain("\n")
    expect(() => JSON.parse(line)).toThrow(SyntaxError)
  })

  it("[SF3] a long line has the size asked for, and is a message that means nothing", () => {
    expect(longLine(1000)).toHaveLength(1000)
    expect(JSON.parse(longLine(1000))).toMatchObject({ type: "keep_alive" })
  })

  it("[SF5] knows the faults whose place never came, but for those that were left to chance", () => {
    const faults = ["exit@result#2", "half@result", "half@user~0.1"].map(parseFault)
    const { plan } = stepFaults(createFaultPlan(faults, 1, "s"), result)
    expect(unmetFaults(plan)).toEqual(["exit@result#2"])
  })
})
