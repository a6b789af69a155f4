import { expect, it } from "vitest"
import { jsonText } from "../../src/transcript/content/json-text.ts"

it("[K-122] JSON is printed as usual, and its indent stops growing: deep nesting stays small, whatever its depth", () => {
  const usual = [{ a: [1, [], {}, { "b\n": null }], c: "d\u2028", e: true, f: undefined }, [], "x", 5, null]
  for (const value of [...usual, usual]) expect(jsonText(value)).toBe(JSON.stringify(value, null, 2))
  let deep: unknown = 1
  for (let n = 0; n < 4000; n++) deep = { a: deep }
  const text = jsonText(deep)
  expect(text.length).toBeLessThan(500_000)
  expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(deep))
  for (let n = 0; n < 20_000; n++) deep = [deep]
  expect(jsonText(deep)).toContain('"a": 1')
})
