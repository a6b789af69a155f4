import type { RawData } from "ws"
import { frameText } from "../viewers/socket-sink.ts"

/** So much is parsed in vain of one line before only its newline ends it: whoever sends crumbs must not keep us busy. */
const MAX_TRIED_CHARS = 32 * 1024 * 1024

/**
 * The lines in what a client sends. Every line should end in a newline, and some clients forget it: a frame that ends in a
 * whole message is one, and a frame that ends in half of one is held until the rest comes.
 */
export class FrameLines {
  readonly #maxChars: number
  /** Pieces of the line that is not whole yet. None has a newline: only what is new is searched. */
  #rest: string[] = []
  #restChars = 0
  #triedChars = 0

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  /** Undefined when a line grows past the bound. */
  take(data: RawData): readonly string[] | undefined {
    const pieces = frameText(data).split("\n")
    const last = pieces.pop() ?? ""
    const lines = pieces.map((piece) => this.#complete(piece))
    this.#rest.push(last)
    this.#restChars += last.length
    if (last.trimEnd().endsWith("}") && this.#isWhole()) lines.push(this.#complete(""))
    if (this.#restChars > this.#maxChars) return undefined
    return lines.filter((line) => line.trim() !== "")
  }

  #complete(piece: string): string {
    const line = this.#rest.length === 0 ? piece : `${this.#rest.join("")}${piece}`
    this.#rest = []
    this.#restChars = 0
    this.#triedChars = 0
    return line
  }

  #isWhole(): boolean {
    if (this.#triedChars > MAX_TRIED_CHARS) return false
    this.#triedChars += this.#restChars
    try {
      JSON.parse(this.#rest.join(""))
      return true
    } catch {
      return false
    }
  }
}
