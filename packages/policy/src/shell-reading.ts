import {
  type Assignment,
  type Command,
  forEachChild,
  type HereDoc,
  type ParsedScript,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "unbash"
import { type Check, NONE_OFF, type Off } from "./checks.ts"
import { ANY, UNKNOWN, type Work } from "./matching.ts"
import { PART, parseText, wordText } from "./shell-text.ts"

/** Where something stands in the command, as indices of the text. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A word without its quotes, in which UNKNOWN is what only the shell will know. */
export interface ShellWord {
  readonly text: string
  /** The shell would take it for a pattern of file names. */
  readonly isGlob: boolean
}

/** One thing that a command does, each of which an allow must cover. */
export type ShellPart =
  | { readonly kind: "command"; readonly words: readonly ShellWord[]; readonly span: Span; readonly isPiped: boolean }
  | { readonly kind: "assignment"; readonly name: string; readonly text: string; readonly span: Span }
  | {
      readonly kind: "redirection"
      readonly operator: string
      readonly target: string
      readonly span: Span
      /** What a here-document or here-string says, to look for commands in. */
      readonly body: string | undefined
    }

/** Why a text as a whole cannot be allowed, to be read after "because". */
export interface ShellProblem {
  readonly because: string
  readonly span: Span
}

export interface ShellReading {
  readonly parts: readonly ShellPart[]
  /** The first one. With a problem the parts are enough to find what is forbidden, never to allow anything. */
  readonly problem?: ShellProblem
  /** The parser could not read it, or was not given it. */
  readonly isBroken: boolean
}

const WORDS_OF_SHELL: Readonly<Partial<Record<SyntaxNode["type"], string>>> = {
  For: "for",
  Select: "select",
  Case: "case",
  ArithmeticFor: "for",
  Function: "function",
  Coproc: "coproc",
  TestCommand: "[[",
  ArithmeticCommand: "((",
  Time: "time",
}

const BETWEEN_WORDS =
  /^(?:[\s;&|(){}!]|\\\n|(?<!\S)(?:if|then|elif|else|fi|while|until|do|done|for|in|case|esac|select|function|coproc|time|-p|\[\[|\]\]|-[a-z])(?![^\s;)]))*$/

interface ReadOptions {
  readonly kind?: "command" | "pattern"
  readonly off?: Off
}

/** Reads a text as Bash does, with everything that it runs. */
export function readShell(
  text: string,
  work: Work,
  { kind = "command", off = NONE_OFF }: ReadOptions = {},
): ShellReading {
  const parsed = parseText(text, work, off)
  if ("problem" in parsed) {
    const span = { start: 0, end: text.length }
    const words = [{ text: UNKNOWN, isGlob: false }]
    return {
      parts: [{ kind: "command", words, span, isPiped: false }],
      problem: { because: parsed.problem, span },
      isBroken: true,
    }
  }
  const reader = new Reader(text, kind, off)
  reader.readWhole(parsed.script)
  const { reading } = reader
  work.spend(PART * reading.parts.length)
  return reading
}

class Reader {
  readonly #parts: ShellPart[] = []
  readonly #kind: "command" | "pattern"
  readonly #off: Off
  #problem: ShellProblem | undefined
  #isBroken = false
  /** The text that positions count in; inside escaped backquotes it is another one, and `#outer` is where they stand. */
  #source: string
  #outer: Span | undefined
  /** Of the script being read: what the parser has accounted for. */
  #covered: Span[] = []

  constructor(text: string, kind: "command" | "pattern", off: Off) {
    this.#source = text
    this.#kind = kind
    this.#off = off
  }

