import { parseObject, textOf } from "@signalbox/protocol/envelope"
import { isAside, type Reply } from "./calls.ts"
import type { AsideStep, Block, SayStep, ScenarioText, ThinkStep, ToolStep } from "./schema.ts"

/** An event of the API's stream, in its own spelling. */
export type StreamEvent = { type: string; [field: string]: unknown }

/** A step of a reply: it sends an event, or does something to the connection that carries it. */
export type ReplyAction =
  | { do: "send"; event: StreamEvent }
  | { do: "pause"; ms: number }
  | { do: "hang"; name: string | undefined }
  | { do: "cut" }
  | { do: "fail"; type: string; message: string }
  /** Something that only a player of the CLI's own side can do. */
  | { do: "aside"; aside: AsideStep }

/** Things besides the script that a reply depends on: who was asked, and how much it was told. */
export type Asked = { model: string; inputUnits: number }

/** The source of ids: two replies must never share one, also across servers that serve the same session. */
export type Ids = { next: (prefix: "msg" | "toolu" | "req") => string }

/** `mark`, a part at random, keeps ids apart between those who serve the same session one after the other. */
export function createIds(mark: string): Ids {
  let count = 0
  return { next: (prefix) => `${prefix}_01${mark}${String(++count).padStart(6, "0")}` }
}

/** One content block, put together from its deltas. */
export class BlockBuilder {
  readonly type: string
  readonly #start: Readonly<Record<string, unknown>>
  readonly #pieces: string[] = []
  #signature = ""

  constructor(start: Readonly<Record<string, unknown>>) {
    this.#start = start
    this.type = textOf(start, "type") ?? ""
  }

