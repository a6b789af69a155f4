import { describe, expect, test } from "vitest"
import { parseScenario, SimulatorError } from "../../src/index.ts"

function failure(value: unknown): SimulatorError {
  try {
    parseScenario(value)
  } catch (error) {
    if (error instanceof SimulatorError && error.code === "scenario/invalid") return error
    throw error
  }
  throw new Error("The scenario was taken.")
}

function problems(value: unknown): string[] {
  const [, ...lines] = failure(value).message.split("\n")
  return lines.map((line) => line.trim())
}

const withStep = (step: unknown) => ({ turns: [{ steps: [step] }] })

describe("a scenario", () => {
  test("with every kind of step is taken as it is", () => {
    const scenario = {
      name: "all",
      turns: [
        {
          on: "go",
          repeat: true,
          model: "m",
          stop: { reason: "refusal", category: "cyber", explanation: "no" },
          usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
          steps: [
            { error: 529, type: "overloaded_error", message: "busy", retryAfter: 0.1, times: 2 },
            { think: "hm", signature: "s", deltas: 2 },
            { say: { repeat: "text ", times: 3 }, chunk: 5, pauseMs: 1 },
            { tool: "Bash", input: { command: "ls" }, id: "toolu_1" },
            { reply: [{ pause: 5 }, { hang: "here" }, { cut: true }], stop: "end_turn" },
            { say: { repeat: "é", bytes: 5 } },
            { streamError: "overloaded_error", message: "busy" },
          ],
        },
      ],
      side: { title: "T" },
    }
    expect(parseScenario(scenario)).toEqual(scenario)
  })

  test("that is not an object, or has no turns, is refused", () => {
    expect(problems(undefined)).toEqual(["scenario: is missing: must be an object"])
    expect(problems({})).toEqual(["turns: is missing: must be a list"])
    expect(problems({ turns: [] })[0]).toMatch(/^turns: /)
  })

  test.each([
    ["an unknown key at the top", { turns: [{ steps: [] }], nmae: "x" }, ['nmae: unknown key: did you mean "name"?']],
    [
      "an unknown key of a turn",
      { turns: [{ steps: [], sotp: 1 }] },
      ['turns[0].sotp: unknown key: did you mean "stop"?'],
    ],
    [
      "a misspelt key of a step",
      withStep({ tool: "Bash", inptu: {} }),
      ['turns[0].steps[0].inptu: unknown key: did you mean "input"?'],
    ],
    [
      "a wrong type",
      withStep({ say: "x", chunk: "5" }),
      ['turns[0].steps[0].chunk: must be a number, not the text "5"'],
    ],
    [
      "a text of no known form",
      withStep({ say: 5 }),
      ["turns[0].steps[0].say: must be a text, { repeat, times } or { repeat, bytes }, not 5"],
    ],
    [
      "a step of no known kind",
      withStep({ speak: "x" }),
      [
        "turns[0].steps[0]: must be an object with one of: say, think, tool, todos, pause, hang, cut, streamError, rateLimit, compact, elicit, emit, reply, error, loop",
      ],
    ],
    [
      "a step inside a reply",
      withStep({ reply: [{ tool: "Bash", input: 5 }] }),
      ["turns[0].steps[0].reply[0].input: must be an object, not 5"],
    ],
    [
      "an unknown stop reason",
      { turns: [{ steps: [], stop: "done" }] },
      [expect.stringMatching(/^turns\[0\]\.stop: must be one of end_turn, /)],
    ],
    [
      "an HTTP status that is no error",
      withStep({ error: 200 }),
      [expect.stringMatching(/^turns\[0\]\.steps\[0\]\.error: /)],
    ],
  ])("names the place of %s", (_, value, expected) => {
    expect(problems(value)).toEqual(expected)
  })

  test("cannot fail a call that has begun to answer", () => {
    expect(problems({ turns: [{ steps: [{ say: "x" }, { error: 500 }] }] })).toEqual([
      expect.stringMatching(/^turns\[0\]\.steps\[1\]: an error answers a call instead of a reply/),
    ])
  })

  test("keeps the path of a problem as keys, for whoever knows the lines", () => {
    expect(failure(withStep({ say: "x", x: 1 })).details).toEqual({
      problems: [{ path: ["turns", 0, "steps", 0, "x"], message: expect.stringMatching(/^unknown key/) }],
    })
  })
})
