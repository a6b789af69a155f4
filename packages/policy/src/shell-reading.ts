import {
  type Assignment,
  type Command,
  forEachChild,
  type HereDoc,
  type ParsedScript,
  type Redirected,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "unbash"
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
  /** The shell may make several words of it, or none: a substitution without quotes. */
  readonly splits: boolean
}

/** One thing that a command does, each of which an allow must cover. */
export type ShellPart =
  | {
      readonly kind: "command"
      readonly words: readonly ShellWord[]
      readonly span: Span
      readonly inputs: readonly string[]
    }
  | { readonly kind: "assignment"; readonly name: string; readonly text: string; readonly span: Span }
  | {
      readonly kind: "redirection"
      readonly operator: string
      readonly target: string
      readonly span: Span
      /** The text of a here-document or here-string, to look for commands in. */
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
  /** Something is piped into a command, or a file is: every command in the text may be given it. */
  readonly hasInput: boolean
  /** Commands may run more than once. */
  readonly hasLoop: boolean
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
  /^(?:[\s;&|(){}!]|\\\n|(?<!\S)(?:if|then|elif|else|fi|while|until|do|done|for|in|case|esac|select|function|coproc|time|\[\[|\]\]|-[a-z])(?![^\s;)]))*$/

/** Reads a text as Bash does, with everything that it runs. Never throws for what stands in the text. */
export function readShell(text: string, work: Work, kind: "command" | "pattern" = "command"): ShellReading {
  const parsed = parseText(text, work)
  if ("problem" in parsed) return unread(text, parsed.problem)
  const reader = new Reader(text, kind)
  try {
    reader.readWhole(parsed.script)
  } catch (error) {
    // The stack is too small for what is nested.
    if (error instanceof RangeError) return unread(text, "it is nested too deep")
    throw error
  }
  const { reading } = reader
  work.spend(PART * reading.parts.length)
  return reading
}

/** A text of which nothing is known: it may be any command. */
function unread(text: string, because: string): ShellReading {
  const span = { start: 0, end: text.length }
  const words = [{ text: UNKNOWN, isGlob: false, splits: true }]
  const parts: ShellPart[] = [{ kind: "command", words, span, inputs: [] }]
  return { parts, problem: { because, span }, isBroken: true, hasInput: true, hasLoop: true }
}

/** More files that groups within groups read are not looked at together with their commands. */
const MAX_GROUP_INPUTS = 8

function endsInBackslash(text: string): boolean {
  let count = 0
  while (text[text.length - 1 - count] === "\\") count++
  return count % 2 === 1
}

class Reader {
  readonly #parts: ShellPart[] = []
  readonly #kind: "command" | "pattern"
  #problem: ShellProblem | undefined
  #isBroken = false
  #hasInput = false
  #hasLoop = false
  /** Files that groups of commands are given as input. */
  #groupInputs: string[] = []
  /** The text that positions count in; inside escaped backquotes it is another one, and `#outer` is where they stand. */
  #source: string
  #outer: Span | undefined
  /** Everything in the script being read that the parser has accounted for. */
  #accounted: Span[] = []

  constructor(text: string, kind: "command" | "pattern") {
    this.#source = text
    this.#kind = kind
  }

  get reading(): ShellReading {
    const reading = {
      parts: this.#parts,
      isBroken: this.#isBroken,
      hasInput: this.#hasInput,
      hasLoop: this.#hasLoop,
    }
    return this.#problem === undefined ? reading : { ...reading, problem: this.#problem }
  }

