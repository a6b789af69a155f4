import fc from "fast-check"
import { describe, it } from "vitest"
import { describeSearchContract } from "../../src/testing/index.ts"
import { openReopenable, withStore } from "./store-folder.ts"

describeSearchContract("SQLite", openReopenable)

/** What a query language might stumble over. */
const OPERATORS = [
  '"',
  "'",
  "*",
  "(",
  ")",
  ":",
  "^",
  "-",
  "+",
  "{",
  "}",
  " ",
  "a",
  "OR",
  "NOT",
  "NEAR",
  "😀",
  "é",
  "\0",
]

describe("search", () => {
  it("[FT3] whatever is typed is looked for, and nothing fails", () =>
    withStore(async (store) => {
      const anything = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom(...OPERATORS) }))
      await fc.assert(
        fc.asyncProperty(anything, async (q) => void (await store.search.search({ q, limit: 5 }))),
        {
          numRuns: 500,
        },
      )
    }))
})
