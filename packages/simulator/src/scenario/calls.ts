import type {
  AgentStep,
  AsideStep,
  Block,
  ErrorStep,
  LoopStep,
  PlainStep,
  Scenario,
  Step,
  Stop,
  StopReason,
  Turn,
  Usage,
  WrittenBlock,
} from "./schema.ts"

type StopDetails = { reason: StopReason; category?: string; explanation?: string; sequence?: string }

export type Reply = { kind: "reply"; blocks: readonly Block[]; stop: StopDetails; usage: Usage; model?: string }

/** An HTTP error instead of a reply, and what only a player of the CLI's own side can do before it. */
type FailedCall = { kind: "error"; error: ErrorStep; asides?: readonly AsideStep[] }

/** One call of the model: it answers, or fails. */
export type Call = Reply | FailedCall

type Overrides = { stop?: Stop; usage?: Usage; model?: string }
type Draft = { kind: "draft"; blocks: readonly Block[]; own: Overrides } | FailedCall

/**
 * The calls of a turn in order, made as they are asked for. Steps written one after the other form a reply until a tool is
 * called, because nothing can be said before its result is back; what comes in one reply otherwise is written as `reply`.
 */
export function* callsIn(turn: Turn): Generator<Call> {
  const { stop, ...common } = turn
  // The turn's own stop is how its last reply ends; what comes before stops for its tools. So the last is known late.
  let held: Draft[] = []
  for (const draft of draftsIn(turn)) {
    if (draft.kind === "draft") {
      yield* held.map((waiting) => callOf(waiting, common))
      held = []
    }
    held.push(draft)
  }
  const ending = stop === undefined ? common : { ...common, stop }
  yield* held.map((waiting) => callOf(waiting, ending))
}

export function callsOf(turn: Turn): Call[] {
  return [...callsIn(turn)]
}

function callOf(draft: Draft, common: Overrides): Call {
  return draft.kind === "error" ? draft : replyOf(draft.blocks, { ...common, ...draft.own })
}

function* draftsIn(turn: Turn): Generator<Draft> {
  let open: Block[] = []
  let isEmpty = true
  const taken = (): Draft[] => {
    const blocks = open
    open = []
    return blocks.length === 0 ? [] : [{ kind: "draft", blocks, own: {} }]
  }
  for (const step of plainSteps(turn.steps)) {
    isEmpty = false
    if ("reply" in step) {
      yield* taken()
      yield { kind: "draft", blocks: step.reply.map(blockOf), own: step }
    } else if ("error" in step) {
      // Nothing was said before it, so there is no reply that an aside could stand in.
      const asides = open.filter(isAside)
      if (asides.length < open.length) yield* taken()
      else open = []
      for (let n = 0; n < (step.times ?? 1); n++)
        yield { kind: "error", error: step, ...(n === 0 && asides.length > 0 ? { asides } : {}) }
    } else {
      const block = blockOf(step)
      open.push(block)
      if ("tool" in block || "cut" in block || "streamError" in block) yield* taken()
    }
  }
  yield* taken()
  if (isEmpty) yield { kind: "draft", blocks: [], own: {} }
}

function blockOf(block: WrittenBlock): Block {
  if (!("todos" in block)) return block
  const { result } = block
  const todos = block.todos.map((todo) => ({ ...todo, activeForm: todo.activeForm ?? todo.content }))
  const input = { todos }
  return { tool: "TodoWrite", input, ...(result === undefined ? {} : { result }) }
}

/** A reply that says only this. */
export function plainReply(say: string): Reply {
  return replyOf([{ say }], {})
}

/** The reply to what the script has no turn for. */
export function unscripted(said: string): Reply {
  return plainReply(`The script has no turn for this. What came was: ${said.slice(0, 200)}`)
}

function replyOf(blocks: readonly Block[], { stop, usage, model }: Overrides): Reply {
  const reason = blocks.some((block) => "tool" in block) ? "tool_use" : "end_turn"
  return {
    kind: "reply",
    blocks,
    stop: typeof stop === "object" ? stop : { reason: stop ?? reason },
    usage: usage ?? {},
    ...(model === undefined ? {} : { model }),
  }
}

// Apart from the schema, which brings zod along: a player must start without it.

export function isAside(step: Step): step is AsideStep {
  return "rateLimit" in step || "compact" in step || "elicit" in step || "emit" in step
}

/** `path` is kept as keys, so that a reader of files can find the line. */
export type ScenarioProblem = { path: (string | number)[]; message: string }

const MISPLACED_ERROR =
  "an error answers a call instead of a reply: put it before the text or after a tool, or use streamError"
const MISPLACED_COMPACTION = "the history is compacted between calls: put it before the text or after a tool"

/** An HTTP error comes instead of a reply; after text has begun it can only be an error inside the stream. */
function misplacedIn(steps: readonly Step[], path: ScenarioProblem["path"]): ScenarioProblem[] {
  return steps.flatMap((step, index) => {
    const place = [...path, index]
    if ("loop" in step) return misplacedIn(step.steps, [...place, "steps"])
    const before = steps[index - 1]
    const speaking = before !== undefined && ("say" in before || "think" in before)
    if (!speaking) return []
    if ("error" in step) return [{ path: place, message: MISPLACED_ERROR }]
    return "compact" in step ? [{ path: place, message: MISPLACED_COMPACTION }] : []
  })
}

/** Steps that make no sense where they stand, which a schema cannot say. */
export function misplacedSteps({ turns }: Scenario): ScenarioProblem[] {
  return turns.flatMap((turn, index) => misplacedIn(turn.steps, ["turns", index, "steps"]))
}

// `{{name}}` in the texts of a scenario.

/** The scenario with what it could not know when it was written: `{{cwd}}` and `{{planFile}}`. */
export function inPlace(scenario: Scenario, place: { cwd: string; planFile: string }): Scenario {
  return filled(scenario, new Map(Object.entries(place)))
}

/** The steps in order, the rounds of a loop made one by one: a million of them are never in memory. */
function* plainSteps(steps: readonly Step[]): Generator<PlainStep> {
  for (const step of steps) {
    if ("loop" in step) yield* roundsOf(step)
    else yield step
  }
}

function* roundsOf({ loop, as = "n", vary = {}, steps }: LoopStep): Generator<PlainStep> {
  const lists = Object.entries(vary)
  for (let n = 1; n <= loop; n++) {
    const words = new Map(lists.map(([name, list]) => [name, list[(n - 1) % list.length] ?? ""]))
    words.set(as, String(n))
    yield* plainSteps(steps.map((step) => filled(step, words)))
  }
}

/**
 * Only texts change, so the shape stays; an unknown name stays as it is. What has no such text in it stays the same
 * object: hundreds of agents may share one scenario.
 */
function filled<T>(value: T, words: ReadonlyMap<string, string>): T
function filled(value: unknown, words: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") {
    return value.includes("{{") ? value.replaceAll(/\{\{(\w+)\}\}/g, (all, name) => words.get(name) ?? all) : value
  }
  if (typeof value !== "object" || value === null) return value
  const before: [string, unknown][] = Object.entries(value)
  const after = before.map(([key, item]): [string, unknown] => [key, filled(item, words)])
  if (after.every(([, item], index) => item === before[index]?.[1])) return value
  return Array.isArray(value) ? after.map(([, item]) => item) : Object.fromEntries(after)
}

/** The place of a call in the scenario, for tests that look at what was played. */
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
