import { plainSteps } from "./placeholders.ts"
import type {
  AsideStep,
  Block,
  ErrorStep,
  Scenario,
  Step,
  Stop,
  StopReason,
  TodosStep,
  Turn,
  Usage,
  WrittenBlock,
} from "./schema.ts"

type StopDetails = { reason: StopReason; category?: string; explanation?: string; sequence?: string }

export type Reply = { kind: "reply"; blocks: readonly Block[]; stop: StopDetails; usage: Usage; model?: string }

/** An HTTP error instead of a reply, and what only a player of the CLI's own side can do before it. */
type FailedCall = { kind: "error"; error: ErrorStep; asides?: readonly AsideStep[] }

/** What the model does with one request: answers it, or fails. */
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
      if (endsReply(block)) yield* taken()
    }
  }
  yield* taken()
  if (isEmpty) yield { kind: "draft", blocks: [], own: {} }
}

function blockOf(block: WrittenBlock): Block {
  if (!("todos" in block)) return block
  const { todos, result } = block
  const input = { todos: todos.map(todoOf) }
  return { tool: "TodoWrite", input, ...(result === undefined ? {} : { result }) }
}

function todoOf(todo: TodosStep["todos"][number]): TodosStep["todos"][number] {
  return { ...todo, activeForm: todo.activeForm ?? todo.content }
}

/** A reply that says only this. */
export function plainReply(say: string): Reply {
  return replyOf([{ say }], {})
}

function endsReply(block: Block): boolean {
  return "tool" in block || "cut" in block || "streamError" in block
}

function replyOf(blocks: readonly Block[], { stop, usage, model }: Overrides): Reply {
  const reason = blocks.some((block) => "tool" in block) ? "tool_use" : "end_turn"
  return {
    kind: "reply",
    blocks,
    stop: stop === undefined ? { reason } : stopDetails(stop),
    usage: usage ?? {},
    ...(model === undefined ? {} : { model }),
  }
}

function stopDetails(stop: Stop): StopDetails {
  return typeof stop === "string" ? { reason: stop } : stop
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

/** What a schema cannot say: steps that make no sense where they stand. */
export function misplacedSteps({ turns }: Scenario): ScenarioProblem[] {
  return turns.flatMap((turn, index) => misplacedIn(turn.steps, ["turns", index, "steps"]))
}
