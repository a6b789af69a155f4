import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"

/** One content block, put together from its deltas. */
export class BlockBuilder {
  readonly type: string
  readonly #start: Fields
  readonly #pieces: string[] = []
  #signature = ""

  constructor(start: Readonly<Fields>) {
    this.#start = { ...start }
    this.type = textOf(start, "type") ?? ""
  }

  append(delta: Readonly<Fields>): void {
    const piece = delta["text"] ?? delta["thinking"] ?? delta["partial_json"]
    if (typeof piece === "string") this.#pieces.push(piece)
    const signature = delta["signature"]
    if (typeof signature === "string") this.#signature += signature
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  value(): Fields {
    const text = this.#pieces.join("")
    if (this.type === "thinking") return { type: "thinking", thinking: text, signature: this.#signature }
    if (this.type !== "tool_use") return { ...this.#start, text }
    return { ...this.#start, input: normaliseInput(textOf(this.#start, "name") ?? "", parseInput(text)) }
  }
}

function parseInput(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text)
    return isObject(value) ? { ...value } : {}
  } catch {
    return {}
  }
}

/** A CLI shows an input as its own schema reads it: defaults filled in, fields in the schema's order. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  Bash: ["command", "timeout", "description", "run_in_background"],
}

function normaliseInput(tool: string, input: Fields): Fields {
  if (tool === "Edit") return { replace_all: false, ...input }
  const order = ORDERS[tool]
  if (order === undefined) return input
  const known = order.filter((name) => name in input).map((name) => [name, input[name]])
  const rest = Object.entries(input).filter(([name]) => !order.includes(name))
  return Object.fromEntries([...known, ...rest])
}
