import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Row, ToolRow } from "@signalbox/transcript"
import { countsOf, diffTexts, type Hunk } from "../../transcript/content/line-diff.ts"
import { applied, EDITS, hunksOf } from "../../transcript/tools/edit-hunks.ts"

/** The change to one file. */
export interface FileChange {
  readonly path: string
  readonly hunks: readonly Hunk[]
  readonly added: number
  readonly removed: number
  readonly edits: number
  /** From before the first edit to after the last; otherwise the edits one after the other. */
  readonly isNet: boolean
}

interface Turn {
  /** Sequence number of the turn's prompt. */
  readonly seq: number
  readonly words: string
}

export function turnsOf(rows: readonly Row[]): readonly Turn[] {
  return rows.flatMap((row) => (row.kind === "prompt" ? [{ seq: row.headSeq, words: row.text }] : []))
}

/** The calls between a turn's prompt and the next one. */
export function ofTurn(tools: readonly ToolRow[], turns: readonly Turn[], seq: number): readonly ToolRow[] {
  const next = turns.find((turn) => turn.seq > seq)?.seq ?? Number.POSITIVE_INFINITY
  return tools.filter(({ headSeq }) => headSeq > seq && headSeq < next)
}

/** By file, the last one that was touched first. What failed or was denied changed nothing. */
export function changesOf(tools: readonly ToolRow[]): readonly FileChange[] {
  const byPath = new Map<string, ToolRow[]>()
  for (const row of tools) {
    const path = textOf(row.input, "file_path") ?? textOf(row.input, "notebook_path")
    if (path === undefined || row.state !== "done" || !EDITS.has(row.name)) continue
    const edits = byPath.get(path) ?? []
    edits.push(row)
    byPath.delete(path)
    byPath.set(path, edits)
  }
  return [...byPath].map(([path, edits]) => changeOf(path, edits)).toReversed()
}

function changeOf(path: string, edits: readonly ToolRow[]): FileChange {
  const net = netOf(edits)
  const hunks = net ?? edits.flatMap(hunksOf)
  return { path, hunks, ...countsOf(hunks), edits: edits.length, isNet: net !== undefined || edits.length === 1 }
}

/** Rows are another object when they change: two of them are compared once, by the last one. */
const known = new WeakMap<ToolRow, { readonly first: ToolRow; readonly hunks: readonly Hunk[] | undefined }>()

function netOf(edits: readonly ToolRow[]): readonly Hunk[] | undefined {
  const [first, last] = [edits[0], edits.at(-1)]
  if (first === undefined || last === undefined || edits.length === 1) return undefined
  const told = known.get(last)
  if (told?.first === first) return told.hunks
  const [before, after] = [textBefore(first), textAfter(last)]
  const hunks = before === undefined || after === undefined ? undefined : diffTexts(before, after)
  known.set(last, { first, hunks })
  return hunks
}

/** The file as the CLI says it was before a call; a file that is new was empty. */
function textBefore({ name, result }: ToolRow): string | undefined {
  const told = fieldOf({ structured: result?.structured }, "structured")
  const original = told?.["originalFile"]
  if (typeof original === "string") return original
  return name === "Write" && original === null ? "" : undefined
}

function textAfter(row: ToolRow): string | undefined {
  if (row.name === "Write") return textOf(row.input, "content")
  const before = textBefore(row)
  if (before === undefined || row.name === "NotebookEdit") return undefined
  return applied(before, row.input)
}
