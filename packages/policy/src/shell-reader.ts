import { ANY, hasUnseen, UNKNOWN } from "./matching.ts"

/** A blank that is part of a word, which a blank between words in a pattern does not match. */
export const GAP = "\uE001"
/** A line end that is part of a word. */
const LINE = "\uE003"
const IN_WORD = new RegExp(`[${GAP}${LINE}]`, "g")
const UNKNOWNS = new RegExp(`${UNKNOWN}+`, "g")

export const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[.*\])?\+?=/

/**
 * Reads a command as a shell would, far enough to tell one simple command from anything else. What it cannot know
 * (variables, substitutions) is UNKNOWN in the words. With a `problem` the parts are a good guess: enough to find what is
 * forbidden, never to allow anything.
 */
interface CommandReading {
  /** The commands in it, each as its words without their quotes. */
  readonly parts: readonly (readonly string[])[]
  /** Why it is not one simple command, to be read after "because". */
  readonly problem?: string
  /** The words in it that the shell would take for patterns of file names. */
  readonly globbed: ReadonlySet<string>
}

export const MAX_COMMAND_CHARS = 8192
/** Units of work to read one character. */
export const READING = 64

/** A word as it is compared where borders between words do not matter. */
export function plainText(word: string): string {
  return word.replaceAll(IN_WORD, " ").replaceAll(UNKNOWNS, UNKNOWN)
}

/** A word as a program is given it. */
export function writtenText(word: string): string {
  return word.replaceAll(GAP, " ").replaceAll(LINE, "\n")
}

export function readCommand(text: string, kind: "command" | "pattern" = "command"): CommandReading {
  if (text.length > MAX_COMMAND_CHARS) {
    return { parts: [[UNKNOWN]], globbed: new Set(), problem: `it is longer than ${MAX_COMMAND_CHARS} characters` }
  }
  return new ShellReader(text, kind).read()
}

class ShellReader {
  readonly #chars: readonly string[]
  readonly #kind: "command" | "pattern"
  readonly #parts: string[][] = []
  readonly #globbed = new Set<string>()
  readonly #hasUnseen: boolean
  #words: string[] = []
  #word: string | undefined
  #wordHasGlob = false
  /** The next word is the file of a redirection. */
  #skipsWord = false
  #problem: string | undefined
  #at = 0

  constructor(text: string, kind: "command" | "pattern") {
    this.#chars = Array.from(text)
    this.#hasUnseen = hasUnseen(text)
    this.#kind = kind
  }

  read(): CommandReading {
    for (let char = this.#take(); char !== undefined; char = this.#take()) this.#readUnquoted(char)
    this.#endPart()
    return {
      parts: this.#parts,
      globbed: this.#globbed,
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
    }
  }

  #readUnquoted(char: string): void {
    if (char === " " || char === "\t") this.#endWord()
    else if (char === "\n" || char === "\r") this.#separate("it has more than one line")
    else if (";&|()".includes(char)) this.#separate(`it contains the operator ${char}`)
    else if (char === "<" || char === ">") this.#redirect(char)
    else if (char === "{" || char === "}") this.#brace(char)
    else if (char === "`") this.#substitute()
    else if (char === "$") this.#expand("unquoted")
    else if (char === "!") this.#negate()
    else if (char === "#" && this.#word === undefined) this.#separate("it contains a comment")
    else if (char === "\\") this.#escape()
    else if (char === "'") this.#readSingleQuotes()
    else if (char === '"') this.#readDoubleQuotes()
    else if (char === "*" && this.#kind === "pattern") this.#word = (this.#word ?? "") + ANY
    else this.#readPlain(char)
  }

  #readPlain(char: string): void {
    if ("*?[".includes(char)) this.#wordHasGlob = true
    this.#add(char)
  }

  #readSingleQuotes(): void {
    this.#word ??= ""
    for (let char = this.#take(); char !== "'"; char = this.#take()) {
      if (char === undefined) return this.#complain("a quote in it is not closed")
      this.#addQuoted(char)
    }
  }

