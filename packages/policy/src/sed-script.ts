/** Commands of sed that take nothing behind them, or a number. */
const PLAIN = /[=dDgGhHnNpPqQlxzF]/
/** Commands that take the rest of the line as text: what stands there is printed, or the name of a file that is read. */
const TEXT = /[aicrR]/
/** A delimiter of more than one byte is read in different ways. */
const DELIMITER = /[\x21-\x5b\x5d-\x7e]/

/**
 * True if a script of sed only changes what passes through it. Everything that is not known to be harmless is not: `e`,
 * `w` and `W`, whatever stands before them, and what only some seds read in the same way. Goes through the text once.
 */
export function isHarmlessSed(script: string): boolean {
  return new SedReader(script).isHarmless()
}

class SedReader {
  readonly #script: string
  #at = 0

  constructor(script: string) {
    this.#script = script
  }

  isHarmless(): boolean {
    while (this.#at < this.#script.length) {
      this.#skip(/[\s;}]/)
      if (this.#at < this.#script.length && !this.#command()) return false
    }
    return true
  }

  get #next(): string {
    return this.#script[this.#at] ?? ""
  }

  #skip(what: RegExp): void {
    while (what.test(this.#next)) this.#at++
  }

  #command(): boolean {
    if (!this.#addresses()) return false
    const command = this.#next
    this.#at++
    if (command === "{") return true
    if (command === "#" || TEXT.test(command)) {
      this.#at = this.#script.length
      return true
    }
    if (/[:btT]/.test(command)) {
      // Some seds end a label at a blank or a semicolon: what stands behind it is read as commands.
      this.#skip(/[ \t]/)
      this.#skip(/[^\s;}]/)
      return true
    }
    if (command === "s" || command === "y") return this.#delimited(this.#next, 2) && this.#flags(command)
    if (!PLAIN.test(command)) return false
    this.#skip(/[ \t]/)
    this.#skip(/\d/)
    return this.#isAtEnd()
  }

  #isAtEnd(): boolean {
    this.#skip(/[ \t]/)
    return this.#next === "" || /[;}#]/.test(this.#next)
  }

  #flags(command: string): boolean {
    if (command === "s") this.#skip(/[gpiImM\d]/)
    return this.#isAtEnd()
  }

  /** `1`, `$`, `/x/I`, `\%x%`, `1~2`, `/a/,+3`, and a `!` behind them. */
  #addresses(): boolean {
    if (!this.#address()) return false
    this.#skip(/[ \t]/)
    if (this.#next === ",") {
      this.#at++
      this.#skip(/[ \t+~]/)
      if (!this.#address()) return false
    }
    this.#skip(/[\s!]/)
    return true
  }

  /** None is one too. */
  #address(): boolean {
    const first = this.#next
    if (first === "$") this.#at++
    else if (/\d/.test(first)) this.#skip(/[\d~]/)
    else if (first === "/" || first === "\\") {
      if (first === "\\") this.#at++
      if (!this.#delimited(this.#next, 1)) return false
      this.#skip(/[IM]/)
    }
    return true
  }

  /** So many texts, each up to the next delimiter that is not escaped. */
  #delimited(delimiter: string, texts: number): boolean {
    if (!DELIMITER.test(delimiter)) return false
    this.#at++
    for (let left = texts; left > 0; ) {
      const char = this.#next
      if (char === "") return false
      this.#at++
      if (char === delimiter) left--
      else if (char === "\\") this.#at++
      else if (char === "[" && left === texts && !this.#bracket(delimiter)) return false
    }
    return this.#at <= this.#script.length
  }

  /** In brackets a delimiter ends the text for one sed and is a character for another. */
  #bracket(delimiter: string): boolean {
    if (this.#next === "^") this.#at++
    if (this.#next === "]") this.#at++
    while (this.#next !== "]") {
      if (this.#next === "" || this.#next === delimiter) return false
      this.#at++
    }
    this.#at++
    return true
  }
}
