import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { ToolRow, ToolState } from "@signalbox/transcript"
import { diffTexts, type Hunk, patchOf } from "../content/line-diff.ts"
import { textIn } from "./tool-words.ts"

/** Tools that change a file. */
export const EDITS: ReadonlySet<string> = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"])

/** States in which a call changed nothing. */
export const NOT_APPLIED: ReadonlySet<ToolState> = new Set(["failed", "denied", "interrupted"])

type EditRow = Pick<ToolRow, "name" | "input" | "result">

/** Rows are drawn often, and another one when they change: each is compared once. */
const known = new WeakMap<EditRow, readonly Hunk[]>()

/** The change, as the CLI tells it; before it does, as the call says it. */
export function hunksOf(row: EditRow): readonly Hunk[] {
  const structured = row.result?.structured
  const patch = isObject(structured) ? patchOf(structured["structuredPatch"]) : undefined
  const hunks = known.get(row) ?? patch ?? hunksOfInput(row.name, row.input)
  known.set(row, hunks)
  return hunks
}

export function hunksOfInput(name: string, input: Readonly<Record<string, unknown>>): readonly Hunk[] {
  if (name === "Write") return diffTexts("", textIn(input, "content") ?? "")
  if (name === "NotebookEdit") return diffTexts(textIn(input, "old_source") ?? "", textIn(input, "new_source") ?? "")
  const edits: readonly unknown[] = Array.isArray(input["edits"]) ? input["edits"] : [input]
  return edits.flatMap((edit) => diffTexts(textIn(edit, "old_string") ?? "", textIn(edit, "new_string") ?? ""))
}

/** A file after all edits of a call, one after the other; undefined when one of them has nothing to replace. Pure. */
export function applied(file: string, input: Readonly<Record<string, unknown>>): string | undefined {
  const edits: readonly unknown[] = Array.isArray(input["edits"]) ? input["edits"] : [input]
  let text = file
  for (const edit of edits) {
    if (!isObject(edit)) return undefined
    const [from, to] = [textOf(edit, "old_string") ?? "", textOf(edit, "new_string") ?? ""]
    // An empty text to replace means the whole of an empty file.
    if (from === "" ? text !== "" : !text.includes(from)) return undefined
    text = edit["replace_all"] === true && from !== "" ? text.replaceAll(from, () => to) : text.replace(from, () => to)
  }
  return text
}
