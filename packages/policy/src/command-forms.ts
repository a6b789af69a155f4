import { EVALUATORS, RESERVED, RUNNERS } from "./command-words.ts"
import { type Glob, globCouldMatch, globMatchesAt, UNKNOWN } from "./glob.ts"
import type { Match } from "./pattern.ts"
import { ASSIGNMENT, MAX_COMMAND_CHARS, plainText, READING, readCommand, writtenText } from "./shell-reader.ts"
import type { Work } from "./work.ts"

/** The forms of a command that a deny or an ask is tried on. They are worked out once for all rules. */
export interface CommandForms {
  /** As it is written, with single blanks. */
  readonly whole: string
  readonly parts: readonly CommandPart[]
}

/** One command among others, and the places in it where a program may begin. */
interface CommandPart {
  readonly text: string
  readonly starts: readonly number[]
  /** For each start, where the first UNKNOWN behind it is, or -1. */
  readonly unknowns: readonly number[]
  readonly lastUnknown: number
}

/** Commands within commands (`bash -c "bash -c …"`) deeper than this are not read. */
const MAX_DEPTH = 8
/** In `-lc"rm x"` the command begins somewhere in the first word. */
const MAX_GLUED_CHARS = 16

/**
 * Generous: every command in a compound one, whether the quotes are taken for quotes or for nothing, without the
 * variables set before it, with and without the folder of its program, at every word behind a program that runs others,
 * and what such a program is given to run as one word.
 */
export function commandForms(text: string, work: Work): CommandForms {
  const parts: CommandPart[] = []
  const add = (part: CommandPart) => void parts.push(part)
  readParts({ text, depth: 0 }, add, work)
  // As if there were no quotes: some program behind them may not know them.
  if (text.length <= MAX_COMMAND_CHARS && /["']/.test(text))
    readParts({ text: text.replace(/\\*["']/g, " ") }, add, work)
  return { whole: collapse(text), parts }
}

/** For a deny or an ask. `isCertain`: the pattern is one simple command. */
export function formsMatch(glob: Glob, isCertain: boolean, { parts }: CommandForms, work: Work): Match {
  const isFound = parts.some(({ text, starts }) => globMatchesAt(glob, text, starts, work))
  if (isFound) return isCertain ? "yes" : "maybe"
  return parts.some((part) => couldMatch(glob, part, work)) ? "maybe" : "no"
}

function couldMatch(glob: Glob, { text, starts, unknowns, lastUnknown }: CommandPart, work: Work): boolean {
  if (lastUnknown === -1) return false
  return starts.some((from, index) => {
    const firstUnknown = unknowns[index] ?? -1
    return firstUnknown !== -1 && globCouldMatch(glob, { text, from, firstUnknown, lastUnknown }, work)
  })
}

export function collapse(text: string): string {
  return text.slice(0, MAX_COMMAND_CHARS).replace(/\s+/g, " ").trim()
}

/** Text to read: the request itself, or a word in it that some program may run. */
interface Inner {
  readonly text: string
  /** How many programs stand around it; undefined if words in it are only words. */
  readonly depth?: number
  /** The first part is no command, or begins somewhere in its first word. */
  readonly first?: "text" | "glued"
}

type Add = (part: CommandPart) => void

function readParts({ text, depth, first }: Inner, add: Add, work: Work): void {
  work.spend(READING * Math.min(text.length, MAX_COMMAND_CHARS))
  const { parts, globbed } = readCommand(text)
  for (const [index, words] of parts.entries()) {
    if (index === 0 && first === "text") continue
    const skipped = words.findIndex((word) => !ASSIGNMENT.test(word) && (!RESERVED.has(word) || RUNNERS.has(word)))
    if (skipped === -1) continue
    const command = words.slice(skipped)
    const program = programOf(command[0] ?? "")
    const isRunner = RUNNERS.has(program)
    if (isRunner)
      add(
        partOf(
          command.map((word) => (globbed.has(word) ? unclearGlob(word) : word)),
          "all",
        ),
      )
    else add(partOf(command, index === 0 && first === "glued" ? "glued" : "first"))
    if (depth === undefined || (!isRunner && !EVALUATORS.has(program))) continue
    for (const word of command.slice(1)) readInner(word, { isRunner, depth: depth + 1 }, add, work)
  }
}

/** Reads a word that a program may run as a command. */
function readInner(word: string, how: { isRunner: boolean; depth: number }, add: Add, work: Work): void {
  const { isRunner, depth } = how
  const text = writtenText(word)
  if (!/[\s;&|<>()$`\\'"]/.test(text)) return
  if (depth > MAX_DEPTH) return add({ text: UNKNOWN, starts: [0], unknowns: [0], lastUnknown: 0 })
  if (!isRunner) return readParts({ text, depth, first: "text" }, add, work)
  const option = /^--[^=\s]*=/.exec(text)?.[0] ?? ""
  const isGlued = option === "" && text.startsWith("-")
  readParts({ text: text.slice(option.length), depth, ...(isGlued ? { first: "glued" } : {}) }, add, work)
}

/** A pattern for file names can become the name of a program, unless it is one for files of a kind (`*.ts`). */
function unclearGlob(word: string): string {
  if (!word.startsWith("/") && programOf(word).startsWith("*")) return word
  return word.replace(/[*?]|\[[^\]]*\]?/g, UNKNOWN)
}

function partOf(command: readonly string[], which: "all" | "first" | "glued"): CommandPart {
  const starts = new Set<number>()
  let text = ""
  for (const [index, word] of command.entries()) {
    if (index > 0) text += " "
    const at = text.length
    const plain = plainText(word)
    text += plain
    if (index > 0 && which !== "all") continue
    starts.add(at)
    // zsh finds the file of a program behind an equals sign.
    if (plain.startsWith("=")) starts.add(at + 1)
    starts.add(at + plain.lastIndexOf("/", plain.search(/ |$/)) + 1).add(at + plain.lastIndexOf("/") + 1)
    if (which === "glued") for (let each = 1; each < Math.min(plain.length, MAX_GLUED_CHARS); each++) starts.add(each)
  }
  const sorted = [...starts].sort((a, b) => a - b)
  return { text, starts: sorted, unknowns: unknownsBehind(text, sorted), lastUnknown: text.lastIndexOf(UNKNOWN) }
}

/** Goes through the text once. */
function unknownsBehind(text: string, starts: readonly number[]): number[] {
  let next = text.indexOf(UNKNOWN)
  return starts.map((start) => {
    while (next !== -1 && next < start) next = text.indexOf(UNKNOWN, next + 1)
    return next
  })
}

function programOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1)
}
