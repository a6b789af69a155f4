import { UNKNOWN } from "./matching.ts"
import type { ShellWord } from "./shell-reading.ts"

/** How an option of a program takes its value, and whether it makes a program that reads write. */
interface Option {
  readonly value: "none" | "next" | "glued"
  readonly writes: boolean
}

/** The options of a program that are known to do no harm, or to do no more than write. All others are not known. */
export interface Options {
  readonly short: ReadonlyMap<string, Option>
  readonly long: ReadonlyMap<string, Option>
  /** Options of any name do no harm. */
  readonly isOpen: boolean
  /** Long names stand behind one dash, as in `find -name`. */
  readonly isSingle: boolean
}

interface GivenValue {
  /** The option, without its dashes. */
  readonly name: string
  readonly text: string
}

/** The words of a command, told apart by the options that are known. */
export interface GivenOptions {
  /** The first word about which nothing is known, if there is one. */
  readonly unknown: ShellWord | undefined
  readonly writing: readonly string[]
  readonly operands: readonly ShellWord[]
  readonly values: readonly GivenValue[]
}

const VALUES: Readonly<Record<string, Option["value"]>> = { "": "none", ":": "next", "=": "next", "?": "glued" }

/**
 * From a list such as `-ab -c: --all --key= --color? !-o:`. `:` and `=` take a value, `?` takes one only where it is glued
 * to the option, `!` writes; `*` leaves every option open.
 */
export function optionsOf(list: string, isSingle = false): Options {
  const short = new Map<string, Option>()
  const long = new Map<string, Option>()
  for (const [, mark, dashes, names = "", kind = ""] of list.matchAll(/(!?)(--?)([^\s:=?]+)([:=?]?)(?!\S)/g)) {
    const option: Option = { value: VALUES[kind] ?? "none", writes: mark === "!" }
    if (dashes === "--" || isSingle) long.set(names, option)
    else for (const name of names) short.set(name, option)
  }
  return { short, long, isSingle, isOpen: list === "*" }
}

/** A word that may turn out to be an option, or several words. */
export function mayBeOption({ text, isGlob, splits }: ShellWord): boolean {
  return splits || text.startsWith(UNKNOWN) || (isGlob && /^[-*?[]/.test(text))
}

export function readOptions(words: readonly ShellWord[], options: Options): GivenOptions {
  const reader = new OptionReader(words, options)
  return reader.read()
}

class OptionReader {
  readonly #words: readonly ShellWord[]
  readonly #options: Options
  readonly #writing: string[] = []
  readonly #operands: ShellWord[] = []
  readonly #values: GivenValue[] = []
  #at = 0

  constructor(words: readonly ShellWord[], options: Options) {
    this.#words = words
    this.#options = options
  }

  read(): GivenOptions {
    let unknown: ShellWord | undefined
    for (; this.#at < this.#words.length; this.#at++) {
      const word = this.#words[this.#at]
      if (word === undefined || word.text === "--") continue
      if (!this.#word(word)) unknown ??= word
    }
    return { unknown, writing: this.#writing, operands: this.#operands, values: this.#values }
  }

  /** Behind `--` too what looks like an option must be a known one: not every program knows `--`. */
  #word(word: ShellWord): boolean {
    const { text } = word
    if (mayBeOption(word)) return false
    if (!text.startsWith("-") || text === "-") {
      this.#operands.push(word)
      return true
    }
    if (this.#options.isOpen) return true
    return this.#options.isSingle || text.startsWith("--") ? this.#long(text) : this.#short(text)
  }

  #long(text: string): boolean {
    const equals = text.indexOf("=")
    const name = text.slice(text.startsWith("--") ? 2 : 1, equals === -1 ? undefined : equals)
    const option = this.#options.long.get(name)
    if (option === undefined || (equals !== -1 && option.value === "none")) return false
    return this.#take(option, { word: text, name, glued: equals === -1 ? undefined : text.slice(equals + 1) })
  }

  #short(text: string): boolean {
    for (let at = 1; at < text.length; at++) {
      const name = text[at] ?? ""
      const option = this.#options.short.get(name)
      if (option === undefined) return false
      const glued = option.value === "none" || at + 1 === text.length ? undefined : text.slice(at + 1)
      if (!this.#take(option, { word: text, name, glued })) return false
      if (option.value !== "none") return true
    }
    return true
  }

  #take(option: Option, { word, name, glued }: { word: string; name: string; glued: string | undefined }): boolean {
    let value = glued
    if (option.value === "next" && glued === undefined) {
      this.#at++
      const next = this.#words[this.#at]
      // A substitution in quotes is one word, whatever it prints. Where the program sees no value, it sees an option.
      if (next?.splits === true || next?.isGlob === true || (next !== undefined && !this.#isValue(next.text)))
        return false
      value = next?.text
    }
    if (value !== undefined) this.#values.push({ name, text: value })
    if (option.writes && value !== "/dev/null") this.#writing.push(word)
    return true
  }

  #isValue(text: string): boolean {
    return !text.startsWith("-") || text === "-" || (this.#options.isSingle && /^-\d/.test(text))
  }
}
