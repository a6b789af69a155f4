import { describe, expect, it } from "vitest"
import { previewOf, restOfEdit, toldBy } from "../../src/asks/forms/edit-preview.ts"
import { diffTexts } from "../../src/transcript/content/line-diff.ts"

const told = diffTexts("told", "by the request")
const read = (text: string) => ({ state: "read", text }) as const
const linesOf = (preview: ReturnType<typeof previewOf>) =>
  preview.hunks
    .flatMap(({ lines }) => lines)
    .map(({ kind, text, before, after }) => `${kind} ${after ?? before} ${text}`)

describe("what an edit would do", () => {
  const input = { old_string: "sleep(50)", new_string: "clock.tick(50)" }

  it("is shown against the file as it is, with the lines' own numbers", () => {
    const preview = previewOf({ tool: "Edit", input, told, file: read("a\nsleep(50)\nb\n") })
    expect(preview).toMatchObject({ source: "file", note: undefined })
    expect(linesOf(preview)).toEqual(["same 1 a", "removed 2 sleep(50)", "added 2 clock.tick(50)", "same 3 b"])
  })

  it("is the request's own word where the file cannot be had, and that is said", () => {
    const preview = previewOf({ tool: "Edit", input, told, file: { state: "unknown" } })
    expect(preview.hunks).toBe(told)
    expect(preview.note).toMatch(/Couldn't read the current file/)
  })

  it("[K-125] of a Write to a file that its agent does not show says that it may be new, and nothing while that is asked", () => {
    const noteOf = (tool: string, state: "asking" | "refused" | "unknown") =>
      previewOf({ tool, input, told, file: { state } }).note
    expect(noteOf("Write", "refused")).toBe(
      "A new file, or one that couldn't be read. Showing the whole proposed text.",
    )
    expect(noteOf("Write", "unknown")).toMatch(/Couldn't read the current file/)
    expect(noteOf("Edit", "refused")).toMatch(/Couldn't read the current file/)
    expect(noteOf("Write", "asking")).toBeUndefined()
  })

  it("says so when the text to replace is not there", () => {
    expect(previewOf({ tool: "Edit", input, told, file: read("nothing") })).toMatchObject({
      source: "request",
      note: "The text to replace isn't in the current file.",
    })
  })

  it("of a Write to a file that exists is what it replaces", () => {
    const preview = previewOf({ tool: "Write", input: { content: "x\nnew" }, told, file: read("x\nold") })
    expect(linesOf(preview)).toEqual(["same 1 x", "removed 2 old", "added 2 new"])
    expect(preview.note).toBe("Replaces the whole file.")
  })

  it("takes several edits one after the other, all places or the first, and dollar signs as they are", () => {
    const edits = [
      { old_string: "a", new_string: "b", replace_all: true },
      { old_string: "b", new_string: "$&" },
    ]
    expect(linesOf(previewOf({ tool: "MultiEdit", input: { edits }, told, file: read("a\na") }))).toEqual([
      "removed 1 a",
      "removed 2 a",
      "added 1 $&",
      "added 2 b",
    ])
  })
})

describe("fields of an edit that its diff does not show", () => {
  const restOf = (tool: string, input: Readonly<Record<string, unknown>>) =>
    restOfEdit(tool, input, toldBy(tool, input))

  it("[K-120] are none for an ordinary one", () => {
    expect(restOf("Edit", { file_path: "a", old_string: "b", new_string: "c", replace_all: false })).toEqual({})
    expect(restOf("Write", { file_path: "a", content: "b" })).toEqual({})
    expect(restOf("MultiEdit", { file_path: "a", edits: [{ old_string: "b", new_string: "c" }] })).toEqual({})
  })

  it("[K-120] are told: all places at once, a cell that is deleted, each edit's own, and what is unknown", () => {
    expect(restOf("Edit", { file_path: "a", old_string: "b", new_string: "c", replace_all: true })).toEqual({
      replace_all: true,
    })
    const cell = { notebook_path: "a", cell_id: "7", edit_mode: "delete", new_source: "# tidy" }
    expect(toldBy("NotebookEdit", cell)).toEqual([])
    expect(restOf("NotebookEdit", cell)).toEqual({ cell_id: "7", edit_mode: "delete", new_source: "# tidy" })
    const edits = [
      { old_string: "b", new_string: "c" },
      { old_string: "d", new_string: "e", replace_all: true },
      "nonsense",
    ]
    expect(restOf("MultiEdit", { file_path: "a", mode: 1, edits })).toEqual({
      mode: 1,
      edits: { "edit 2": { replace_all: true }, "edit 3": "nonsense" },
    })
    // Beside a list of edits these two are not drawn.
    expect(restOf("Edit", { file_path: "a", old_string: "x", new_string: "y", edits: edits.slice(0, 1) })).toEqual({
      old_string: "x",
      new_string: "y",
    })
    expect(restOf("Write", { file_path: "a", notebook_path: "b", content: "c" })).toEqual({ notebook_path: "b" })
  })

  it("[K-120] are the texts themselves where the diff has no line", () => {
    expect(restOf("Write", { file_path: "a", content: "" })).toEqual({ content: "" })
    expect(restOf("Edit", { file_path: "a", old_string: "b", new_string: "b" })).toEqual({
      old_string: "b",
      new_string: "b",
    })
    expect(restOf("Write", { file_path: "a", content: 5 })).toEqual({ content: 5 })
  })
})
