import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const NOT_OURS = new Set(["node_modules", "dist", "fixtures"])

/** Never looks into what others make while this runs: a folder may be gone before it is read. */
function filesIn(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesIn(path, pattern)
    return pattern.test(path) ? [join(root, path)] : []
  })
}

/** A rule is a row of a table in docs/spec: `| T7 | … |`. */
const rules = filesIn("docs/spec", /\.md$/).flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/^\| ([A-Z]{1,2}-?\d+) \|/gm)].map((match) => match[1] ?? ""),
)

/** Ids stand in test titles: `[T7] a peer that …`; the shared suites of a room are in its sources. */
const titled = new Set(
  [
    ...filesIn("packages", /\.test\.ts$/),
    ...filesIn("packages", /[\\/]testing[\\/].*\.ts$/),
    ...filesIn("test", /\.test\.ts$/),
  ]
    .filter((file) => file !== fileURLToPath(import.meta.url))
    .flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/\[([A-Z]{1,2}-?\d+)\]/g)].map((match) => match[1] ?? ""),
    ),
)

describe("the numbered rules", () => {
  it("no id stands for two rules", () => {
    expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).toEqual([])
  })

  it("every rule has a test that carries its id", () => {
    expect(rules.length).toBeGreaterThan(100)
    expect(rules.filter((rule) => !titled.has(rule))).toEqual([])
  })

  it("every id in a test's title is a rule", () => {
    expect([...titled].filter((id) => !rules.includes(id))).toEqual([])
  })
})
