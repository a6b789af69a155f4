import type { Off } from "./checks.ts"
import { ASSIGNMENT, programOf } from "./inner-commands.ts"
import { type Glob, globCouldMatch, globMatchesAt, type Match, UNKNOWN, type Work } from "./matching.ts"
import { EVALUATORS, RESERVED, RUNNERS } from "./programs.ts"
import { readShell, type ShellPart, type ShellReading, type ShellWord, type Span } from "./shell-reading.ts"
import { MAX_COMMAND_CHARS, PART, plainText, READING, writtenText } from "./shell-text.ts"

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
  /** Where it stands in the command, if it stands there as it is. */
  readonly span: Span | undefined
}

/** Commands within commands (`bash -c "bash -c …"`) deeper than this are not read. */
export const MAX_DEPTH = 8
/** In `-lc"rm x"` the command begins somewhere in the first word. */
const MAX_GLUED_CHARS = 16

/**
 * Generous: every command in a compound one, whether the quotes are taken for quotes or for nothing, without the
 * variables set before it, with and without the folder of its program, at every word behind a program that runs others,
 * and what such a program is given to run as one word.
 */
export function commandForms(text: string, reading: ShellReading, work: Work, off: Off): CommandForms {
  const reader = new FormReader(work, off)
  reader.addReading(text, reading, { depth: 0, hasSpans: true })
  // As if there were no quotes: some program behind them may not know them.
  if (text.length <= MAX_COMMAND_CHARS && /["']/.test(text)) reader.addText(withoutQuotes(text))
  return { whole: collapse(text), parts: reader.parts }
}

/** `$'…'` may spell anything: what is left of it is a variable that nobody knows. */
function withoutQuotes(text: string): string {
  return text.replace(/\$["']/g, "$$_").replace(/\\*["']/g, " ")
}

export function collapse(text: string): string {
  return text.slice(0, MAX_COMMAND_CHARS).replace(/\s+/g, " ").trim()
}

/** For a deny or an ask: what is found, and the part of the command that it was found in. */
export function formsMatch(
  glob: Glob,
  { parts }: CommandForms,
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

interface Where {
  /** Undefined: what is found is not read further. */
  readonly depth?: number
  readonly hasSpans?: boolean
  /** The first command is no command, or begins somewhere in its first word. */
  readonly first?: "text" | "glued"
}

/** Commands inside a word are read before the one that it belongs to. */
function firstOf(parts: readonly ShellPart[]): ShellPart | undefined {
  let first: ShellPart | undefined
  for (const part of parts) {
    if (part.kind !== "command") continue
    const { start, end } = first?.span ?? { start: Number.POSITIVE_INFINITY, end: 0 }
    if (part.span.start < start || (part.span.start === start && part.span.end >= end)) first = part
  }
  return first
}

class FormReader {
  readonly parts: CommandPart[] = []
  readonly #work: Work
  readonly #off: Off

  constructor(work: Work, off: Off) {
    this.#work = work
    this.#off = off
  }

  addText(text: string, where: Where = {}): void {
    this.addReading(text, readShell(text, this.#work, { off: this.#off }), where)
  }

  addReading(text: string, { parts, isBroken }: ShellReading, where: Where): void {
    const { first: how, ...others } = where
    const first = how === undefined ? undefined : firstOf(parts)
    for (const part of parts) {
      if (part === first && how === "text") continue
      if (part.kind === "command") this.#addCommand(part.words, part === first ? where : others, part.span)
      if (part.kind === "redirection" && part.body !== undefined) this.#addBody(part.body, where)
    }
    // `$((git push))` is arithmetic for one shell and a subshell for another.
    if ((isBroken || text.includes("((")) && text.length <= MAX_COMMAND_CHARS) this.#addPieces(text)
  }

  /** What the parser could not read is taken apart at everything that might be an operator. */
  #addPieces(text: string): void {
    this.#work.spend(READING * text.length)
    for (const piece of text.split(/[;&|\n\r(){}`<>]+|\$(?=\()/)) {
      const words = piece.split(/\s+/).filter((word) => word !== "")
      const plain = words.map((word) => ({
        text: word.replace(/\\|["']/g, "").replace(/\$\w*/g, UNKNOWN),
        isGlob: false,
      }))
      this.#addCommand(plain, {}, undefined)
    }
  }

  #addCommand(words: readonly ShellWord[], where: Where, span: Span | undefined): void {
    const { depth } = where
    const skipped = words.findIndex(
      ({ text }) => !ASSIGNMENT.test(text) && !/^[{}!]$/.test(text) && (!RESERVED.has(text) || RUNNERS.has(text)),
    )
    if (skipped === -1) return
    const command = words.slice(skipped)
    const program = programOf(command[0]?.text ?? "")
    const isRunner = RUNNERS.has(program)
    const texts = command.map((word) => (isRunner && word.isGlob ? unclearGlob(word.text) : word.text))
    this.#work.spend(PART)
    const which = isRunner ? "all" : where.first === "glued" ? "glued" : "first"
    this.parts.push(partOf(texts, which, where.hasSpans === true ? span : undefined))
    if (depth === undefined || (!isRunner && !EVALUATORS.has(program))) return
    for (const { text } of command.slice(1)) this.#addInner(text, where, isRunner)
  }

  /** What stands in a here-document may be for a shell. */
  #addBody(body: string, { depth }: Where): void {
    if (depth !== undefined && depth < MAX_DEPTH) this.addText(writtenText(body), { depth: depth + 1 })
  }

  /** Reads a word that a program may run as a command. */
  #addInner(word: string, where: Where, isRunner: boolean): void {
    const depth = (where.depth ?? MAX_DEPTH) + 1
    const text = writtenText(word)
    if (where.depth === undefined || !/[\s;&|<>()$`\\'"]/.test(text)) return
    if (depth > MAX_DEPTH) {
      this.parts.push({ text: UNKNOWN, starts: [0], unknowns: [0], lastUnknown: 0, span: undefined })
      return
    }
    if (!isRunner) return this.addText(text, { depth, first: "text" })
    const option = /^--[^=\s]*=/.exec(text)?.[0] ?? ""
    const isGlued = option === "" && text.startsWith("-")
    this.addText(text.slice(option.length), isGlued ? { depth, first: "glued" } : { depth })
  }
}

/** A pattern for file names can become the name of a program, unless it is one for files of a kind (`*.ts`). */
function unclearGlob(word: string): string {
  if (!word.startsWith("/") && programOf(word).startsWith("*")) return word
  return word.replace(/[*?]|\[[^\]]*\]?/g, UNKNOWN)
}

function partOf(command: readonly string[], which: "all" | "first" | "glued", span: Span | undefined): CommandPart {
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
  return { text, starts: sorted, unknowns: unknownsBehind(text, sorted), lastUnknown: text.lastIndexOf(UNKNOWN), span }
}

/** Goes through the text once. */
function unknownsBehind(text: string, starts: readonly number[]): number[] {
  let next = text.indexOf(UNKNOWN)
  return starts.map((start) => {
    while (next !== -1 && next < start) next = text.indexOf(UNKNOWN, next + 1)
    return next
  })
}
