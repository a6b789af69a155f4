import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { composeAllow } from "@signalbox/protocol"
import { builtInScenario, parseScenario, readScenarioFile, type Scenario, SimulatorError } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { question } from "../../../../test/conformance/answers.ts"
import { callsIn, callsOf } from "../../src/scenario/calls.ts"
import { readScenarioText } from "../../src/scenario/parse-scenario.ts"
import { replyActions } from "../../src/scenario/reply-events.ts"
import { type Asked, withSim } from "../support/sim-host.ts"

const problems = (value: unknown) => {
  try {
    parseScenario(value)
    return ""
  } catch (error) {
    return error instanceof SimulatorError ? error.message : String(error)
  }
}
function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let taken = 0
  for (const item of items) {
    yield item
    if (++taken === count) return
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

  it("[N7] plays a loop round by round, with another item of each list, and makes the rounds as they are needed", () => {
    const scenario = parseScenario(
      withSteps({
        loop: 1_000_000,
        as: "part",
        vary: { who: ["a", "b"] },
        steps: [
          { say: "{{part}} {{who}} {{unknown}}" },
          { loop: 2, steps: [{ tool: "Read", input: { file_path: "{{part}}-{{n}}" } }] },
        ],
      }),
    )
    const [turn] = scenario.turns
    const calls = turn === undefined ? [] : [...take(callsIn(turn), 5)]
    expect(calls.map((call) => (call.kind === "reply" ? call.blocks : []))).toEqual([
      [{ say: "1 a {{unknown}}" }, { tool: "Read", input: { file_path: "1-1" } }],
      [{ tool: "Read", input: { file_path: "1-2" } }],
      [{ say: "2 b {{unknown}}" }, { tool: "Read", input: { file_path: "2-1" } }],
      [{ tool: "Read", input: { file_path: "2-2" } }],
      [{ say: "3 a {{unknown}}" }, { tool: "Read", input: { file_path: "3-1" } }],
    ])
  })

  it("[N8] plays an aside before an error, and does not take the two for a reply", () => {
    const turn = parseScenario(withSteps({ rateLimit: "rejected" }, { error: 429, times: 2 }, { say: "ok" })).turns[0]
    const kinds = turn === undefined ? [] : callsOf(turn).map((call) => [call.kind, "asides" in call])
    expect(kinds).toEqual([
      ["error", true],
      ["error", false],
      ["reply", false],
    ])
  })

  it("[N9] has files of its own for tools that pretend, and knows its folder and the file of the plan", async () => {
    const scenario: Scenario = {
      files: { "src/a.ts": "one\ntwo\n" },
      turns: [
        {
          steps: [
            { tool: "Read", input: { file_path: "{{cwd}}/src/a.ts" } },
            { tool: "Edit", input: { file_path: "{{cwd}}/src/a.ts", old_string: "two", new_string: "2" } },
            { tool: "Write", input: { file_path: "{{planFile}}", content: "# Plan" } },
            { tool: "ExitPlanMode", input: {} },
            { say: "Done." },
          ],
        },
      ],
    }
    const asked: unknown[] = []
    const allow = ({ request_id, request }: Asked) => {
      asked.push(request["input"])
      return composeAllow(question(request_id, request))
    }
    await withSim({ scenario, onRequest: allow }, async (host) => {
      const said = JSON.stringify(await host.turn("go"))
      expect(said).toContain("1\\tone")
      expect(said).toContain('"lines":[" one","-two","+2"]')
      expect(asked).toContainEqual(expect.objectContaining({ plan: "# Plan" }))
      expect(existsSync(join(host.folder, "src"))).toBe(false)
    })
  })

  it("[N10] keeps a list of todos also on a version without the tool, if it says what the tool says", async () => {
    const scenario: Scenario = {
      turns: [{ steps: [{ todos: [{ content: "a", status: "pending" }], result: "Noted." }, { say: "ok" }] }],
    }
    await withSim({ scenario, profile: "2.1.325" }, async (host) => {
      const said = await host.turn("go")
      expect(JSON.stringify(said)).toContain('"name":"TodoWrite"')
      expect(JSON.stringify(said)).toContain("Noted.")
    })
  })

  it("[N1] is written in the guide as it is: its example plays, and does what it says", async () => {
    const guide = readFileSync(new URL("../../../../docs/simulator.md", import.meta.url), "utf8")
    const example = /```yaml\n(# yaml-language-server[\s\S]*?)```/.exec(guide)?.[1] ?? ""
    const scenario = await readScenarioText(example, "docs/simulator.md")
    const allow = ({ request_id, request }: Asked) => composeAllow(question(request_id, request))
    await withSim({ scenario, onRequest: allow }, async (host) => {
      const first = await host.turn(scenario.turns[0]?.prompt ?? "")
      expect(JSON.stringify(first)).toContain('+export const add = (a: number, b: number) => a + b"')
      expect(first.at(-1)).toMatchObject({ result: "Fixed.", total_cost_usd: 0.04 })
      expect((await host.turn("thank you")).at(-1)).toMatchObject({ result: "You are welcome." })
    })
  })

  it("[N6] has a scenario of its own that fits its schema", () => {
    expect(parseScenario(builtInScenario)).toEqual(builtInScenario)
  })
})