  readWhole(script: ParsedScript): void {
    const whole = { pos: 0, end: this.#source.length }
    if (/\\\n/.test(this.#source)) this.#complain("it has more than one line", whole)
    if (endsInBackslash(this.#source)) {
      this.#complain("it ends in a backslash", whole)
    }
    if (wordText(this.#source).includes(UNKNOWN)) {
      this.#complain("it contains a character that cannot be seen, or looks like a blank and is none", whole)
    }
    this.#script(script)
  }

  #script(script: ParsedScript): void {
    const before = this.#accounted
    this.#accounted = []
    for (const error of script.errors ?? []) {
      this.#complain(`Bash could not read it: ${error.message}`, { pos: error.pos, end: script.end })
      this.#isBroken = true
    }
    forEachChild(script, (child) => this.#node(child))
    this.#checkRest(script)
    this.#accounted = before
  }

  /** Everything between the words must be an operator or a word of the shell's own that we know. */
  #checkRest(script: ParsedScript): void {
    let rest = ""
    let at = script.pos
    for (const { start, end } of this.#accounted.sort((a, b) => a.start - b.start)) {
      if (start > at) rest += `${this.#source.slice(at, start)} `
      at = Math.max(at, end)
    }
    rest += this.#source.slice(at, script.end)
    // The parser takes `ls (` for the start of a function. In `case` an end stands alone.
    if (rest.split("(").length > rest.split(")").length) {
      this.#complain("Bash could not read it: a parenthesis has no end", script)
      this.#isBroken = true
    }
    if (BETWEEN_WORDS.test(rest)) return
    this.#complain(rest.includes("#") ? "it contains a comment" : "a part of it was not read", script)
  }

  #node(node: SyntaxNode): void {
    const word = WORDS_OF_SHELL[node.type]
    if (word !== undefined) this.#complain(`"${word}" is a word of the shell's own`, node)
    if (node.type === "Command") return this.#command(node)
    if (node.type === "Pipeline" && node.commands.length > 1) this.#hasInput = true
    if (node.type === "While") this.#hasLoop = true
    if (node.type === "Redirected") return this.#redirected(node)
    if (node.type === "Script") return this.#script(node)
    if (node.type === "Redirect" || node.type === "HereString" || node.type === "HereDoc")
      return void this.#redirection(node)
    if (node.type === "Word") {
      this.#account(node)
      return void this.#word(node)
    }
    if (node.type === "Negation") this.#complain("it contains !", node)
    if (node.type === "Statement" && node.background) this.#complain("it runs in the background (&)", node)
    forEachChild(node, (child) => this.#node(child))
  }

  /** A group of commands: each of them may read the files that the group is given. */
  #redirected({ command, redirects }: Redirected): void {
    const outer = this.#groupInputs
    const inputs = redirects.flatMap((each) => this.#redirection(each))
    this.#groupInputs = [...inputs, ...outer].slice(0, MAX_GROUP_INPUTS)
    this.#node(command)
    this.#groupInputs = outer
  }

  #command(node: Command): void {
    const inputs: string[] = []
    for (const each of node.prefix) {
      if (each.type === "Assignment") this.#assignment(each)
      else inputs.push(...this.#redirection(each))
    }
    if (node.name === undefined) return
    this.#account(node.name)
    const name = this.#word(node.name)
    const words = [name]
    for (const each of node.suffix) {
      if (each.type === "Word" || each.type === "Assignment") {
        this.#account(each)
        words.push(each.type === "Word" ? this.#word(each) : this.#assigned(each))
      } else inputs.push(...this.#redirection(each))
    }
    if (name.isGlob && this.#kind === "command") {
      this.#complain("its command is a pattern for file names", node.name)
      words[0] = { text: UNKNOWN, isGlob: true, splits: true }
    } else if (name.text.includes(UNKNOWN)) {
      this.#complain("only the shell knows which program it runs", node.name)
    }
    this.#add({ kind: "command", words, span: this.#spanOf(node), inputs: [...inputs, ...this.#groupInputs] })
  }

  /** Before a command: it is given to that command, or stays for those behind it. */
  #assignment(node: Assignment): void {
    this.#account(node)
    const { text } = this.#assigned(node)
    if (node.value.type === "ArrayValue" || node.index !== undefined || node.append === true) {
      this.#complain("it sets a part of a variable", node)
    }
    this.#add({ kind: "assignment", name: node.name, text, span: this.#spanOf(node) })
  }

  /** As a word: `declare a=1` gives it to a builtin. */
  #assigned({ name, index, append, value }: Assignment): ShellWord {
    const at = index === undefined ? "" : `[${this.#word(index).text}]`
    const words = value.type === "ArrayValue" ? value.elements : [value]
    const texts = words.map((word) => this.#word(word).text)
    return { text: `${name}${at}${append === true ? "+" : ""}=${texts.join(" ")}`, isGlob: false, splits: false }
  }

  /** Returns the file that a command is given as its input, if it is one. */
  #redirection(node: Redirection): string[] {
    this.#account(node)
    const { descriptor } = node
    if (descriptor?.type === "FileDescriptorVariable") {
      this.#complain("it keeps a file's number in a variable", node)
    }
    const number = descriptor?.type === "FileDescriptor" ? descriptor.value : undefined
    const usual = node.operator.startsWith("<") ? 0 : 1
    const operator = `${number === undefined || number === usual ? "" : number}${node.operator}`
    const { target, body } = node.type === "HereDoc" ? this.#hereDocument(node) : this.#target(node)
    this.#add({ kind: "redirection", operator, target, span: this.#spanOf(node), body })
    if (!node.operator.startsWith("<")) return []
    this.#hasInput = true
    return node.type === "Redirect" ? [target] : []
  }

  #target(node: Exclude<Redirection, HereDoc>): { target: string; body: string | undefined } {
    const word = node.target === undefined ? { text: "", isGlob: false } : this.#word(node.target)
    if (word.isGlob && this.#kind === "command") {
      this.#complain("a file of it is a pattern for file names", node)
    }
    return { target: word.text, body: node.type === "HereString" ? word.text : undefined }
  }

  #hereDocument(node: HereDoc): { target: string; body: string } {
    this.#account(node.body)
    if (node.closing === undefined) this.#complain("a here-document in it has no end", node)
    else this.#account(node.closing)
    // Only its expansions run: what else stands there is input.
    for (const part of node.body.parts ?? []) if (part.type !== "Literal") this.#wordPart(part)
    return { target: "", body: node.body.text }
  }

  #word(word: Word): ShellWord {
    const { parts } = word
    if (parts === undefined) return { text: this.#literal(word, word.value, word.text), isGlob: false, splits: false }
    let text = ""
    let isGlob = false
    let splits = false
    for (const part of parts) {
      text += this.#wordPart(part)
      isGlob ||= part.type === "Glob" || part.type === "ExtendedGlob"
      splits ||= part.type === "CommandExpansion"
    }
    return { text, isGlob, splits }
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
        this.#complain("it contains a brace", part)
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
    if (script === undefined || !isClosed) this.#complain("a command inside it could not be read", part)
    else if (script.commands.length === 0) this.#complain("it runs nothing inside", part)
    else if (script.source === undefined) this.#script(script)
    else {
      const { source, outer } = { source: this.#source, outer: this.#outer }
      this.#outer ??= { start: part.pos, end: part.end }
      this.#source = script.source
      this.#script(script)
      this.#source = source
      this.#outer = outer
    }
    if (this.#kind === "pattern") this.#complain("it runs another command inside", part)
    return part.type === "ProcessSubstitution" ? `/dev/fd/${UNKNOWN}` : UNKNOWN
  }

  #literal(at: { pos: number; end: number }, value: string, written: string): string {
    const bare = written.includes("\\") ? written.replace(/\\[^]/g, "") : written
    if (bare.includes("!")) this.#complain("it contains !", at)
    if (/[{}]/.test(bare) && bare !== "{}") this.#complain("it contains a brace", at)
    if (bare.includes("$")) this.#complainOfDollar(at)
    // In the value of a variable a star is no pattern of file names, and the parser leaves it alone.
    if (bare.includes("*") && this.#kind === "pattern" && bare === written) return wordText(value).replaceAll("*", ANY)
    return this.#quoted(at, value)
  }

  #quoted(at: { pos: number; end: number }, value: string): string {
    if (/[\n\r]/.test(value)) this.#complain("it has more than one line", at)
    return wordText(value)
  }

  #complainOfDollar(at: { pos: number; end: number }): void {
    this.#complain("it contains $, and only the shell knows what that becomes", at)
  }

  #complain(because: string, at: { pos: number; end: number }): void {
    this.#problem ??= { because, span: this.#spanOf(at) }
  }

  #add(part: ShellPart): void {
    this.#parts.push(part)
  }

  #account(at: { pos: number; end: number }): void {
    this.#accounted.push({ start: at.pos, end: at.end })
  }

  #spanOf({ pos, end }: { pos: number; end: number }): Span {
    return this.#outer ?? { start: pos, end }
  }
}
