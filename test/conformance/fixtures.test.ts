import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { describe, expect, it } from "vitest"
import { PINNED } from "../../scripts/claude-cli.mjs"
import { fixtures, problemWith } from "./line-check.ts"

function recordings(version: string): { name: string; lines: string[] }[] {
  return readdirSync(join(fixtures, version))
    .filter((file) => file.endsWith(".ndjson"))
    .map((file) => ({
      name: basename(file),
      lines: readFileSync(join(fixtures, version, file), "utf8")
        .trimEnd()
        .split("\n"),
    }))
}

describe.each(PINNED)("recorded lines of %s", (version) => {
  const files = recordings(version)

  it("[M11] every line is known, fits its schema, and survives decode and encode unchanged", () => {
    expect(files.length).toBeGreaterThan(30)
    const problems = files.flatMap(({ name, lines }) =>
      lines.flatMap((line) => {
        const problem = problemWith(line, "agent")
        return problem === undefined ? [] : [`${name}: ${problem}`]
      }),
    )
    expect(problems).toEqual([])
  })

  it("nothing in them tells on which machine they were recorded", () => {
    const telling = /\/(?:root|var|Users|home\/(?!user\b))\/?[^"\\]*|signalbox-agent-\w*|cc-socks\/(?!1\.)/
    const found = files.flatMap(({ name, lines }) =>
      lines.flatMap((line) => telling.exec(line)?.[0] ?? []).map((place) => `${name}: ${place}`),
    )
    expect(found).toEqual([])
  })
})
