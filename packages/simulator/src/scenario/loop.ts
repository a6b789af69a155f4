import type { LoopStep, PlainStep, Step } from "./schema.ts"

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
    for (const step of steps) {
      const made = filled(step, words)
      if ("loop" in made) yield* roundsOf(made)
      else yield made
    }
  }
}

/**
 * The same value with every `{{name}}` in its texts replaced; only texts change, so its shape stays. A name that nobody
 * knows stays as it is.
 */
function filled<T>(value: T, words: ReadonlyMap<string, string>): T
function filled(value: unknown, words: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") {
    return value.includes("{{") ? value.replaceAll(/\{\{(\w+)\}\}/g, (all, name) => words.get(name) ?? all) : value
  }
  if (Array.isArray(value)) return value.map((item) => filled(item, words))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, words)]))
}