  #readDoubleQuotes(): void {
    this.#word ??= ""
    for (let char = this.#take(); char !== '"'; char = this.#take()) {
      if (char === undefined) return this.#complain("a quote in it is not closed")
      if (char === "$") this.#expand("quoted")
      else if (char === "`") this.#substitute("quoted")
      else if (char === "\\" && '$`"\\\n'.includes(this.#peek() ?? " ")) this.#escape()
      else this.#addQuoted(char)
    }
  }

  #escape(): void {
    const char = this.#take()
    if (char === undefined) this.#complain("it ends in a backslash")
    else if (char === "\n") this.#complain("it has more than one line")
    else this.#addQuoted(char)
  }

  #expand(where: "quoted" | "unquoted"): void {
    this.#complain("it contains $, and only the shell knows what that becomes")
    const next = this.#peek() ?? ""
    if (next === "(" && where === "unquoted") return this.#substitute()
    if (next === '"' && where === "unquoted") return
    this.#markUnknown()
    if (next === "'" && where === "unquoted") return this.#skipAnsiQuotes()
    if (next === "" || next === '"') return
    this.#take()
    if (!/\w/.test(next)) return
    while (/\w/.test(this.#peek() ?? "")) this.#take()
  }

  /** `$'…'`: a backslash in it escapes the quote, and may spell any character. */
  #skipAnsiQuotes(): void {
    this.#take()
    for (let char = this.#take(); char !== undefined && char !== "'"; char = this.#take()) {
      if (char === "\\") this.#take()
    }
  }

  #substitute(where: "quoted" | "unquoted" = "unquoted"): void {
    this.#complain("it runs another command inside")
    this.#markUnknown()
    if (where === "unquoted") this.#endPart()
  }

  #redirect(char: string): void {
    this.#complain(`it contains the redirection ${char}`)
    // `2>`: the number belongs to the redirection.
    if (/^\d+$/.test(this.#word ?? "")) this.#word = undefined
    this.#endWord()
    while ("<>&|".includes(this.#peek() ?? " ")) this.#take()
    this.#skipsWord = true
  }

  #brace(char: string): void {
    this.#complain(`it contains the brace ${char}`)
    const standsAlone = this.#word === undefined && (char === "}" || /^\s?$/.test(this.#peek() ?? ""))
    if (standsAlone) this.#endPart()
    else this.#markUnknown()
  }

  #negate(): void {
    this.#complain("it contains !")
    if (this.#word !== undefined || !/^\s?$/.test(this.#peek() ?? "")) this.#add("!")
  }

  #separate(problem: string): void {
    this.#complain(problem)
    this.#endPart()
  }

  #endPart(): void {
    this.#endWord()
    if (this.#words.length > 0) this.#parts.push(this.#words)
    this.#words = []
    this.#skipsWord = false
  }

  #endWord(): void {
    let word = this.#word
    if (word === undefined) return
    if (word === "[") this.#wordHasGlob = false
    if (this.#wordHasGlob && this.#words.length === 0 && this.#kind === "command") {
      this.#complain("its command is a pattern for file names")
      word = UNKNOWN
    }
    if (this.#wordHasGlob) this.#globbed.add(word)
    if (!this.#skipsWord) this.#words.push(word)
    this.#word = undefined
    this.#wordHasGlob = false
    this.#skipsWord = false
  }

  #addQuoted(char: string): void {
    if (char === "\n" || char === "\r") this.#complain("it has more than one line")
    if (char === " " || char === "\t") this.#word = (this.#word ?? "") + GAP
    else if (char === "\n" || char === "\r") this.#word = (this.#word ?? "") + LINE
    else this.#add(char)
  }

  #add(char: string): void {
    if (!this.#hasUnseen || !hasUnseen(char)) {
      this.#word = (this.#word ?? "") + char
      return
    }
    this.#complain("it contains a character that cannot be seen, or looks like a blank and is none")
    this.#markUnknown()
  }

  #markUnknown(): void {
    this.#word = (this.#word ?? "") + UNKNOWN
  }

  #complain(problem: string): void {
    this.#problem ??= problem
  }

  #peek(): string | undefined {
    return this.#chars[this.#at]
  }

  #take(): string | undefined {
    const char = this.#chars[this.#at]
    this.#at++
    return char
  }
}
