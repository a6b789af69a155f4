import { FlowReader } from "./plain-yaml-flow.ts"
import { NotPlain, plainScalar, quotedScalar, Unfinished } from "./plain-yaml-scalar.ts"

// The YAML that people write by hand: maps and lists by indentation, plain and quoted texts, `|` blocks, comments. The
// library that knows all of YAML takes as long to load as the rest of the simulator, so it is loaded only for the rest
// of YAML, and for mistakes. What is read here is read as the library reads it; whatever is in doubt is left to it.

const MAX_DEPTH = 60
/** Line ends and spaces that YAML may see differently. */
const UNUSUAL = /[^\S \t\n]|[^\P{Cc}\t\n]/u
const KEY = /^([A-Za-z_$][^\s:#{}[\],&*!|>'"%@`]*) *:(?: +(.*))?$/
/** `on` and `yes` are words like any other since YAML 1.2. */
const RESERVED_KEY = /^(?:null|true|false)$/i

/** The value of a text in plain YAML. Undefined: it may be YAML all the same. */
export function readPlainYaml(text: string): unknown {
  if (UNUSUAL.test(text)) return undefined
  try {
    return new PlainReader(text.split("\n")).document()
  } catch (error) {
    if (error instanceof NotPlain) return undefined
    throw error
  }
}

class PlainReader {
  readonly #lines: string[]
  #at = 0
  #depth = 0

  constructor(lines: string[]) {
    this.#lines = lines
  }

  document(): unknown {
    const first = this.#next()
    if (first === undefined || first.indent > 0) throw new NotPlain()
    const value = this.#block(0)
    if (this.#next() !== undefined) throw new NotPlain()
    return value
  }

  /** The next line that says something; where it is, the reader stands. */
  #next(): { indent: number; text: string } | undefined {
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? ""
      if (line.includes("\t")) throw new NotPlain()
      const text = line.trim()
      if (text === "" || text.startsWith("#")) continue
      if (/^(?:---|\.\.\.|%|\? |\?$)/.test(text)) throw new NotPlain()
      return { indent: indentOf(line), text }
    }
    return undefined
  }

  #block(indent: number): unknown {
    if (++this.#depth > MAX_DEPTH) throw new NotPlain()
    const isList = isItem(this.#next()?.text ?? "")
    const value = isList ? this.#list(indent) : this.#map(indent)
    this.#depth--
    return value
  }

  #list(indent: number): unknown[] {
    const items: unknown[] = []
    for (let line = this.#next(); line?.indent === indent && isItem(line.text); line = this.#next()) {
      const rest = line.text.slice(1).trimStart()
      const inner = indent + line.text.length - rest.length
      if (rest !== "" && !rest.startsWith("#") && (isItem(rest) || KEY.test(rest))) {
        // What stands behind the dash is a block of its own, as far in as it stands.
        this.#lines[this.#at] = " ".repeat(inner) + rest
        items.push(this.#block(inner))
      } else {
        this.#at++
        items.push(this.#value(rest, indent, false))
      }
    }
    return items
  }

  #map(indent: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    for (let line = this.#next(); line !== undefined && line.indent === indent; line = this.#next()) {
      const [, key, rest = ""] = KEY.exec(line.text) ?? []
      if (key === undefined || RESERVED_KEY.test(key) || key === "__proto__" || Object.hasOwn(map, key)) {
        throw new NotPlain()
      }
      this.#at++
      map[key] = this.#value(rest.trim(), indent, true)
    }
    const after = this.#next()
    if (after !== undefined && after.indent > indent) throw new NotPlain()
    return map
  }

  /** What belongs to a key or a dash at this indentation: the rest of its line, or the lines below. */
  #value(rest: string, indent: number, isOfKey: boolean): unknown {
    if (rest === "" || rest.startsWith("#")) return this.#below(indent, isOfKey)
    if (/^[|>]/.test(rest)) return this.#text(rest, { indent, isOfKey })
    const value = /^[{[]/.test(rest) ? this.#flow(rest, indent) : inline(rest)
    // A text that goes on in the next line.
    if ((this.#next()?.indent ?? 0) > indent) throw new NotPlain()
    return value
  }

  #below(indent: number, isOfKey: boolean): unknown {
    const line = this.#next()
    if (line === undefined) return null
    // A list may stand right below its key.
    const isHere = line.indent > indent || (isOfKey && line.indent === indent && isItem(line.text))
    if (!isHere) return null
    if (!isItem(line.text) && !KEY.test(line.text)) throw new NotPlain()
    return this.#block(line.indent)
  }

  /** Braces and brackets may go on in lines that stand further in. */
  #flow(first: string, indent: number): unknown {
    for (let text = first; ; ) {
      try {
        return new FlowReader(text).whole()
      } catch (error) {
        if (!(error instanceof Unfinished)) throw error
      }
      const line = this.#lines[this.#at] ?? ""
      if (indentOf(line) <= indent || /\t|(?:^| )#/.test(line.trim()) || / #/.test(text)) throw new NotPlain()
      text = `${text} ${line.trim()}`
      this.#at++
    }
  }

  /** Lines as they are, or folded into paragraphs; with one line end at the end, or none. */
  #text(header: string, { indent, isOfKey }: { indent: number; isOfKey: boolean }): string {
    const [, kind, shift, ending] = /^([|>])([1-9]?)(-?)(?: +#.*)?$/.exec(header) ?? []
    if (kind === undefined || (shift !== "" && !isOfKey)) throw new NotPlain()
    const taken = this.#taken(indent, shift === "" ? undefined : indent + Number(shift))
    while (taken.at(-1) === "") taken.pop()
    if (taken.length === 0) throw new NotPlain()
    const text = kind === "|" ? taken.join("\n") : folded(taken)
    return text + (ending === "-" ? "" : "\n")
  }

  #taken(indent: number, given: number | undefined): string[] {
    const taken: string[] = []
    let inner = given
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? ""
      if (line.trim() === "") {
        // Blanks before the first line, or beyond its place, count for something.
        if (line.includes("\t") || line.length > (inner ?? 0)) throw new NotPlain()
        taken.push("")
        continue
      }
      const depth = indentOf(line)
      if (depth < (inner ?? indent + 1)) {
        if (depth > indent || line.trim().startsWith("#")) throw new NotPlain()
        break
      }
      inner ??= depth
      taken.push(line.slice(inner))
    }
    return taken
  }
}

/** A line further in than the others would not be folded. */
function folded(lines: readonly string[]): string {
  if (lines.some((line) => /^[ \t]/.test(line)) || lines[0] === "") throw new NotPlain()
  return lines
    .join("\n")
    .replaceAll(/(?<!\n)\n(?!\n)/g, " ")
    .replaceAll(/\n(\n+)/g, "$1")
}

function inline(rest: string): unknown {
  if (!/^["']/.test(rest)) return plainScalar(rest.replace(/ +#.*$/, ""))
  const { value, end } = quotedScalar(rest, 0)
  if (!/^(?: *| +#.*)$/.test(rest.slice(end))) throw new NotPlain()
  return value
}

function indentOf(line: string): number {
  return line.length - line.replace(/^ +/, "").length
}

function isItem(text: string): boolean {
  return text === "-" || text.startsWith("- ")
}
