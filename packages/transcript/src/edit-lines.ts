import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { numberOf } from "./entry.ts"
import type { JsonObject, ToolRow } from "./row.ts"

export interface EditLine {
  readonly mark: "+" | "-" | " " | "@"
  readonly text: string
}

export interface Edit {
  readonly path: string
  readonly lines: readonly EditLine[]
  readonly added: number
  readonly removed: number
  /** The file itself was compared; otherwise only what the call says. */
  readonly isExact: boolean
}

/** What a call changes in a file; undefined for any other call. */
export function editOf(row: ToolRow): Edit | undefined {
  const { input, name } = row
  const path = textOf(input, "file_path") ?? textOf(input, "notebook_path")
  if (path === undefined) return undefined
  const hunks = fieldOf({ structured: row.result?.structured }, "structured")?.["structuredPatch"]
  if (Array.isArray(hunks) && hunks.length > 0) return told(path, hunks.filter(isObject).flatMap(hunkLines), true)
  const lines = inputLines(name, input)
  return lines === undefined ? undefined : told(path, lines, false)
}

function told(path: string, lines: readonly EditLine[], isExact: boolean): Edit {
  const count = (mark: EditLine["mark"]) => lines.filter((line) => line.mark === mark).length
  return { path, lines, added: count("+"), removed: count("-"), isExact }
}

function hunkLines(hunk: JsonObject): readonly EditLine[] {
  const lines = hunk["lines"]
  const start = numberOf(hunk, "newStart") ?? numberOf(hunk, "oldStart")
  const head: EditLine = { mark: "@", text: start === undefined ? "" : `line ${start}` }
  const body = (Array.isArray(lines) ? lines : []).filter((line) => typeof line === "string").map(markedLine)
  return [head, ...body]
}

function markedLine(line: string): EditLine {
  const mark = line.charAt(0)
  return mark === "+" || mark === "-" ? { mark, text: line.slice(1) } : { mark: " ", text: line.slice(1) }
}

function inputLines(name: string, input: JsonObject): readonly EditLine[] | undefined {
  switch (name) {
    case "Edit":
      return replaced(textOf(input, "old_string") ?? "", textOf(input, "new_string") ?? "")
    case "MultiEdit": {
      const edits = input["edits"]
      const each = (Array.isArray(edits) ? edits : []).filter(isObject)
      return each.flatMap((edit) => [
        { mark: "@" as const, text: "" },
        ...replaced(textOf(edit, "old_string") ?? "", textOf(edit, "new_string") ?? ""),
      ])
    }
    case "Write":
      return replaced("", textOf(input, "content") ?? "")
    case "NotebookEdit":
      return replaced(textOf(input, "old_source") ?? "", textOf(input, "new_source") ?? "")
    default:
      return undefined
  }
}

/** Lines that both have at the beginning and at the end are context; a full comparison is not needed for a few lines. */
function replaced(before: string, after: string): readonly EditLine[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const marked = (mark: EditLine["mark"], lines: readonly string[]) => lines.map((text) => ({ mark, text }))
  return [
    ...marked(" ", old.slice(0, head)),
    ...marked("-", old.slice(head, old.length - tail)),
    ...marked("+", now.slice(head, now.length - tail)),
    ...marked(" ", old.slice(old.length - tail)),
  ]
}

function linesOf(text: string): readonly string[] {
  if (text === "") return []
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n")
}
