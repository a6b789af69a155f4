import { describe, expect, it } from "vitest"
import { changesOf, changesWords } from "../../src/fleet/session-work.tsx"
import { lastLineOf } from "../../src/sessions/entry-words.ts"
import { sessionOf } from "../session-fixture.ts"

const told = (facts: object) => ({ ...sessionOf({ state: "running", turns: 1, lastLine: "Looking." }), ...facts })

describe("the work of a session", () => {
  it("[S-150] its changed lines are told as the hub counts them, and not at all where it does not", () => {
    const changes = changesOf(told({ changes: { files: 2, added: 12, removed: 4 } }))
    expect(changes).toEqual({ files: 2, added: 12, removed: 4 })
    expect(changes === undefined ? "" : changesWords(changes)).toBe("12 lines added, 4 removed in 2 files")
    expect(changesWords({ files: 3, added: 0, removed: 0 })).toBe("3 files changed")
    expect(changesOf(told({}))).toBeUndefined()
    expect(changesOf(told({ changes: { files: 0, added: 0, removed: 0 } }))).toBeUndefined()
  })

  it("[S-150] while it runs, the task that it is at stands in the place of what it said last", () => {
    const session = told({ progress: { done: 1, total: 3, step: "Writing\nthe tests" } })
    const entry = { session, ask: undefined, machine: undefined }
    expect(lastLineOf({ ...entry, status: "running" })).toBe("Writing the tests")
    expect(lastLineOf({ ...entry, status: "idle" })).toBe("Looking.")
  })
})
