import type { RawData } from "ws"

/**
 * The lines in what a client sends. Every line should end in a newline, and some clients forget it: a frame that ends in a
 * whole message is one, and a frame that ends in half of one is held until the rest comes.
 */
export class FrameLines {
  readonly #maxChars: number
  #rest = ""

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  /** Undefined when a line grows past the bound. */
  take(data: RawData): readonly string[] | undefined {
    const lines = (this.#rest + textOf(data)).split("\n")
    const last = lines.pop() ?? ""
    this.#rest = ""
    if (isWhole(last)) lines.push(last)
    else this.#rest = last
    if (this.#rest.length > this.#maxChars) return undefined
    return lines.filter((line) => line.trim() !== "")
  }
}

function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString()
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString()
}
