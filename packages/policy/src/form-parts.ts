import { type Glob, globCouldMatch, globMatchesAt, type Match, UNKNOWN, type Work } from "./matching.ts"
import type { Span } from "./shell-reading.ts"
import { plainText } from "./shell-text.ts"

/** One command among others, and the places in it where a program may begin. */
export interface CommandPart {
  readonly text: string
  readonly starts: readonly number[]
  /** For each start, where the first UNKNOWN behind it is, or -1. */
  readonly unknowns: readonly number[]
  readonly lastUnknown: number
  /** Its place in the command, if it stands there as it is. */
  readonly span: Span | undefined
}

interface Starts {
  /** A program may begin at the first word, and at every one from here on. */
  readonly from: number
  /** The command begins somewhere in its first word, as in `-lc"rm x"`. */
  readonly isGlued: boolean
}

const MAX_GLUED_CHARS = 16

export function partOf(command: readonly string[], { from, isGlued }: Starts, span: Span | undefined): CommandPart {
  const starts = new Set<number>()
  let text = ""
  for (const [index, word] of command.entries()) {
    if (index > 0) text += " "
    const at = text.length
    const plain = plainText(word)
    text += plain
    if (index > 0 && index < from) continue
    starts.add(at)
    // zsh finds the file of a program behind an equals sign.
    if (plain.startsWith("=")) starts.add(at + 1)
    starts.add(at + plain.lastIndexOf("/", plain.search(/ |$/)) + 1).add(at + plain.lastIndexOf("/") + 1)
    if (isGlued) for (let each = 1; each < Math.min(plain.length, MAX_GLUED_CHARS); each++) starts.add(each)
  }
  const sorted = [...starts].sort((a, b) => a - b)
  return { text, starts: sorted, unknowns: unknownsBehind(text, sorted), lastUnknown: text.lastIndexOf(UNKNOWN), span }
}

/** It may be any command. */
export const ANY_COMMAND: CommandPart = { text: UNKNOWN, starts: [0], unknowns: [0], lastUnknown: 0, span: undefined }

/** Goes through the text once. */
function unknownsBehind(text: string, starts: readonly number[]): number[] {
  let next = text.indexOf(UNKNOWN)
  return starts.map((start) => {
    while (next !== -1 && next < start) next = text.indexOf(UNKNOWN, next + 1)
    return next
  })
}

/** For a deny or an ask: what is found, and the part of the command that it was found in. */
export function partsMatch(
  glob: Glob,
  parts: readonly CommandPart[],
  work: Work,
): { readonly match: Match; readonly span?: Span | undefined } {
  for (const { text, starts, span } of parts) {
    if (globMatchesAt(glob, text, starts, work)) return { match: "yes", span }
  }
  const unclear = parts.find((part) => couldMatch(glob, part, work))
  return unclear === undefined ? { match: "no" } : { match: "maybe", span: unclear.span }
}

function couldMatch(glob: Glob, { text, starts, unknowns, lastUnknown }: CommandPart, work: Work): boolean {
  if (lastUnknown === -1) return false
  return starts.some((from, index) => {
    const firstUnknown = unknowns[index] ?? -1
    return firstUnknown !== -1 && globCouldMatch(glob, { text, from, firstUnknown, lastUnknown }, work)
  })
}
