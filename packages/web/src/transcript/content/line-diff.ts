import { isObject } from "@signalbox/protocol/envelope"

/** A line of a difference between two texts. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed"
  readonly text: string
  /** Its number before and after, where it has one. */
  readonly before?: number
  readonly after?: number
}

export interface Hunk {
  readonly lines: readonly DiffLine[]
}

const CONTEXT = 3
/** Past this the two are shown as one block removed and one added: comparing would take longer than reading. */
const MAX_STEPS = 2_000_000

function splitLines(text: string): readonly string[] {
  if (text === "") return []
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

export function diffTexts(before: string, after: string, firstLine = 1): readonly Hunk[] {
  return hunksOf(diffLines(splitLines(before), splitLines(after), firstLine))
}

function diffLines(a: readonly string[], b: readonly string[], firstLine: number): readonly DiffLine[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const middle = compare(a.slice(start, a.length - end), b.slice(start, b.length - end))
  const same = (text: string) => ({ kind: "same", text }) as const
  const lines = [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)]
  return numbered(lines, { before: firstLine, after: firstLine })
}

type Unnumbered = Pick<DiffLine, "kind" | "text">

function compare(a: readonly string[], b: readonly string[]): readonly Unnumbered[] {
  const removed = (text: string): Unnumbered => ({ kind: "removed", text })
  const added = (text: string): Unnumbered => ({ kind: "added", text })
  if (a.length * b.length > MAX_STEPS) return [...a.map(removed), ...b.map(added)]
  // How many lines of the rest of both are common, for every pair of places: the way through follows the larger.
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: Unnumbered[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (left !== undefined && left === right) {
      lines.push({ kind: "same", text: left })
      i++
      j++
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(left))
      i++
    } else if (right !== undefined) {
      lines.push(added(right))
      j++
    }
  }
  return lines
}

function numbered(lines: readonly Unnumbered[], from: { before: number; after: number }): readonly DiffLine[] {
  let { before, after } = from
  return lines.map(({ kind, text }) => {
    if (kind === "removed") return { kind, text, before: before++ }
    if (kind === "added") return { kind, text, after: after++ }
    return { kind, text, before: before++, after: after++ }
  })
}

/** What changed, with a few lines around it. */
function hunksOf(lines: readonly DiffLine[]): readonly Hunk[] {
  const hunks: Hunk[] = []
  let index = 0
  while (index < lines.length) {
    const first = lines.findIndex((line, at) => at >= index && line.kind !== "same")
    if (first === -1) break
    let last = first
    for (let at = first; at < lines.length && at <= last + 2 * CONTEXT; at++) if (lines[at]?.kind !== "same") last = at
    hunks.push({ lines: lines.slice(Math.max(index, first - CONTEXT), last + CONTEXT + 1) })
    index = last + CONTEXT + 1
  }
  return hunks
}

interface PatchHunk {
  readonly oldStart: number
  readonly newStart: number
  readonly lines: readonly string[]
}

/** The CLI's own account of what a tool changed, if it is one. */
export function patchOf(value: unknown): readonly Hunk[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isPatchHunk)) return undefined
  return value.map(({ oldStart, newStart, lines }) => ({
    lines: numbered(
      lines.filter((line) => !line.startsWith("\\")).map((line) => ({ kind: kindOf(line), text: line.slice(1) })),
      { before: oldStart, after: newStart },
    ),
  }))
}

function isPatchHunk(value: unknown): value is PatchHunk {
  if (!isObject(value)) return false
  const { oldStart, newStart, lines } = value
  const hasPlace = typeof oldStart === "number" && typeof newStart === "number"
  return hasPlace && Array.isArray(lines) && lines.every((line) => typeof line === "string")
}

function kindOf(line: string): DiffLine["kind"] {
  if (line.startsWith("+")) return "added"
  return line.startsWith("-") ? "removed" : "same"
}

export function countsOf(hunks: readonly Hunk[]): { readonly added: number; readonly removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines)
  return {
    added: lines.filter(({ kind }) => kind === "added").length,
    removed: lines.filter(({ kind }) => kind === "removed").length,
  }
}
