import type { Block, ErrorStep, Stop, StopReason, TodosStep, Turn, Usage, WrittenBlock } from "./schema.ts"

type StopDetails = { reason: StopReason; category?: string; explanation?: string; sequence?: string }

export type Reply = {
  kind: "reply"
  blocks: readonly Block[]
  stop: StopDetails
  usage: Usage
  model?: string
}

/** What the model does with one request: answers it, or fails. */
export type Call = Reply | { kind: "error"; error: ErrorStep }

type Overrides = { stop?: Stop; usage?: Usage; model?: string }
type Draft = { kind: "draft"; blocks: readonly Block[]; own: Overrides } | { kind: "error"; error: ErrorStep }

/**
 * The calls of a turn in order. Steps written one after the other form a reply until a tool is called, because nothing
 * can be said before its result is back; what comes in one reply otherwise is written as `reply`.
 */
export function callsOf(turn: Turn): Call[] {
  const drafts = draftsOf(turn)
  const last = drafts.findLastIndex((draft) => draft.kind === "draft")
  const { stop, ...common } = turn
  return drafts.map((draft, index) => {
    if (draft.kind === "error") return draft
    // The turn's own stop is how it ends; what comes before stops for its tools.
    const ending = index === last && stop !== undefined ? { stop } : {}
    return replyOf(draft.blocks, { ...common, ...ending, ...draft.own })
  })
}

function draftsOf(turn: Turn): Draft[] {
  const drafts: Draft[] = []
  let open: Block[] = []
  const close = () => {
    if (open.length > 0) drafts.push({ kind: "draft", blocks: open, own: {} })
    open = []
  }
  for (const step of turn.steps) {
    if ("reply" in step) {
      close()
      drafts.push({ kind: "draft", blocks: step.reply.map(blockOf), own: step })
    } else if ("error" in step) {
      close()
      for (let n = 0; n < (step.times ?? 1); n++) drafts.push({ kind: "error", error: step })
    } else {
      const block = blockOf(step)
      open.push(block)
      if (endsReply(block)) close()
    }
  }
  close()
  if (drafts.length === 0) drafts.push({ kind: "draft", blocks: [], own: {} })
  return drafts
}

function blockOf(block: WrittenBlock): Block {
  return "todos" in block ? { tool: "TodoWrite", input: { todos: block.todos.map(todoOf) } } : block
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
