import type { Scenario } from "./schema.ts"

/** What a scenario cannot know when it is written. */
export interface Place {
  readonly cwd: string
  readonly planFile: string
}

/** The scenario with `{{cwd}}` and `{{planFile}}` replaced in all its texts. */
export function inPlace(scenario: Scenario, place: Place): Scenario {
  return placed(scenario, place)
}

/**
 * Only texts change, so the shape stays. What has no such text in it stays the same object: hundreds of agents may share
 * one scenario.
 */
function placed<T>(value: T, place: Place): T
function placed(value: unknown, place: Place): unknown {
  if (typeof value === "string") {
    return value.includes("{{")
      ? value.replaceAll("{{cwd}}", () => place.cwd).replaceAll("{{planFile}}", () => place.planFile)
      : value
  }
  if (typeof value !== "object" || value === null) return value
  const before: [string, unknown][] = Object.entries(value)
  const after = before.map(([key, item]): [string, unknown] => [key, placed(item, place)])
  if (after.every(([, item], index) => item === before[index]?.[1])) return value
  return Array.isArray(value) ? after.map(([, item]) => item) : Object.fromEntries(after)
}
