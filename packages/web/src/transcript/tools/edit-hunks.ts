import type { ToolRow } from "@signalbox/transcript"
import { diffTexts, type Hunk, patchOf } from "../content/line-diff.ts"
import { textIn } from "./tool-words.ts"

/** Tools that change a file. */
export const EDITS: ReadonlySet<string> = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"])

/** What changed, as the CLI tells it; before it does, as the call says it. */
export function hunksOf(row: Pick<ToolRow, "name" | "input" | "result">): readonly Hunk[] {
  const { name, input, result } = row
  const structured = result?.structured
  const told = patchOf(
    typeof structured === "object" && structured !== null && "structuredPatch" in structured
      ? structured.structuredPatch
      : undefined,
  )
  return told ?? hunksOfInput(name, input)
}

export function hunksOfInput(name: string, input: Readonly<Record<string, unknown>>): readonly Hunk[] {
  if (name === "Write") return diffTexts("", textIn(input, "content") ?? "")
  if (name === "NotebookEdit") return diffTexts(textIn(input, "old_source") ?? "", textIn(input, "new_source") ?? "")
  const edits: readonly unknown[] = Array.isArray(input["edits"]) ? input["edits"] : [input]
  return edits.flatMap((edit) => diffTexts(textIn(edit, "old_string") ?? "", textIn(edit, "new_string") ?? ""))
}
