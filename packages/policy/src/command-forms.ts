import { ANY_COMMAND, type CommandPart, partOf } from "./form-parts.ts"
import { inNoFolder } from "./inner.ts"
import { ASSIGNMENT, innerOf, nameOf, programOf } from "./inner-commands.ts"
import { UNKNOWN, type Work } from "./matching.ts"
import { ADDS_WORDS, EVALUATORS, FED, RESERVED, RUN_WORDS, RUNNERS } from "./programs.ts"
import { readShell, type ShellPart, type ShellReading, type ShellWord, type Span } from "./shell-reading.ts"
import { MAX_COMMAND_CHARS, PART, READING, writtenText } from "./shell-text.ts"

/** The forms of a command that a deny or an ask is tried on. They are worked out once for all rules. */
export interface CommandForms {
  /** As it is written, with single blanks. */
  readonly whole: string
  readonly parts: readonly CommandPart[]
}

/** Commands within commands (`bash -c "bash -c …"`) deeper than this are not read. */
export const MAX_SCRIPT_DEPTH = 8
/** Units of work for a character of a form. */
const FORM = 16
/** Words that are taken for the verb of `git -C x push`. */
const MAX_VERBS = 24
/** Programs behind a runner whose options are looked past. */
const MAX_PROGRAMS = 4

/**
 * Generous: every command in a compound one, whether the quotes are taken for quotes or for nothing, without the
 * variables set before it and the options before its verb, with the files it is given as input, with and without the
 * folder of its program, at every word behind a program that runs others, and what such a program is given to run as
 * one word.
 */
