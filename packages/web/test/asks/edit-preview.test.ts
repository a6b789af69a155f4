import { describe, expect, it } from "vitest"
import { previewOf } from "../../src/asks/forms/edit-preview.ts"
import { diffTexts } from "../../src/transcript/content/line-diff.ts"

const told = diffTexts("told", "by the request")
const linesOf = (preview: ReturnType<typeof previewOf>) =>
  preview.hunks
    .flatMap(({ lines }) => lines)
    .map(({ kind, text, before, after }) => `${kind} ${after ?? before} ${text}`)

describe("what an edit would do", () => {
  const input = { old_string: "sleep(50)", new_string: "clock.tick(50)" }

  it("is shown against the file as it is, with the lines' own numbers", () => {
    const preview = previewOf({ tool: "Edit", input, told, file: "a\nsleep(50)\nb\n" })
    expect(preview).toMatchObject({ source: "file", note: undefined })
    expect(linesOf(preview)).toEqual(["same 1 a", "removed 2 sleep(50)", "added 2 clock.tick(50)", "same 3 b"])
  })

  it("is the request's own word where the file cannot be had, and that is said", () => {
    const preview = previewOf({ tool: "Edit", input, told, file: undefined })
    expect(preview.hunks).toBe(told)
    expect(preview.note).toMatch(/Couldn't read the current file/)
  })

  it("says so when the text to replace is not there", () => {
    expect(previewOf({ tool: "Edit", input, told, file: "nothing" })).toMatchObject({
      source: "request",
      note: "The text to replace isn't in the current file.",
    })
  })

  it("of a Write to a file that exists is what it replaces", () => {
    const preview = previewOf({ tool: "Write", input: { content: "x\nnew" }, told, file: "x\nold" })
    expect(linesOf(preview)).toEqual(["same 1 x", "removed 2 old", "added 2 new"])
    expect(preview.note).toBe("Replaces the whole file.")
  })

  it("takes several edits one after the other, all places or the first, and dollar signs as they are", () => {
    const edits = [
      { old_string: "a", new_string: "b", replace_all: true },
      { old_string: "b", new_string: "$&" },
    ]
    expect(linesOf(previewOf({ tool: "MultiEdit", input: { edits }, told, file: "a\na" }))).toEqual([
      "removed 1 a",
      "removed 2 a",
      "added 1 $&",
      "added 2 b",
    ])
  })
})
