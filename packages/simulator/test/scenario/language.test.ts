import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { builtInScenario, parseScenario, readScenarioFile, type Scenario, SimulatorError } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { callsOf } from "../../src/scenario/calls.ts"
import { replyActions } from "../../src/scenario/reply-events.ts"

const problems = (value: unknown) => {
  try {
    parseScenario(value)
    return ""
  } catch (error) {
    return error instanceof SimulatorError ? error.message : String(error)
  }
}
const withSteps = (...steps: unknown[]) => ({ turns: [{ steps }] })

describe("the scenario language", () => {
  it("[N1] takes what only the CLI's own side can play", () => {
    const scenario = withSteps(
      {
        tool: "Bash",
        input: { command: "x" },
        result: "ok",
        isError: false,
        durationMs: 5,
        structured: { stdout: "ok" },
      },
      { tool: "Task", input: { prompt: "p" }, agent: [{ say: "hi" }, { tool: "Read", input: {}, result: "text" }] },
      { tool: "Bash", input: { command: "y" }, background: { durationMs: 10, status: "failed", output: "o" } },
      { todos: [{ content: "a", status: "pending" }] },
      { rateLimit: "rejected", type: "five_hour", resetsAt: 1 },
      { compact: "auto", preTokens: 100 },
      { elicit: "Name?", server: "files" },
      { emit: { type: "system", subtype: "anything" } },
    )
    expect(problems(scenario)).toBe("")
  })

  it.each([
    [{ tool: "Task", input: {}, agent: [{ error: 500 }] }, "turns[0].steps[0].agent[0]"],
    [{ tool: "Bash", input: {}, background: { durationMs: -1 } }, "turns[0].steps[0].background.durationMs"],
    [{ todos: [{ content: "a", status: "maybe" }] }, "turns[0].steps[0].todos[0].status"],
    [{ elicit: "Name?" }, "turns[0].steps[0].server"],
  ])("[N2] names the place of what is wrong with %j", (step, place) => {
    expect(problems(withSteps(step))).toContain(place)
  })

  it("[N3] compacts only between calls", () => {
    expect(problems(withSteps({ say: "a" }, { compact: "auto" }))).toContain("between calls")
    expect(problems(withSteps({ tool: "Read", input: {} }, { compact: "auto" }))).toBe("")
  })

  it("[N4] asides send nothing over a Messages API, and todos are the call of a tool", () => {
    const scenario: Scenario = parseScenario(
      withSteps(
        { rateLimit: "allowed" },
        { say: "a" },
        { emit: { type: "x" } },
        { todos: [{ content: "t", status: "pending" }] },
      ),
    )
    const [turn] = scenario.turns
    const calls = turn === undefined ? [] : callsOf(turn)
    expect(calls).toHaveLength(1)
    const [call] = calls
    if (call?.kind !== "reply") throw new Error("a reply was expected")
    let ids = 0
    const actions = [...replyActions(call, { model: "m", inputUnits: 4 }, { next: (prefix) => `${prefix}_${ids++}` })]
    expect(actions.filter((action) => action.do === "aside")).toHaveLength(2)
    const sent = actions.flatMap((action) => (action.do === "send" ? [action.event] : []))
    expect(JSON.stringify(sent)).toContain("TodoWrite")
    expect(JSON.stringify(sent)).not.toContain("rateLimit")
  })

  it("[N5] reads YAML and JSON, and tells the line of a mistake", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-scenario-"))
    const file = join(folder, "s.yaml")
    writeFileSync(file, "turns:\n  - steps:\n      - say: |\n          Two\n          lines\n")
    expect((await readScenarioFile(file)).turns[0]?.steps[0]).toEqual({ say: "Two\nlines\n" })
    writeFileSync(file, '{"turns": [\n  {"steps": [\n    {"say": 5}\n  ]}\n]}')
    await expect(readScenarioFile(file)).rejects.toThrow(`${file}:3: turns[0].steps[0].say:`)
    writeFileSync(file, "turns:\n  - steps: [\n")
    await expect(readScenarioFile(file)).rejects.toThrow(/:\d+: /)
    await expect(readScenarioFile(join(folder, "none.yaml"))).rejects.toThrow("cannot be read")
    rmSync(folder, { recursive: true, force: true })
  })

  it("[N6] has a scenario of its own that fits its schema", () => {
    expect(parseScenario(builtInScenario)).toEqual(builtInScenario)
  })
})
