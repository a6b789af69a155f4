import type { LoopStep, PlainStep, Scenario, Step } from "./schema.ts"

// `{{name}}` in the texts of a scenario.

/** The scenario with what it could not know when it was written: `{{cwd}}` and `{{planFile}}`. */
export function inPlace(scenario: Scenario, place: { cwd: string; planFile: string }): Scenario {
  return filled(scenario, new Map(Object.entries(place)))
}

/** The steps in order, the rounds of a loop made one by one: a million of them are never in memory. */
export function* plainSteps(steps: readonly Step[]): Generator<PlainStep> {
  for (const step of steps) {
    if ("loop" in step) yield* roundsOf(step)
    else yield step
  }
}

function* roundsOf({ loop, as = "n", vary = {}, steps }: LoopStep): Generator<PlainStep> {
  const lists = Object.entries(vary)
  for (let n = 1; n <= loop; n++) {
    const words = new Map(lists.map(([name, list]) => [name, list[(n - 1) % list.length] ?? ""]))
    words.set(as, String(n))
    yield* plainSteps(steps.map((step) => filled(step, words)))
  }
}

/**
 * Only texts change, so the shape stays; an unknown name stays as it is. What has no such text in it stays the same
 * object: hundreds of agents may share one scenario.
 */
function filled<T>(value: T, words: ReadonlyMap<string, string>): T
function filled(value: unknown, words: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") {
    return value.includes("{{") ? value.replaceAll(/\{\{(\w+)\}\}/g, (all, name) => words.get(name) ?? all) : value
  }
  if (typeof value !== "object" || value === null) return value
  const before: [string, unknown][] = Object.entries(value)
  const after = before.map(([key, item]): [string, unknown] => [key, filled(item, words)])
  if (after.every(([, item], index) => item === before[index]?.[1])) return value
  return Array.isArray(value) ? after.map(([, item]) => item) : Object.fromEntries(after)
}
