import { readFileSync } from "node:fs"
import type { Scenario } from "./schema.ts"

/** For those who bring no scenario: words that ask for something get it, and everything else gets an answer. */
export const builtInScenario: Scenario = JSON.parse(
  readFileSync(new URL("../../gallery/built-in.json", import.meta.url), "utf8"),
)
