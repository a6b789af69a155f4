import { isObject, textOf } from "@signalbox/protocol/envelope"
import { diffTexts, type Hunk } from "../../transcript/content/line-diff.ts"
import { applied, hunksOfInput } from "../../transcript/tools/edit-hunks.ts"

type Input = Readonly<Record<string, unknown>>

/** The effect of an edit: on the file as it is, or as far as the request itself tells. Pure. */
export interface EditPreview {
  readonly source: "file" | "request"
  readonly hunks: readonly Hunk[]
  /** A remark for the reader. */
  readonly note: string | undefined
}

const UNCHECKED = "Couldn't read the current file. Showing the proposed text only."
/** CLIs answer the same for a file that isn't there and for one that they don't show. */
const NEW_OR_UNREAD = "A new file, or one that couldn't be read. Showing the whole proposed text."

interface Edit {
  readonly tool: string
  readonly input: Input
  /** The request by itself. */
  readonly told: readonly Hunk[]
  readonly file: FileNow
}

/** The content of the file as it is now. `refused`: its agent does not show it. `unknown`: not asked, not answered yet, or not whole. */
export type FileNow =
  | { readonly state: "asking" | "refused" | "unknown" }
  | { readonly state: "read"; readonly text: string }

export function previewOf({ tool, input, told, file }: Edit): EditPreview {
  const ofRequest = (note: string | undefined): EditPreview => ({ source: "request", hunks: told, note })
  if (file.state === "asking") return ofRequest(undefined)
  if (file.state !== "read") return ofRequest(file.state === "refused" && tool === "Write" ? NEW_OR_UNREAD : UNCHECKED)
  const { text } = file
  if (tool === "Write") {
    const note = text === "" ? undefined : "Replaces the whole file."
    return { source: "file", hunks: diffTexts(text, textOf(input, "content") ?? ""), note }
  }
  const after = applied(text, input)
  if (after === undefined) return ofRequest("The text to replace isn't in the current file.")
  return { source: "file", hunks: diffTexts(text, after), note: undefined }
}

/** The change as far as the request itself tells it. A cell that is deleted takes no new text, whatever the request says. */
export function toldBy(tool: string, input: Input): readonly Hunk[] {
  return hunksOfInput(tool, input["edit_mode"] === "delete" ? { ...input, new_source: "" } : input)
}

/** Fields whose texts a diff shows, by the tool. */
const DRAWN: Readonly<Record<string, readonly string[]>> = {
  Write: ["content"],
  NotebookEdit: ["old_source", "new_source"],
}
const OF_EDIT = ["old_string", "new_string"]

/** Everything in an edit's input but the path and the texts that its diff shows: it changes what happens, too. Pure. */
export function restOfEdit(tool: string, input: Input, hunks: readonly Hunk[]): Input {
  const path = ["file_path", "notebook_path"].filter((name) => (textOf(input, name) ?? "") !== "").slice(0, 1)
  // A diff without a line shows no text.
  if (hunks.length === 0) return without(input, path)
  const { edits } = input
  if (!Array.isArray(edits) || DRAWN[tool] !== undefined) return without(input, [...path, ...(DRAWN[tool] ?? OF_EDIT)])
  const more = edits.flatMap((edit: unknown, index) => {
    const own = isObject(edit) ? without(edit, OF_EDIT) : edit
    return isObject(own) && Object.keys(own).length === 0 ? [] : [[`edit ${index + 1}`, own] as const]
  })
  const { edits: _, ...rest } = without(input, path)
  return more.length === 0 ? rest : { ...rest, edits: Object.fromEntries(more) }
}

/** Fields with a text are shown by their diff, one with anything else is not. Not to replace all is what an edit does by itself. */
function without(input: Input, drawn: readonly string[]): Input {
  return Object.fromEntries(
    Object.entries(input).filter(([name, value]) =>
      name === "replace_all" ? value !== false : !(drawn.includes(name) && typeof value === "string"),
    ),
  )
}
