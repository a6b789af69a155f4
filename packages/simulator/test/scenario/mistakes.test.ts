import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readScenarioFile, SimulatorError } from "@signalbox/simulator"
import { afterAll, describe, expect, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "signalbox-mistakes-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What is said of a file with this text, without the file's name. */
async function told(text: string, name = "s.yaml"): Promise<string[]> {
  const file = join(folder, name)
  writeFileSync(file, text)
  try {
    await readScenarioFile(file)
  } catch (error) {
    if (!(error instanceof SimulatorError) || error.code !== "scenario/invalid") throw error
    return error.message.split("\n").map((line) => line.replace(`${file}:`, ""))
  }
  throw new Error("The scenario was taken.")
}

const STEPS = "turns:\n  - steps:\n"

describe("a mistake in a scenario file", () => {
  it.each([
    ["an empty file", "", ["1: the file is empty: the least there can be is `turns: [{ steps: [{ say: Hello. }] }]`"]],
    ["nothing but a comment", "# to do\n", [expect.stringMatching(/^1: the file is empty/)]],
    ["a text", "just words", ['1: scenario: must be an object, not the text "just words"']],
    ["no turns", "name: x\n", ["1: turns: is missing: must be a list"]],
    ["a list of no turns", "name: x\nturns: []\n", ["2: turns: must have at least one item"]],
    ["a misspelt key", "nmae: x\nturns: [{ steps: [] }]\n", ['1: nmae: unknown key: did you mean "name"?']],
    [
      "a misspelt key, told once and not as missing too",
      `${STEPS}      - tool: Bash\n        inptu:\n          command: ls\n`,
      ['4: turns[0].steps[0].inptu: unknown key: did you mean "input"?'],
    ],
    [
      "a key that resembles none",
      `${STEPS}      - pause: 5\n        colour: red\n`,
      ["4: turns[0].steps[0].colour: unknown key: the keys here are pause"],
    ],
    [
      "a step of no known kind",
      `${STEPS}      - sya: x\n`,
      [
        expect.stringMatching(
          /^3: turns\[0\]\.steps\[0\]: must be an object with .* Did you mean "say" instead of "sya"\?$/,
        ),
      ],
    ],
    ["a missing field", `${STEPS}      - tool: Bash\n`, ["3: turns[0].steps[0].input: is missing: must be an object"]],
    [
      "a wrong type",
      `${STEPS}      - say: x\n        chunk: "5"\n`,
      ['4: turns[0].steps[0].chunk: must be a number, not the text "5"'],
    ],
    [
      "a value that is not in the list",
      `${STEPS}      - todos: [{ content: a, status: compleeted }]\n`,
      [
        '3: turns[0].steps[0].todos[0].status: must be one of pending, in_progress, completed, not the text "compleeted". Did you mean completed?',
      ],
    ],
    [
      "a number out of range",
      `${STEPS}      - error: 200\n`,
      ["3: turns[0].steps[0].error: must be at least 400, not 200"],
    ],
    [
      "a mistake inside a loop inside a loop",
      `${STEPS}      - loop: 2\n        steps:\n          - loop: 2\n            steps:\n              - sy: a\n`,
      [expect.stringMatching(/^7: turns\[0\]\.steps\[0\]\.steps\[0\]\.steps\[0\]/)],
    ],
    [
      "a compaction in the middle of a loop's words",
      `${STEPS}      - loop: 2\n        steps:\n          - say: a\n          - compact: auto\n`,
      [expect.stringMatching(/^6: turns\[0\]\.steps\[0\]\.steps\[1\]: the history is compacted between calls/)],
    ],
    [
      "a key that stands twice",
      `${STEPS}      - say: a\n        say: b\n`,
      ["4: not YAML: this key stands twice in the same object: keep one of them"],
    ],
    ["a tab", "turns:\n\t- steps: []\n", ["2: not YAML: tabs cannot indent YAML: use spaces"]],
    [
      "a colon in a text",
      `${STEPS}      - say: Look: here\n`,
      ["3: not YAML: a text with a colon in it must be in quotes"],
    ],
    ["a star before a text", `${STEPS}      - say: *bold* words\n`, [expect.stringMatching(/^3: not YAML: /)]],
    [
      "a list that does not end",
      "turns:\n  - steps: [\n",
      [expect.stringMatching(/^\d: not YAML: .*must be sufficiently indented and end with a \]/)],
    ],
    [
      "two documents",
      "turns: [{ steps: [] }]\n---\nturns: []\n",
      [expect.stringMatching(/^\d: not YAML: .*a file holds one scenario/)],
    ],
  ])("[N5] is told with its line and what would be right: %s", async (_, text, expected) => {
    expect(await told(text)).toEqual(expected)
  })

  it("[N5] is told of JSON as well", async () => {
    const wrong = '{\n  "turns": [\n    { "steps": [\n      { "say": 5 }\n    ] }\n  ]\n}'
    expect(await told(wrong, "s.json")).toEqual([
      "4: turns[0].steps[0].say: must be a text, { repeat, times } or { repeat, bytes }, not 5",
    ])
    expect(await told('{ "turns": [{ "steps": [],\n "steps": [] }] }', "s.json")).toEqual([
      "2: not YAML: this key stands twice in the same object: keep one of them",
    ])
  })

  it("[N5] does not hide the next one: all are told, in the order of the file", async () => {
    const lines = await told(
      `nmae: x\nturns:\n  - stepz: []\n  - steps:\n      - say: x\n        chunk: "5"\n      - tool: Bash\n`,
    )
    expect(lines.map((line) => line.split(":")[0])).toEqual(["1", "3", "6", "7"])
  })

  it("[N5] repeated a hundred times is told twenty times", async () => {
    const lines = await told(`${STEPS}${"      - say: 5\n".repeat(100)}`)
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toContain("and 80 more")
  })

  it("[N5] in the name of the file is told too", async () => {
    await expect(readScenarioFile(join(folder, "none.yaml"))).rejects.toThrow("cannot be read (there is no such file)")
  })
})