  get reading(): ShellReading {
    const { parts, problem, isBroken } = { parts: this.#parts, problem: this.#problem, isBroken: this.#isBroken }
    return problem === undefined ? { parts, isBroken } : { parts, problem, isBroken }
  }

  readWhole(script: ParsedScript): void {
    const whole = { pos: 0, end: this.#source.length }
    if (/\\\n/.test(this.#source)) this.#complain("joined-lines", "it has more than one line", whole)
    if (/(?<!\\)(?:\\\\)*\\$/.test(this.#source)) {
      this.#complain("ends-in-backslash", "it ends in a backslash", whole)
    }
    if (wordText(this.#source).includes(UNKNOWN)) {
      this.#complain(
        "unseen-characters",
        "it contains a character that cannot be seen, or looks like a blank and is none",
        whole,
      )
    }
    this.#script(script)
  }

  #script(script: ParsedScript): void {
    const before = this.#covered
    this.#covered = []
    for (const error of script.errors ?? []) {
      this.#complain("parse-errors", `Bash could not read it: ${error.message}`, { pos: error.pos, end: script.end })
      this.#isBroken = true
    }
    forEachChild(script, (child) => this.#node(child, false))
    this.#checkRest(script)
    this.#covered = before
  }

  /** Everything between the words must be an operator or a word of the shell's own that we know. */
  #checkRest(script: ParsedScript): void {
    let rest = ""
    let at = script.pos
    for (const { start, end } of this.#covered.sort((a, b) => a.start - b.start)) {
      if (start > at) rest += `${this.#source.slice(at, start)} `
      at = Math.max(at, end)
    }
    rest += this.#source.slice(at, script.end)
    if (BETWEEN_WORDS.test(rest)) return
    this.#complain("unread-text", rest.includes("#") ? "it contains a comment" : "a part of it was not read", script)
  }

  #node(node: SyntaxNode, isPiped: boolean): void {
    const word = WORDS_OF_SHELL[node.type]
    if (word !== undefined) this.#complain("shell-words", `"${word}" is a word of the shell's own`, node)
    if (node.type === "Command") return this.#command(node, isPiped)
    if (node.type === "Pipeline") return this.#pipeline(node)
    if (node.type === "Script") return this.#script(node)
    if (node.type === "Redirect" || node.type === "HereString" || node.type === "HereDoc")
      return this.#redirection(node)
    if (node.type === "Word") {
      this.#cover(node)
      return void this.#word(node)
    }
    if (node.type === "Negation") this.#complain("exclamation-marks", "it contains !", node)
    if (node.type === "Statement" && node.background)
      this.#complain("background", "it runs in the background (&)", node)
    forEachChild(node, (child) => this.#node(child, isPiped))
  }

  #pipeline(node: SyntaxNode & { readonly type: "Pipeline" }): void {
    for (const prefix of node.prefixes) this.#node(prefix, false)
    for (const [index, command] of node.commands.entries()) this.#node(command, index > 0)
  }

  #command(node: Command, isPiped: boolean): void {
    for (const each of node.prefix) {
      if (each.type === "Assignment") this.#assignment(each)
      else this.#redirection(each)
    }
    if (node.name === undefined) return
    this.#cover(node.name)
    const name = this.#word(node.name)
    const words = [name]
    for (const each of node.suffix) {
      if (each.type === "Word" || each.type === "Assignment") {
        this.#cover(each)
        words.push(each.type === "Word" ? this.#word(each) : this.#assigned(each))
      } else this.#redirection(each)
    }
    if (name.isGlob && this.#kind === "command") {
      this.#complain("unknown-program", "its command is a pattern for file names", node.name)
      words[0] = { text: UNKNOWN, isGlob: true }
    } else if (name.text.includes(UNKNOWN)) {
      this.#complain("unknown-program", "only the shell knows which program it runs", node.name)
    }
    this.#add({ kind: "command", words, span: this.#spanOf(node), isPiped })
  }

  /** Before a command: it is given to that command, or stays for those behind it. */
  #assignment(node: Assignment): void {
    this.#cover(node)
    const { text } = this.#assigned(node)
    if (node.value.type === "ArrayValue" || node.index !== undefined || node.append === true) {
      this.#complain("every-assignment", "it sets a part of a variable", node)
    }
    this.#add({ kind: "assignment", name: node.name, text, span: this.#spanOf(node) })
  }

  /** As a word: `declare a=1` gives it to a builtin. */
  #assigned({ name, index, append, value }: Assignment): ShellWord {
    const at = index === undefined ? "" : `[${this.#word(index).text}]`
    const words = value.type === "ArrayValue" ? value.elements : [value]
    const texts = words.map((word) => this.#word(word).text)
    return { text: `${name}${at}${append === true ? "+" : ""}=${texts.join(" ")}`, isGlob: false }
  }

  #redirection(node: Redirection): void {
    this.#cover(node)
    const { descriptor } = node
    if (descriptor?.type === "FileDescriptorVariable") {
      this.#complain("every-redirection", "it keeps a file's number in a variable", node)
    }
    const number = descriptor?.type === "FileDescriptor" ? descriptor.value : undefined
    const usual = node.operator.startsWith("<") ? 0 : 1
    const operator = `${number === undefined || number === usual ? "" : number}${node.operator}`
    const { target, body } = node.type === "HereDoc" ? this.#hereDocument(node) : this.#target(node)
    this.#add({ kind: "redirection", operator, target, span: this.#spanOf(node), body })
  }

  #target(node: Exclude<Redirection, HereDoc>): { target: string; body: string | undefined } {
    const word = node.target === undefined ? { text: "", isGlob: false } : this.#word(node.target)
    if (word.isGlob && this.#kind === "command") {
      this.#complain("every-redirection", "a file of it is a pattern for file names", node)
    }
    return { target: word.text, body: node.type === "HereString" ? word.text : undefined }
  }

