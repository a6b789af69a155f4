import { file, id, type Json, linked, system, toolCall, toolResult, user } from "./transcripts.ts"

// Trees that nobody would write by hand, of what a CLI might: branches, sidechains, compactions that keep some messages,
// several calls in one message, results that hang elsewhere.

/** mulberry32: small, and the same numbers everywhere. */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface Node {
  readonly n: number
  readonly parent: number | null
  readonly isProgress: boolean
}

const FIRST = 10

class Author {
  readonly lines: (Json | string)[] = []
  readonly #random: () => number
  readonly #nodes: Node[] = []
  readonly #calls: number[] = []
  #message = 0
  #isMessageOpen = false
  #summaryOf: number | undefined

  constructor(random: () => number) {
    this.#random = random
  }

  write(n: number): void {
    const line = this.#next(n)
    this.lines.push(line)
    const parent = typeof line["parentUuid"] === "string" ? Number(line["parentUuid"].slice(0, 8)) : null
    this.#nodes.push({ n, parent, isProgress: line["type"] === "progress" })
    this.#note(n)
  }

  #next(n: number): Json {
    if (this.#summaryOf !== undefined) {
      const summary = user(n, this.#summaryOf, "summary", { isCompactSummary: true })
      this.#summaryOf = undefined
      return summary
    }
    const parent = this.#parent()
    const flags = this.#flags()
    const kind = this.#random()
    if (kind < 0.2) return user(n, parent, `text ${n}`, flags)
    if (kind < 0.55) return this.#call(n, parent ?? n, { ...flags, ...(parent === null ? { parentUuid: null } : {}) })
    if (kind < 0.8 && this.#calls.length > 0) return this.#result(n, parent, flags)
    if (kind < 0.86) return linked("attachment", n, parent, flags)
    if (kind < 0.9) return linked("progress", n, parent)
    if (kind < 0.96 || this.#nodes.length < 3) return system(n, parent, "informational", flags)
    return this.#compaction(n)
  }

  #parent(): number | null {
    const chance = this.#random()
    if (chance < 0.04) return null
    return (chance < 0.75 ? this.#nodes.at(-1) : this.#nodes[this.#pick(this.#nodes.length)])?.n ?? null
  }

  #flags(): Json {
    return {
      ...(this.#random() < 0.07 ? { isSidechain: true } : {}),
      ...(this.#random() < 0.06 ? { isMeta: true } : {}),
      ...(this.#random() < 0.03 ? { teamName: "team" } : {}),
    }
  }

  #call(n: number, parent: number, flags: Json): Json {
    if (!this.#isMessageOpen || this.#random() < 0.5) this.#message++
    this.#isMessageOpen = true
    this.#calls.push(n)
    return toolCall(n, parent, { tool: `t${n}`, message: `m${this.#message}` }, flags)
  }

  #result(n: number, parent: number | null, flags: Json): Json {
    this.#isMessageOpen = false
    const call = this.#calls[Math.max(0, this.#calls.length - 1 - this.#pick(3))] ?? FIRST
    return toolResult(n, this.#random() < 0.85 ? call : (parent ?? call), `t${call}`, flags)
  }

  #compaction(n: number): Json {
    const before = this.#nodes.filter(({ isProgress }) => !isProgress)
    const path = [before[this.#pick(before.length)]?.n ?? FIRST]
    for (let more = this.#pick(3); more > 0; more--) {
      const parent = this.#nodes.find((node) => node.n === path[0])?.parent
      if (!before.some((node) => node.n === parent)) break
      path.unshift(parent ?? FIRST)
    }
    const [head, tail] = [path[0] ?? FIRST, path.at(-1) ?? FIRST]
    const anchorUuid = id(n + 1)
    const forms: Json[] = [
      { preservedSegment: { headUuid: id(head), anchorUuid, tailUuid: id(tail) } },
      { preservedMessages: { anchorUuid, uuids: path.map(id) } },
      { trigger: "auto" },
    ]
    this.#summaryOf = n
    return system(n, null, "compact_boundary", { compactMetadata: forms[this.#pick(3)] })
  }

  /** Now and then a line that is no part of the conversation. */
  #note(n: number): void {
    const chance = this.#random()
    const blank = this.#random() < 0.3
    if (chance < 0.04) this.lines.push("cut {")
    else if (chance < 0.1) this.lines.push({ type: "custom-title", customTitle: blank ? "" : `T${n}` })
    else if (chance < 0.16) this.lines.push({ type: "last-prompt", lastPrompt: blank ? "" : `P${n}` })
    else if (chance < 0.22) this.lines.push({ type: "tag", tag: blank ? "" : `t${n}` })
    else if (chance < 0.26) this.lines.push({ type: "ai-title", aiTitle: `A${n}` })
  }

  #pick(n: number): number {
    return Math.floor(this.#random() * n)
  }
}

export function randomTranscript(random: () => number, maxLines = 24): string {
  const author = new Author(random)
  const count = 1 + Math.floor(random() * maxLines)
  for (let n = FIRST; n < FIRST + count; n++) author.write(n)
  return file(...author.lines)
}
