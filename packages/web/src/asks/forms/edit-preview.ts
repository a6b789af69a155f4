import { isObject, textOf } from "@signalbox/protocol/envelope"
import { diffTexts, type Hunk } from "../../transcript/content/line-diff.ts"

type Input = Readonly<Record<string, unknown>>

/** The effect of an edit: on the file as it is, or as far as the request itself tells. Pure. */
export interface EditPreview {
  readonly source: "file" | "request"
  readonly hunks: readonly Hunk[]
  /** A remark for the reader. */
  readonly note: string | undefined
}

const UNCHECKED = "Couldn't read the current file. Showing the proposed text only."

interface Edit {
  readonly tool: string
  readonly input: Input
  /** The request by itself. */
  readonly told: readonly Hunk[]
  /** The content of the file now, where that could be had. */
  readonly file: string | undefined
}

export function previewOf({ tool, input, told, file }: Edit): EditPreview {
  const ofRequest = (note: string): EditPreview => ({ source: "request", hunks: told, note })
  if (file === undefined) return ofRequest(UNCHECKED)
  if (tool === "Write") {
    const note = file === "" ? undefined : "Replaces the whole file."
    return { source: "file", hunks: diffTexts(file, textOf(input, "content") ?? ""), note }
  }
  const after = applied(file, input)
  if (after === undefined) return ofRequest("The text to replace isn't in the current file.")
  return { source: "file", hunks: diffTexts(file, after), note: undefined }
}

/** All edits one after the other; undefined when one of them has nothing to replace. */
function applied(file: string, input: Input): string | undefined {
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