export function commandForms(text: string, reading: ShellReading, work: Work): CommandForms {
  const reader = new FormReader(work)
  reader.addReading(text, reading, { depth: 0, hasSpans: true })
  // As if there were no quotes: some program behind them may not know them.
  if (text.length <= MAX_COMMAND_CHARS && /["']/.test(text)) reader.addText(withoutQuotes(text), {})
  return { whole: collapse(text), parts: reader.parts }
}

/** `$'…'` may spell anything: what is left of it is a variable that nobody knows. */
function withoutQuotes(text: string): string {
  // Each row of backslashes is gone through once, whether a quote follows it or not.
  return text.replace(/\$["']|\\+["']?|["']/g, (found) => {
    if (found.startsWith("$")) return "$_"
    return /["']$/.test(found) ? " " : found
  })
}

const QUOTED = /\\[^]|'[^']*'|"(?:\\[^]|[^"\\])*"/g
/** `*(e:'rm x':)` and `*(+rm)` run a command for each file in zsh. Behind `$`, `<`, `>` and `=` stands something else. */
const QUALIFIER = /[^\s;&|(<>$=!]\([^()\n]*[e+]/

/** Text in quotes is no pattern for files: `fix(release): x`. */
function hasQualifier(text: string): boolean {
  return text.includes("(") && QUALIFIER.test(text.includes("$'") ? text : text.replace(QUOTED, ""))
}

export function collapse(text: string): string {
  return text.slice(0, MAX_COMMAND_CHARS).replace(/\s+/g, " ").trim()
}

interface Where {
  /** Undefined: what is found is not read further. */
  readonly depth?: number
  readonly hasSpans?: boolean
  /** The first command is no command, or begins somewhere in its first word. */
  readonly first?: "text" | "glued"
  /** The output of one command may be carried out by another: `echo rm x | sh`. */
  readonly isFed?: boolean
  /** Its words are part of a form already. */
  readonly isSeen?: boolean
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

type CommandWords = ShellPart & { readonly kind: "command" }

class FormReader {
  readonly parts: CommandPart[] = []
  readonly #work: Work

  constructor(work: Work) {
    this.#work = work
  }

  addText(text: string, where: Where): void {
    this.addReading(text, readShell(text, this.#work), where)
  }

  addReading(text: string, { parts, isBroken, hasInput }: ShellReading, where: Where): void {
    const { first: how, ...others } = where
    const first = how === undefined ? undefined : firstOf(parts)
    const commands = parts.filter((part) => part.kind === "command")
    const isFed = where.isFed === true || commands.some(({ words }) => FED.has(nameOf(words)))
    this.#addFed(commands, hasInput || where.isFed === true)
    for (const part of parts) {
      if (part === first && how === "text") continue
      if (part.kind === "command") this.#addCommand(part, { ...(part === first ? where : others), isFed })
      if (part.kind === "redirection" && part.body !== undefined) this.#addBody(part.body, where)
    }
    if (text.length > MAX_COMMAND_CHARS) return
    if (where.depth !== undefined && hasQualifier(text)) this.parts.push(ANY_COMMAND)
    const isDoubled = text.includes("((")
    // The place in a list (`a=([$(x)]=1)`) and a parameter of zsh (`${(e)x}`) are evaluated, escaped or not.
    const isEvaluated = text.includes("${(") || (text.includes("=(") && text.includes("["))
    if (isBroken || isDoubled || isEvaluated) this.#addPieces(text)
    // `((git push))` is arithmetic for one shell and a subshell in a subshell for another.
    if (isDoubled) this.addText(text.replace(/\((?=\()/g, "( "), { ...others, hasSpans: false })
  }

  /** A shell that carries out its input may run anything. */
  #addFed(commands: readonly CommandWords[], hasInput: boolean): void {
    const isFed = ({ words }: CommandWords) => FED.has(nameOf(words)) && this.#inner(words, true)?.kind === "never"
    if (hasInput && commands.some(isFed)) this.parts.push(ANY_COMMAND)
  }

  /** Text that the parser could not read is taken apart at everything that might be an operator. */
  #addPieces(text: string): void {
    this.#work.spend(READING * text.length)
    for (const piece of text.split(/[;&|\n\r(){}`<>]+|\$(?=\()/)) {
      const written = piece.split(/\s+/).filter((word) => word !== "")
      const words = written.map((word) => ({
        text: word.replace(/\\|["']/g, "").replace(/\$\w*/g, UNKNOWN),
        isGlob: false,
        splits: false,
      }))
      this.#addCommand({ words, inputs: [] }, {})
    }
  }

  #addCommand(given: Pick<CommandWords, "words" | "inputs"> & { readonly span?: Span }, where: Where): void {
    const { depth } = where
    const skipped = given.words.findIndex(
      ({ text }) => !ASSIGNMENT.test(text) && !/^[{}!]$/.test(text) && (!RESERVED.has(text) || RUNNERS.has(text)),
    )
    if (skipped === -1) return
    const command = given.words.slice(skipped)
    const [program, ...operands] = command
    // `RM x` is `rm x` where file names have no case, as on a Mac.
    const lower = program?.text.toLowerCase()
    if (program !== undefined && lower !== undefined && lower !== program.text) {
      this.#addCommand({ ...given, words: [{ ...program, text: lower }, ...operands] }, { ...where, isSeen: false })
    }
    const name = nameOf(command)
    const isRunner = RUNNERS.has(name) || (where.isFed === true && (name === "echo" || name === "printf"))
    const texts = command.map((word) => (isRunner && word.isGlob ? unclearGlob(word.text) : word.text))
    const from = isRunner ? 0 : runsFrom(texts, name)
    const span = where.hasSpans === true ? given.span : undefined
    const inner = isRunner && depth !== undefined && depth < MAX_SCRIPT_DEPTH ? this.#innerCommands(command) : []
    if (where.isSeen !== true) this.#addWords(texts, { from, isGlued: where.first === "glued" }, span)
    // `cat .en?` may be `cat .env`.
    if (!isRunner && command.some(({ isGlob }) => isGlob)) {
      const named = command.map((word) => (word.isGlob ? word.text.replace(GLOB, UNKNOWN) : word.text))
      this.#addWords(named, { from, isGlued: false }, span)
    }
    if (given.inputs.length > 0) this.#addWords([...texts, ...given.inputs], { from, isGlued: false }, span)
    if (ADDS_WORDS.has(name)) this.#addWords([...renamed(texts, name), UNKNOWN], { from, isGlued: false }, span)
    if (inner.length === 0) this.#addWithoutOptions(texts, isRunner, span)
    for (const words of inner) {
      // At each word behind a runner the words themselves are looked at already.
      const isSeen = words.at(-1) === command.at(-1)
      const deeper = { ...where, depth: (depth ?? 0) + 1, isSeen }
      this.#addCommand({ words, inputs: [], ...(span === undefined ? {} : { span }) }, deeper)
    }
    if (depth === undefined) return
    const told = isRunner || EVALUATORS.has(name) ? command.slice(1) : command.slice(Math.min(from, command.length))
    for (const { text } of told) this.#addInner(text, where, !EVALUATORS.has(name))
  }

  /** The commands behind a runner, where it is known which they are: with the words that the runner adds. */
  #innerCommands(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
    const inner = this.#inner(words, false)
    return inner?.kind === "commands" ? inner.commands : []
  }

  #inner(words: readonly ShellWord[], hasInput: boolean): ReturnType<typeof innerOf> {
    this.#work.spend(FORM * words.reduce((sum, { text }) => sum + text.length + 1, 0))
    return innerOf(words, inNoFolder(hasInput))
  }

  #addWords(texts: readonly string[], starts: Parameters<typeof partOf>[1], span: Span | undefined): void {
    const part = partOf(texts, starts, span)
    this.#work.spend(PART + FORM * part.text.length)
    this.parts.push(part)
  }

  /**
   * `git -C x push` is `git push`, and `gcloud compute --project x delete` is `gcloud compute delete`: whether `x` is a value or
   * a verb, nobody need know. A value is one word, so the verb is the first or the second behind an option.
   */
  #addWithoutOptions(texts: readonly string[], isRunner: boolean, span: Span | undefined): void {
    const isOption = (index: number) => texts[index]?.startsWith("-") === true
    const programs = texts.flatMap((_, index) => (!isOption(index) && isOption(index + 1) ? [index] : []))
    const add = (words: readonly string[]) =>
      this.#addWords(words, { from: Number.POSITIVE_INFINITY, isGlued: false }, span)
    for (const at of isRunner ? programs.slice(0, MAX_PROGRAMS) : programs.filter((index) => index === 0)) {
      let verbs = 0
      for (let verb = at + 2, run = 0; verb < texts.length && run < 2; verb++) {
        run = isOption(verb) ? 0 : run + 1
        if (run > 0 && verbs++ >= MAX_VERBS) return void this.parts.push(ANY_COMMAND)
        if (run > 0) add([texts[at] ?? "", ...texts.slice(verb)])
      }
    }
    if (isRunner || !texts.some((_, index) => index > 1 && isOption(index))) return
    add(texts.filter((_, index) => !isOption(index)))
    add(texts.filter((_, index) => !isOption(index) && (index === 0 || !isOption(index - 1))))
  }

  /** A here-document may be for a shell. */
  #addBody(body: string, { depth }: Where): void {
    if (depth !== undefined && depth < MAX_SCRIPT_DEPTH) this.addText(writtenText(body), { depth: depth + 1 })
  }

  /** Reads a word that a program may run as a command. */
  #addInner(word: string, where: Where, isRunner: boolean): void {
    const depth = (where.depth ?? MAX_SCRIPT_DEPTH) + 1
    const text = writtenText(word)
    if (where.depth === undefined || !/[\s;&|<>()$`\\'"]/.test(text)) return
    if (depth > MAX_SCRIPT_DEPTH) return void this.parts.push(ANY_COMMAND)
    const isFed = where.isFed === true
    if (!isRunner) return this.addText(text, { depth, first: "text", isFed })
    const option = /^(?:--[^=\s]*=(?:exec=)?|[\w.-]+=!?|(?:exec|system):)/i.exec(text)?.[0] ?? ""
    const isGlued = option === "" && text.startsWith("-")
    this.addText(text.slice(option.length), isGlued ? { depth, first: "glued", isFed } : { depth, isFed })
  }
}

/** Behind `npm exec` and `docker run` stands a command, behind `docker rm` none. */
function runsFrom(texts: readonly string[], name: string): number {
  const runs = RUN_WORDS.get(name)
  const at = runs === undefined ? -1 : texts.findIndex((text, index) => index > 0 && runs.test(text))
  return at === -1 ? Number.POSITIVE_INFINITY : at
}

/** `alias ls=rm` runs what stands behind the equals sign, and `fd -xrm` what stands behind the letter. */
function renamed(texts: readonly string[], name: string): readonly string[] {
  if (name === "alias") return texts.map((text) => text.replace(/^[^=\s]*=/, ""))
  return texts.map((text) => (/^-[a-zA-Z]*[xX][^xX]/.test(text) ? text.replace(/^-[a-zA-Z]*?[xX]/, "") : text))
}

const GLOB = /[*?]|\[[^\]]*\]?/g

/** A pattern for file names can become the name of a program, unless it is one for files of a kind (`*.ts`). */
function unclearGlob(word: string): string {
  if (!word.startsWith("/") && programOf(word).startsWith("*")) return word
  return word.replace(GLOB, UNKNOWN)
}