  append(delta: Readonly<Record<string, unknown>>): void {
    const piece = delta["text"] ?? delta["thinking"] ?? delta["partial_json"]
    if (typeof piece === "string") this.#pieces.push(piece)
    this.#signature += textOf(delta, "signature") ?? ""
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  value(): Record<string, unknown> {
    const text = this.#pieces.join("")
    if (this.type === "thinking") return { type: "thinking", thinking: text, signature: this.#signature }
    return this.type === "tool_use" ? { ...this.#start, input: parseObject(text) ?? {} } : { ...this.#start, text }
  }
}

type ReplyUsage = Record<`${"" | "cache_creation_" | "cache_read_"}input_tokens` | "output_tokens", number>

const UNITS_PER_TOKEN = 4
const DEFAULT_SIGNATURE = Buffer.from("a scripted signature, signed by nobody").toString("base64")

type PlainBlock = Exclude<Block, AsideStep>

/** Waits before the first word of a reply come before the reply's head too: a server that does not answer yet. */
export function* replyActions(reply: Reply, asked: Asked, ids: Ids): Generator<ReplyAction> {
  const usage = usageOf(reply, asked)
  const head = { id: ids.next("msg"), model: reply.model ?? asked.model, usage }
  let index = -1
  let isOpen = false
  let hasBegun = false
  for (const block of reply.blocks) {
    if (isAside(block)) {
      yield { do: "aside", aside: block }
      continue
    }
    const wait = waitOf(block)
    if (wait === undefined && !hasBegun) yield* opening(head)
    hasBegun ||= wait === undefined
    if ("say" in block || "think" in block || "tool" in block) {
      if (isOpen) yield blockStop(index)
      index++
      yield* contentActions(block, index, ids)
      isOpen = block.unfinished === true
      if (!isOpen) yield blockStop(index)
    } else yield wait ?? faultOf(block)
  }
  if (!hasBegun) yield* opening(head)
  if (isOpen) yield blockStop(index)
  yield* closing(reply, usage)
}

function waitOf(block: PlainBlock): ReplyAction | undefined {
  if ("pause" in block) return { do: "pause", ms: block.pause }
  if ("hang" in block) return { do: "hang", name: block.hang === true ? undefined : block.hang }
  return undefined
}

function faultOf(block: PlainBlock): ReplyAction {
  if ("streamError" in block) {
    return { do: "fail", type: block.streamError, message: block.message ?? "Scripted error" }
  }
  return { do: "cut" }
}

function* opening({ id, model, usage }: { id: string; model: string; usage: ReplyUsage }): Generator<ReplyAction> {
  yield send("message_start", {
    message: {
      id,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
    },
  })
  yield send("ping", {})
}

function* closing(reply: Reply, usage: ReplyUsage): Generator<ReplyAction> {
  yield send("message_delta", { delta: stopFields(reply), usage })
  yield send("message_stop", {})
}

function* contentActions(block: SayStep | ThinkStep | ToolStep, index: number, ids: Ids): Generator<ReplyAction> {
  if ("say" in block) {
    yield send("content_block_start", { index, content_block: { type: "text", text: "" } })
    yield* deltas(index, piecesOf(block.say, block), block, (text) => ({ type: "text_delta", text }))
  } else if ("think" in block) {
    yield send("content_block_start", { index, content_block: { type: "thinking", thinking: "", signature: "" } })
    yield* deltas(index, piecesOf(block.think, block), block, (thinking) => ({ type: "thinking_delta", thinking }))
    const signature = block.signature ?? DEFAULT_SIGNATURE
    yield send("content_block_delta", { index, delta: { type: "signature_delta", signature } })
  } else {
    const id = block.id ?? ids.next("toolu")
    yield send("content_block_start", { index, content_block: { type: "tool_use", id, name: block.tool, input: {} } })
    const json = piecesOf(JSON.stringify(block.input), block)
    yield* deltas(index, json, block, (partial_json) => ({ type: "input_json_delta", partial_json }))
  }
}

function blockStop(index: number): ReplyAction {
  return send("content_block_stop", { index })
}

function* deltas(
  index: number,
  pieces: Iterable<string>,
  pace: Pace,
  delta: (piece: string) => object,
): Generator<ReplyAction> {
  for (const piece of pieces) {
    yield send("content_block_delta", { index, delta: delta(piece) })
    if (pace.pauseMs !== undefined && pace.pauseMs > 0) yield { do: "pause", ms: pace.pauseMs }
  }
}

function send(type: string, fields: Record<string, unknown>): ReplyAction {
  return { do: "send", event: { type, ...fields } }
}

function stopFields({ stop }: Reply): Record<string, unknown> {
  const { reason, category, explanation, sequence } = stop
  const details = { type: reason, category: category ?? null, explanation: explanation ?? null }
  return {
    stop_reason: reason,
    stop_sequence: sequence ?? null,
    ...(reason === "refusal" ? { stop_details: details } : {}),
  }
}

/** Numbers given in the scenario, else an estimate that is the same in every run. */
function usageOf(reply: Reply, asked: Asked): ReplyUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = reply.usage
  return {
    input_tokens: inputTokens ?? estimateTokens(asked.inputUnits),
    cache_creation_input_tokens: cacheWriteTokens ?? 0,
    cache_read_input_tokens: cacheReadTokens ?? 0,
    output_tokens: outputTokens ?? estimateTokens(spokenUnits(reply)),
  }
}

export function estimateTokens(units: number): number {
  return Math.max(1, Math.ceil(units / UNITS_PER_TOKEN))
}

function spokenUnits(reply: Reply): number {
  return reply.blocks.reduce((sum, block) => {
    if ("say" in block) return sum + lengthOf(block.say)
    if ("think" in block) return sum + lengthOf(block.think)
    return "tool" in block ? sum + JSON.stringify(block.input).length : sum
  }, 0)
}

export type Pace = { deltas?: number; chunk?: number; pauseMs?: number }

const DEFAULT_CHUNK = 48

/** UTF-16 units of the whole text, known without building it. */
export function lengthOf(text: ScenarioText): number {
  if (typeof text === "string") return text.length
  return text.repeat.length * repetitions(text).full + repetitions(text).rest.length
}

/** The text in pieces, made as they are asked for: a text of 256 MB is never in memory. */
export function* piecesOf(text: ScenarioText, pace: Pace): Generator<string> {
  const size = pieceSize(lengthOf(text), pace)
  let pending = ""
  for (const part of partsOf(text, size)) {
    pending += part
    while (pending.length >= size + 1) {
      const end = boundary(pending, size)
      yield pending.slice(0, end)
      pending = pending.slice(end)
    }
  }
  if (pending !== "") yield pending
}

export function wholeText(text: ScenarioText): string {
  if (typeof text === "string") return text
  const { full, rest } = repetitions(text)
  return text.repeat.repeat(full) + rest
}

function pieceSize(length: number, { deltas, chunk }: Pace): number {
  if (deltas !== undefined) return Math.max(1, Math.ceil(length / deltas))
  return chunk ?? DEFAULT_CHUNK
}

/** Never between the halves of a surrogate pair: a lone half does not survive UTF-8. */
function boundary(text: string, size: number): number {
  const code = text.charCodeAt(size - 1)
  return code >= 0xd800 && code <= 0xdbff ? size + 1 : size
}

/** The text in runs about as long as a piece, so that short repeats do not cost a step each. */
function* partsOf(text: ScenarioText, size: number): Generator<string> {
  if (typeof text === "string") {
    yield text
    return
  }
  const { full, rest } = repetitions(text)
  const perRun = Math.min(full, Math.max(1, Math.ceil(size / text.repeat.length)))
  const run = text.repeat.repeat(perRun)
  for (let done = 0; done < full; done += perRun) yield done + perRun <= full ? run : text.repeat.repeat(full - done)
  if (rest !== "") yield rest
}

function repetitions(text: Exclude<ScenarioText, string>): { full: number; rest: string } {
  if ("times" in text) return { full: text.times, rest: "" }
  const bytesEach = Buffer.byteLength(text.repeat)
  const full = Math.floor(text.bytes / bytesEach)
  return { full, rest: headOfBytes(text.repeat, text.bytes - full * bytesEach) }
}

/** The longest beginning that takes at most so many bytes, in whole characters. */
function headOfBytes(text: string, bytes: number): string {
  let used = 0
  let head = ""
  for (const character of text) {
    used += Buffer.byteLength(character)
    if (used > bytes) break
    head += character
  }
  return head
}
