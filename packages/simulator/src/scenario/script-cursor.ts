import { type Call, callsIn } from "./calls.ts"
import type { AgentStep, Turn } from "./schema.ts"

/** Where a turn stands in the scenario, for whoever looks at what was played. */
export type Position = { turn: number; call: number }
export type Scripted = { call: Call; position: Position }

type Current = { turn: number; calls: Iterator<Call, unknown>; played: number; last: Scripted | undefined }

/**
 * One conversation's place in a list of turns. It knows nothing of requests or of the wire: whoever plays the scenario
 * tells it that the user said something, or that the model is asked to go on.
 */
export class ScriptCursor {
  readonly #turns: readonly Turn[]
  readonly #played = new Set<number>()
  #current: Current | undefined

  constructor(turns: readonly Turn[]) {
    this.#turns = turns
  }

  /** The user said something: the first call of the turn meant for it, or nothing when the script has run out. */
  begin(text: string): Scripted | undefined {
    const turn = this.#choose(text)
    const chosen = turn === undefined ? undefined : this.#turns[turn]
    if (turn === undefined || chosen === undefined) {
      this.#current = undefined
      return undefined
    }
    this.#played.add(turn)
    this.#current = { turn, calls: callsIn(chosen), played: 0, last: undefined }
    return this.advance()
  }

  /** The next call of the turn under way; `failed` tells of each tool of the last one whether it came to nothing. */
  advance(failed: readonly boolean[] = []): Scripted | undefined {
    const current = this.#current
    const otherwise = current?.last === undefined ? undefined : otherwiseOf(current.last.call, failed)
    if (current !== undefined && otherwise !== undefined) current.calls = callsIn({ steps: [...otherwise] })
    const next = current?.calls.next()
    if (current === undefined || next === undefined || next.done === true) return undefined
    current.last = { call: next.value, position: { turn: current.turn, call: current.played++ } }
    return current.last
  }

  /** The call played last, again. */
  repeat(): Scripted | undefined {
    return this.#current?.last
  }

  /** A turn that waits for these words goes before the next one that waits for none. */
  #choose(text: string): number | undefined {
    const open = this.#turns
      .map((turn, index) => ({ turn, index }))
      .filter(({ turn, index }) => turn.repeat === true || !this.#played.has(index))
    const matching = open.filter(({ turn }) => turn.on !== undefined && text.includes(turn.on))
    const plain = open.filter(({ turn }) => turn.on === undefined)
    // A turn that repeats would hide those after it, so it comes when no fresh one is left.
    const first = (list: typeof open) => list.find(({ index }) => !this.#played.has(index)) ?? list[0]
    return (first(matching) ?? first(plain))?.index
  }
}

/** The way out that the script has for the first tool that came to nothing. */
function otherwiseOf(call: Call, failed: readonly boolean[]): readonly AgentStep[] | undefined {
  if (call.kind === "error") return undefined
  const tools = call.blocks.filter((block) => "tool" in block)
  return tools.find((tool, index) => failed[index] === true && tool.otherwise !== undefined)?.otherwise
}
