import { expect, it } from "vitest"
import { RuleUses } from "../src/policy-desk.ts"
import { MemoryDirectory } from "../src/testing/memory-directory.ts"

it("[PO32] a day begins at midnight, and a clock that is set back gives none of its uses back", () => {
  let now = "2030-01-31T23:59:00Z"
  const uses = new RuleUses(new MemoryDirectory(), () => new Date(now))
  expect(uses.add("s1", ["tests"])).toEqual({ rules: ["tests"], day: "2030-01-31" })
  now = "2030-02-01T00:00:01Z"
  uses.add("s1", ["tests"])
  uses.add("s2", ["tests"])
  expect(uses.of("s1")).toEqual({ tests: { session: 2, day: 2 } })
  now = "2030-01-31T23:59:30Z"
  expect(uses.of("s2")).toEqual({ tests: { session: 1, day: 2 } })
})
