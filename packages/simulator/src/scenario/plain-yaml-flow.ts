import { NotPlain, plainScalar, quotedScalar, Unfinished } from "./plain-yaml-scalar.ts"

const MAX_DEPTH = 60

/** `{ a: 1, b: [x, y] }`, its lines joined. Throws `Unfinished` where more have to come. */
export class FlowReader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): unknown {
    const value = this.#value()
    if (!/^(?: *| +#.*)$/.test(this.#text.slice(this.#at))) throw new NotPlain()
    return value
  }

  #value(): unknown {
    if (++this.#depth > MAX_DEPTH) throw new NotPlain()
    const sign = this.#peek()
    const value = sign === "{" ? this.#map() : sign === "[" ? this.#list() : this.#scalar()
    this.#depth--
    return value
  }

  #list(): unknown[] {
    const items: unknown[] = []
    this.#at++
    while (this.#peek() !== "]") {
      items.push(this.#value())
      this.#comma("]")
    }
    this.#at++
    return items
  }

  #map(): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    this.#at++
    while (this.#peek() !== "}") {
      const key = this.#scalar()
      if (typeof key !== "string" || key === "__proto__" || key === "" || Object.hasOwn(map, key)) throw new NotPlain()
      if (!this.#text.startsWith(": ", this.#at)) throw new NotPlain()
      this.#at += 2
      map[key] = this.#value()
      this.#comma("}")
    }
    this.#at++
    return map
  }

  #comma(end: "]" | "}"): void {
    const sign = this.#peek()
    if (sign === ",") {
      this.#at++
      // One at the end, or two in a row, are left to who knows.
      if ([end, ","].includes(this.#peek())) throw new NotPlain()
    } else if (sign !== end) throw new NotPlain()
  }

  #scalar(): unknown {
    const sign = this.#peek()
    if (sign === '"' || sign === "'") {
      const { value, end } = quotedScalar(this.#text, this.#at)
      this.#at = end
      return value
    }
    const found = /(?:[^,[\]{}:#]|:(?! |[,[\]{}]|$)|(?<! )#)+/y
    found.lastIndex = this.#at
    const text = found.exec(this.#text)?.[0] ?? ""
    this.#at += text.length
    return plainScalar(text.trim())
  }

  /** The next sign that is no blank. */
  #peek(): string {
    while (this.#text[this.#at] === " ") this.#at++
    const sign = this.#text[this.#at]
    if (sign === undefined) throw new Unfinished()
    return sign
  }
}
