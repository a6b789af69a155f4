import { isObject } from "@signalbox/protocol/envelope"
import { compareLines } from "./compare-lines.ts"

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

function splitLines(text: string): readonly string[] {
  if (text === "") return []
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

interface Compared {
  readonly before: string
  readonly after: string
  readonly firstLine: number
  readonly hunks: readonly Hunk[]
}

/** A request and its row in the transcript show the same texts: the last few are not compared again. */
let compared: readonly Compared[] = []
const MAX_COMPARED = 4

export function diffTexts(before: string, after: string, firstLine = 1): readonly Hunk[] {
  const isIt = (known: Compared) => known.firstLine === firstLine && known.before === before && known.after === after
  const found = compared.find(isIt) ?? { before, after, firstLine, hunks: difference(before, after, firstLine) }
  compared = [found, ...compared.filter((known) => known !== found)].slice(0, MAX_COMPARED)
  return found.hunks
}

/** All of both texts as one hunk: what is long and unchanged in it is folded where it is drawn. Nothing where they are equal. */
function difference(before: string, after: string, firstLine: number): readonly Hunk[] {
  const [a, b] = [splitLines(before), splitLines(after)]
  const stretches = compareLines(a, b)
  if (stretches.every(({ isSame }) => isSame)) return []
  const lines = stretches.flatMap((stretch) => {
    const [old, now] = [a.slice(...stretch.before), b.slice(...stretch.after)]
    return stretch.isSame ? asLines("same", old) : [...asLines("removed", old), ...asLines("added", now)]
  })
  return [{ lines: numbered(lines, { before: firstLine, after: firstLine }) }]
}

/** A text as it is, with its lines numbered. */
export function linesOf(text: string, firstLine = 1): readonly Hunk[] {
  const from = { before: firstLine, after: firstLine }
  return [{ lines: numbered(asLines("same", splitLines(text)), from) }]
}

type Unnumbered = Pick<DiffLine, "kind" | "text">

function asLines(kind: DiffLine["kind"], texts: readonly string[]): readonly Unnumbered[] {
  return texts.map((text) => ({ kind, text }))
}

function numbered(lines: readonly Unnumbered[], from: { before: number; after: number }): readonly DiffLine[] {
  let { before, after } = from
  return lines.map(({ kind, text }) => {
    if (kind === "removed") return { kind, text, before: before++ }
    if (kind === "added") return { kind, text, after: after++ }
    return { kind, text, before: before++, after: after++ }
  })
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

const counted = new WeakMap<readonly Hunk[], { readonly added: number; readonly removed: number }>()

export function countsOf(hunks: readonly Hunk[]): { readonly added: number; readonly removed: number } {
  const known = counted.get(hunks)
  if (known !== undefined) return known
  let [added, removed] = [0, 0]
  for (const { lines } of hunks)
    for (const { kind } of lines) {
      if (kind === "added") added++
      else if (kind === "removed") removed++
    }
  counted.set(hunks, { added, removed })
  return { added, removed }
}