  #hereDocument(node: HereDoc): { target: string; body: string } {
    this.#cover(node.body)
    if (node.closing === undefined) this.#complain("parse-errors", "a here-document in it has no end", node)
    else this.#cover(node.closing)
    // Only its expansions run: what else stands there is input.
    for (const part of node.body.parts ?? []) if (part.type !== "Literal") this.#wordPart(part)
    return { target: "", body: node.body.text }
  }

  #word(word: Word): ShellWord {
    const { parts } = word
    if (parts === undefined) return { text: this.#literal(word, word.value, word.text), isGlob: false }
    let text = ""
    let isGlob = false
    for (const part of parts) {
      text += this.#wordPart(part)
      isGlob ||= part.type === "Glob" || part.type === "ExtendedGlob"
    }
    return { text, isGlob }
  }

  #wordPart(part: WordPart): string {
    switch (part.type) {
      case "Literal":
        return this.#literal(part, part.value, part.text)
      case "SingleQuoted":
        return this.#quoted(part, part.value)
      case "DoubleQuoted":
      case "LocaleString":
        if (part.type === "LocaleString") this.#complainOfDollar(part)
        return part.parts
          .map((each) => (each.type === "Literal" ? this.#quoted(each, each.value) : this.#wordPart(each)))
          .join("")
      case "Glob":
        // `a[$(rm x)]`
        if (part.kind === "bracket" && part.parts.some((each) => this.#wordPart(each).includes(UNKNOWN))) return UNKNOWN
        return part.kind === "star" && this.#kind === "pattern" ? ANY : wordText(part.value)
      case "BraceExpansion":
        this.#complain("braces", "it contains a brace", part)
        break
      case "CommandExpansion":
      case "ProcessSubstitution":
        return this.#substitution(part)
      case "ExtendedGlob":
      case "AnsiCQuoted":
      case "SimpleExpansion":
      case "ParameterExpansion":
      case "ArithmeticExpansion":
        this.#complainOfDollar(part)
        break
    }
    forEachChild(part, (child) => this.#inside(child))
    return UNKNOWN
  }

  /** Words inside an expansion: only what they run counts. */
  #inside(node: SyntaxNode): void {
    if (node.type === "Script") this.#script(node)
    else forEachChild(node, (child) => this.#inside(child))
  }

  #substitution(part: WordPart & { readonly type: "CommandExpansion" | "ProcessSubstitution" }): string {
    const { script, text } = part
    // The parser takes `${ ` at the end of a text for one that is empty.
    const isClosed = /^(?:`[^]*`|\$\{[^]*\}|[$<>]\([^]*\))$/.test(text)
    if (script === undefined || !isClosed) this.#complain("parse-errors", "a command inside it could not be read", part)
    else if (script.commands.length === 0) this.#complain("expansions", "it runs nothing inside", part)
    else if (this.#off.has("every-substitution")) return UNKNOWN
    else if (script.source === undefined) this.#script(script)
    else {
      const { source, outer } = { source: this.#source, outer: this.#outer }
      this.#outer ??= { start: part.pos, end: part.end }
      this.#source = script.source
      this.#script(script)
      this.#source = source
      this.#outer = outer
    }
    if (this.#kind === "pattern") this.#complain("every-substitution", "it runs another command inside", part)
    return UNKNOWN
  }

  #literal(at: { pos: number; end: number }, value: string, written: string): string {
    const bare = written.includes("\\") ? written.replace(/\\[^]/g, "") : written
    if (bare.includes("!")) this.#complain("exclamation-marks", "it contains !", at)
    if (/[{}]/.test(bare) && bare !== "{}") this.#complain("braces", "it contains a brace", at)
    if (bare.includes("$")) this.#complainOfDollar(at)
    // In the value of a variable a star is no pattern of file names, and the parser leaves it alone.
    if (bare.includes("*") && this.#kind === "pattern" && bare === written) return wordText(value).replaceAll("*", ANY)
    return this.#quoted(at, value)
  }

  #quoted(at: { pos: number; end: number }, value: string): string {
    if (/[\n\r]/.test(value)) this.#complain("lines-in-words", "it has more than one line", at)
    return wordText(value)
  }

  #complainOfDollar(at: { pos: number; end: number }): void {
    this.#complain("expansions", "it contains $, and only the shell knows what that becomes", at)
  }

  #complain(check: Check, because: string, at: { pos: number; end: number }): void {
    if (!this.#off.has(check)) this.#problem ??= { because, span: this.#spanOf(at) }
  }

  #add(part: ShellPart): void {
    this.#parts.push(part)
  }

  #cover(at: { pos: number; end: number }): void {
    this.#covered.push({ start: at.pos, end: at.end })
  }

  #spanOf({ pos, end }: { pos: number; end: number }): Span {
    return this.#outer ?? { start: pos, end }
  }
}
