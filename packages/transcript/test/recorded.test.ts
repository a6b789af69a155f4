import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { Transcript, type TranscriptEvent } from "../src/index.ts"

const fixtures = join(dirname(fileURLToPath(import.meta.url)), "../../protocol/test/fixtures")
const versions = readdirSync(fixtures)

/** What a CLI said, as events; its deltas too, in their place. */
function replay(file: string): Transcript {
  const transcript = new Transcript()
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean)
  for (const [index, line] of lines.entries()) {
    const message = JSON.parse(line) as TranscriptEvent["message"]
    transcript.delta(message)
    transcript.fold([{ seq: index + 1, at: "2026-01-01T00:00:00.000Z", from: "agent", message }])
    transcript.rows()
  }
  return transcript
}

describe("the transcript of what real CLIs said", () => {
  it.each(versions)("[TR12] %s says nothing that has no row of its kind", (version) => {
    const unknown = readdirSync(join(fixtures, version)).flatMap((name) =>
      replay(join(fixtures, version, name))
        .rows()
        .flatMap((row) => (row.kind === "unknown" ? [`${name}: ${row.name}`] : [])),
    )
    expect([...new Set(unknown)]).toEqual([])
  })

  it.each(versions)("[TR13] what %s was saying is said at the end, under the same keys", (version) => {
    const file = readdirSync(join(fixtures, version)).find((name) => name.startsWith("partial-messages.stdio"))
    const rows = replay(join(fixtures, version, file ?? "")).rows()
    expect(rows.filter((row) => "state" in row && row.state === "live")).toEqual([])
    expect(rows.some((row) => row.kind === "text")).toBe(true)
  })
})
