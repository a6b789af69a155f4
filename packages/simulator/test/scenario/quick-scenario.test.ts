import { readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fitsSchema, galleryNames, quickScenario } from "../../src/scenario/load-scenario.ts"
import { checkScenario } from "../../src/scenario/parse-scenario.ts"
import { readYaml } from "../../src/scenario/yaml.ts"

const yamlOf = (name: string) => readFileSync(new URL(`../../gallery/${name}.yaml`, import.meta.url), "utf8")
const gallery = galleryNames().map((name) => readYaml(yamlOf(name)).value)

/** Every kind of step and field there is, each at least once. */
const everything = {
  name: "all",
  description: "of it",
  files: { "a.ts": "x" },
  faults: ["exit=3@result#2"],
  side: { title: "t", compact: "c" },
  turns: [
    {
      prompt: "go",
      on: "go",
      repeat: true,
      costUsd: 0.1,
      model: "m",
      usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
      stop: { reason: "refusal", category: "c" },
      steps: [
        { think: { repeat: "a", times: 3 }, signature: "s" },
        { say: { repeat: "a", bytes: 3 }, deltas: 2, chunk: 1, pauseMs: 0.5, unfinished: true },
        { tool: "Bash", input: { command: "ls" }, id: "toolu_1", result: [{ type: "text" }], isError: true },
        { tool: "Task", input: {}, agent: [{ say: "x" }], background: { durationMs: 1, status: "failed" } },
        { todos: [{ content: "x", status: "pending", activeForm: "y" }], result: "r" },
        { pause: 1 },
        { hang: "here" },
        { reply: [{ cut: true }, { streamError: "overloaded_error" }], stop: "max_tokens" },
        { error: 529, type: "t", message: "m", retryAfter: 0.5, times: 2 },
        { rateLimit: "allowed", utilization: 0.5, resetsAt: 1 },
        { compact: "auto", preTokens: 1, summary: "s" },
        { elicit: "q", server: "s", schema: {}, url: "u" },
        { emit: { type: "system", more: [1] } },
        { loop: 2, as: "n", vary: { name: ["a"] }, steps: [{ loop: 3, steps: [{ say: "{{n}}" }] }] },
      ],
    },
  ],
}

type Path = (string | number)[]

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path]
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  const below = keys.flatMap((key) =>
    pathsIn(Object.entries(value).find(([name]) => name === String(key))?.[1], [...path, key]),
  )
  return [path, ...below]
}

/** A copy in which something else stands at the path, or stands there besides, or nothing stands there. */
function changed(value: unknown, path: Path, change: (found: unknown) => unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return change(value)
  if (Array.isArray(value)) return value.map((item, at) => (at === key ? changed(item, rest, change) : item))
  const entries = Object.entries(Object(value))
  return Object.fromEntries(entries.map(([name, item]) => [name, name === key ? changed(item, rest, change) : item]))
}

const rubbish = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    "",
    "x",
    "a b",
    0,
    1,
    -1,
    0.5,
    400,
    600,
    1e9,
    2 ** 60,
    [],
    {},
    [[]],
    ["x"],
  ),
  fc.constantFrom<unknown>("end_turn", "pending", { repeat: "a", times: 1 }, { say: "x" }, { reason: "refusal" }),
  fc.jsonValue({ maxDepth: 2 }),
)
const change = fc.oneof(
  rubbish.map((value) => () => value),
  fc.tuple(fc.constantFrom("say", "tool", "input", "steps", "nmae", "__proto__x", "pauseMs", "result"), rubbish).map(
    ([key, value]) =>
      (found: unknown) =>
        typeof found === "object" && found !== null && !Array.isArray(found) ? { ...found, [key]: value } : value,
  ),
)

describe("the quick check of a scenario", () => {
  it("[SG6] takes what the real check takes, and nothing else", { timeout: 240_000 }, async () => {
    const sources = [everything, ...gallery]
    const places = sources.map((source) => pathsIn(source))
    const scenario = fc
      .tuple(fc.nat(sources.length - 1), fc.nat(), change, fc.boolean())
      .map(([index, at, mutate, isWhole]) => {
        const paths = places[index] ?? []
        return isWhole && at % 7 === 0
          ? sources[index]
          : changed(sources[index], paths[at % paths.length] ?? [], mutate)
      })
    const verdicts = { good: 0, bad: 0 }
    await fc.assert(
      fc.asyncProperty(scenario, async (value) => {
        const text = JSON.stringify(value)
        const real = checkScenario(JSON.parse(text))
        const quick = await quickScenario(text)
        if ("scenario" in real) verdicts.good++
        else verdicts.bad++
        expect(quick).toEqual("scenario" in real ? real.scenario : undefined)
      }),
      { numRuns: 3000 },
    )
    expect(Math.min(verdicts.good, verdicts.bad)).toBeGreaterThan(200)
  })

  it("[SG6] takes all there is, and the gallery, from JSON and from YAML", async () => {
    expect(await quickScenario(JSON.stringify(everything))).toEqual(everything)
    for (const name of galleryNames()) {
      const text = yamlOf(name)
      expect(await quickScenario(text), name).toEqual(readYaml(text).value)
    }
  })

  it.each([
    ["a key that stands twice", '{"turns":[{"steps":[{"say":"a","say":"b"}]}]}'],
    ["a fault that is none", '{"turns":[{"steps":[]}],"faults":["exit@nowhere@"]}'],
    ["an error after words", '{"turns":[{"steps":[{"say":"a"},{"error":500}]}]}'],
    ["nothing", ""],
    ["half of it", '{"turns":['],
  ])("[SG6] leaves %s to the real check", async (_, text) => {
    expect(await quickScenario(text)).toBeUndefined()
  })

  it("[SG6] takes nothing by a schema with a word it does not know", () => {
    expect(fitsSchema({ type: "string" }, "x")).toBe(true)
    expect(fitsSchema({ type: "string", format: "uri" }, "x")).toBe(false)
  })
})
