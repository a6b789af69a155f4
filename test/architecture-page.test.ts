import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { isWholeRun } from "./gate.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const page = readFileSync(join(root, "docs/architecture.md"), "utf8")

/** What the script writes, between its marks. */
function walkIn(text: string): string {
  const [begin, end] = ["<!-- The walk: ", "<!-- The walk ends. -->"]
  return text.slice(text.indexOf(begin), text.indexOf(end) + end.length)
}

describe("docs/architecture.md", () => {
  it("leads only to what exists", () => {
    const targets = [...page.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map((match) => match[1] ?? "")
    expect(targets.length).toBeGreaterThan(50)
    expect(targets.filter((target) => !existsSync(join(root, "docs", target)))).toEqual([])
  })

  it.runIf(isWholeRun)(
    "tells the walk of one request: `npm run generate` writes it anew",
    async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [join(root, "scripts/trace-request.mjs")])
      expect(walkIn(page)).toBe(stdout.trim())
    },
    300_000,
  )
})
