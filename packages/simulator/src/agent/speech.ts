import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { ModelAction, ModelActions } from "../model/model.ts"
import type { Fields, UsageNumbers } from "../profiles/profile.ts"
import type { StreamEvent } from "../scenario/reply-events.ts"
import type { AsideStep } from "../scenario/schema.ts"
import { BlockBuilder } from "./block-builder.ts"
import type { AgentCore } from "./core.ts"

/** What one reply of the model came to. */
export interface Spoken {
  readonly content: Fields[]
  readonly messageId: string
  readonly model: string
  readonly stopReason: string | null
  readonly stopDetails?: Readonly<Fields>
  readonly usage?: UsageNumbers
  readonly failure?: Failure
  readonly firstTokenMs?: number
  readonly uuids: readonly string[]
}

/** `cut`: the connection ended within the reply. */
export type Failure =
  | { kind: "http"; status: number; type: string; message: string; retryAfterMs?: number }
  | { kind: "cut" }
  | { kind: "aborted" }

export interface Listening {
  readonly signal: AbortSignal
  readonly parent: string | null
  /** Fields on every assistant message of this reply. */
  readonly extra: Fields
  /** A sub-agent's words are kept for its result; its tool calls are passed on. */
  readonly onlyToolUses?: boolean
  /** Partial messages are of the main conversation only. */
  readonly isMain: boolean
  /** Called before a tool call is passed on. */
  readonly onToolUse?: (use: Readonly<Fields>) => void
  readonly onAside: (aside: AsideStep) => Promise<void>
  /** The user's messages this reply answers first, by their uuids. */
  readonly userUuids: readonly string[]
}

/** Lines said without waiting for room. A stream of deltas must not fill memory. */
const LINES_BETWEEN_WAITS = 512

/** Passes a reply on as it comes in: partial messages if they are wanted, and a message for each block that is whole. */
export class Speech {
  readonly #core: AgentCore
  readonly #listening: Listening
  readonly #content: Fields[] = []
  readonly #uuids: string[] = []
  readonly #startedAt: number
  #block: BlockBuilder | undefined
  #index = -1
  #head: Fields = {}
  #usage: Readonly<Fields> = {}
  #stop: Readonly<Fields> | undefined
  #hasBegun = false
  #firstTokenMs: number | undefined
  /** What stands in every line of this reply, written once. */
  readonly #middle: string
  #suffix = ""
  #thinking = { tokens: 0, startedAt: 0 }
  #lines = 0

  constructor(core: AgentCore, listening: Listening) {
    this.#core = core
    this.#listening = listening
    this.#startedAt = core.clock.now()
    this.#middle = `,"session_id":"${core.wire.sessionId}","parent_tool_use_id":null,"uuid":"`
  }

  async listen(actions: ModelActions): Promise<Spoken> {
    const { signal } = this.#listening
    let announced = false
    for (;;) {
      const step = actions.next()
      const { value, done } = step instanceof Promise ? await untilAborted(step, signal) : step
      if (signal.aborted) return this.#interrupted()
      if (done === true || value === undefined) return this.#spoken()
      if (value.do === "error") return this.#failed({ kind: "http", ...value })
      if (!announced && value.do !== "aside") {
        announced = true
        this.#announce()
      }
      if (value.do === "send") {
        // Nothing is awaited for a delta that need not be: they come by the hundred thousand.
        this.#take(value.event)
        if (++this.#lines % LINES_BETWEEN_WAITS === 0 && this.#core.wire.isFull) await this.#core.wire.drained()
        continue
      }
      const failure = await this.#act(value)
      if (failure !== undefined) return failure.kind === "aborted" ? this.#interrupted() : this.#failed(failure)
      if (signal.aborted) return this.#interrupted()
    }
  }

  #announce(): void {
    const { core, listening } = { core: this.#core, listening: this.#listening }
    if (core.launch.includePartialMessages && core.profile.quirks.announcesRequests && listening.isMain) {
      core.wire.system("status", { status: "requesting" }, core.profile.generation === 120 ? "uuid" : "session_id")
    }
  }

  async #act(action: Exclude<ModelAction, { do: "send" }>): Promise<Failure | undefined> {
    const { signal } = this.#listening
    switch (action.do) {
      case "pause":
        await this.#core.clock.pause(action.ms, signal)
        return undefined
      case "hang":
        await this.#core.model.hang(action.name, signal)
        return undefined
      case "aside":
        await this.#listening.onAside(action.aside)
        return undefined
      case "cut":
        return { kind: "cut" }
      case "fail":
        return { kind: "http", status: 0, type: action.type, message: action.message }
      case "error":
        return { kind: "http", ...action }
    }
  }

  #take(event: StreamEvent): void {
    switch (event.type) {
      case "message_start":
        this.#begin(fieldOf(event, "message") ?? {})
        return this.#pass(event)
      case "content_block_start":
        this.#index++
        this.#block = new BlockBuilder(fieldOf(event, "content_block") ?? {})
        this.#thinking = { tokens: 0, startedAt: this.#core.clock.now() }
        return this.#pass(event)
      case "content_block_delta":
        this.#grow(fieldOf(event, "delta") ?? {})
        return this.#pass(event)
      case "content_block_stop":
        this.#closeBlock({})
        return this.#pass(event)
      case "message_delta":
        this.#stop = fieldOf(event, "delta") ?? {}
        this.#usage = fieldOf(event, "usage") ?? {}
        return this.#pass(event)
      case "message_stop":
        return this.#pass(event)
    }
  }

  #begin(message: Readonly<Fields>): void {
    this.#hasBegun = true
    this.#firstTokenMs = Math.max(1, this.#core.clock.now() - this.#startedAt)
    const { content: _, ...head } = message
    this.#head = head
    this.#suffix = this.#lineEnd()
  }

  #grow(delta: Readonly<Fields>): void {
    const block = this.#block
    if (block === undefined) return
    if (block.type === "thinking") this.#countThinking(delta)
    block.append(delta)
  }

  /** The newest generation tells how much is being thought, as it is thought. */
  #countThinking(delta: Readonly<Fields>): void {
    if (this.#core.profile.generation < 325) return
    const text = textOf(delta, "thinking")
    const signature = textOf(delta, "signature")
    const before = this.#thinking.tokens
    const now =
      text === undefined
        ? Math.max(before, Math.ceil(((signature?.length ?? 0) * 3) / 16))
        : before + Math.ceil(text.length / 4)
    if (now === before) return
    this.#thinking.tokens = now
    this.#core.wire.system("thinking_tokens", { estimated_tokens: now, estimated_tokens_delta: now - before })
  }

  #closeBlock(extra: Fields): void {
    const block = this.#block
    if (block === undefined) return
    this.#block = undefined
    const value = block.value()
    this.#content.push(value)
    const { core, listening } = { core: this.#core, listening: this.#listening }
    const { id, type, role, model, stop_reason, stop_sequence, usage } = this.#head
    const head = { id, type, role, model, content: [value], stop_reason, stop_sequence, usage }
    const message = { ...head, context_management: null }
    if (listening.onlyToolUses === true && block.type !== "tool_use") return
    const requestId = core.model.requestId()
    const fields = { request_id: requestId, ...this.#blockExtra(block, value), ...listening.extra, ...extra }
    if (block.type === "tool_use") listening.onToolUse?.(value)
    const said = core.wire.assistant(message, fields, listening.parent)
    this.#uuids.push(textOf(said, "uuid") ?? "")
    if (listening.isMain) remember(core, message, said, requestId)
  }

  /** What only the newest generation writes beside a block. */
  #blockExtra(block: BlockBuilder, value: Readonly<Fields>): Fields {
    const { core, listening } = { core: this.#core, listening: this.#listening }
    const first = this.#content.length === 1 && listening.userUuids.length > 0
    const markers = first
      ? { user_message_uuid: listening.userUuids.at(-1), user_message_uuids: listening.userUuids }
      : {}
    if (block.type === "thinking") {
      const duration = Math.max(1, core.clock.now() - this.#thinking.startedAt)
      return { thinking_duration_ms: duration, thinking_display: "updates", ...markers }
    }
    const name = textOf(value, "name") ?? ""
    const target = block.type === "tool_use" ? core.mcp.find(name) : undefined
    if (target === undefined) return markers
    const meta = {
      id: value["id"],
      display_name: displayName(target.tool),
      server_display_name: target.server,
      tool_name: target.tool,
    }
    return { tool_use_meta: [meta], ...markers }
  }

  #pass(event: StreamEvent, last?: Fields): void {
    const core = this.#core
    if (!core.launch.includePartialMessages || !this.#listening.isMain) return
    const isNewest = core.profile.generation === 325
    const first = event.type === "message_start" && core.profile.generation >= 120
    const thinks = isNewest && (first || this.#isThought(event))
    const extra =
      (first ? `,"ttft_ms":${this.#firstTokenMs ?? 1}` : "") + (thinks ? ',"thinking_display":"updates"' : "")
    const end = last === undefined ? "" : `,${JSON.stringify(last).slice(1, -1)}`
    core.wire.emitLine(
      `{"type":"stream_event","event":${JSON.stringify(event)}${this.#middle}${core.random.uuid()}"${extra}${this.#suffix}${end}}`,
    )
  }

  #isThought(event: StreamEvent): boolean {
    if (event.type === "content_block_start") return this.#block?.type === "thinking"
    return fieldOf(event, "delta")?.["type"] === "thinking_delta"
  }

  #lineEnd(): string {
    const id = textOf(this.#head, "id") ?? ""
    return this.#core.profile.generation === 325 ? `,"api_message_id":${JSON.stringify(id)}` : ""
  }

  /** The user broke in. What had come is kept, or not, as the version does. */
  #interrupted(): Spoken {
    const { quirks } = this.#core.profile
    const had = this.#block !== undefined && !this.#block.isEmpty
    if (quirks.interruptedText === "lost" || !had) this.#block = undefined
    else if (quirks.interruptedText === "kept") this.#closeBlock({})
    else this.#closeBlock({ aborted: true })
    return this.#failed({ kind: "aborted" })
  }

  /** After the interruption's own notice, the newest generation closes the stream it had opened. */
  closeStream(): void {
    if (this.#core.profile.quirks.interruptedText !== "kept-and-closed" || !this.#hasBegun) return
    const id = textOf(this.#head, "id") ?? ""
    const usage = fieldOf(this.#head, "usage") ?? {}
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage
    if (this.#index >= 0) this.#pass({ type: "content_block_stop", index: this.#index })
    this.#pass({
      type: "message_delta",
      context_management: null,
      delta: { container: null, stop_details: null, stop_reason: null, stop_sequence: null },
      usage: {
        output_tokens_details: { thinking_tokens: 0 },
        cache_creation_input_tokens,
        cache_read_input_tokens,
        input_tokens,
        iterations: [],
        output_tokens: 1,
        server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
        fallback_credit: null,
      },
    })
    const abandoned = { api_message_id: id, from_block_index: this.#index + 1 }
    this.#pass({ type: "message_stop" }, { abandoned_blocks: abandoned })
  }

  #failed(failure: Failure): Spoken {
    return { ...this.#spoken(), failure }
  }

  #spoken(): Spoken {
    const details = fieldOf(this.#stop, "stop_details")
    return {
      content: this.#content,
      messageId: textOf(this.#head, "id") ?? "",
      model: textOf(this.#head, "model") ?? "",
      stopReason: textOf(this.#stop, "stop_reason") ?? null,
      uuids: this.#uuids,
      ...(details === undefined ? {} : { stopDetails: details }),
      ...(this.#stop === undefined ? {} : { usage: usageNumbers(this.#usage) }),
      ...(this.#firstTokenMs === undefined ? {} : { firstTokenMs: this.#firstTokenMs }),
    }
  }
}

export function displayName(tool: string): string {
  return tool
    .split(/[_-]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(" ")
}

/** Into the history that the model is told, and into the transcript. Blocks of one message become one again. */
function remember(core: AgentCore, message: Fields, said: Fields, requestId: string): void {
  const blocks = Array.isArray(message["content"]) ? message["content"] : []
  const last = core.history.at(-1)
  if (last?.["role"] === "assistant" && last["id"] === message["id"] && Array.isArray(last["content"])) {
    last["content"] = [...last["content"], ...blocks]
  } else core.history.push({ role: "assistant", id: message["id"], content: blocks })
  const timestamp = core.wire.timestamp()
  core.transcript.add("assistant", {
    message,
    uuid: textOf(said, "uuid") ?? "",
    timestamp,
    extra: { requestId },
  })
}

function usageNumbers(usage: Readonly<Fields>): UsageNumbers {
  const number = (name: string) => (typeof usage[name] === "number" ? usage[name] : 0)
  return {
    input: number("input_tokens"),
    output: number("output_tokens"),
    cacheRead: number("cache_read_input_tokens"),
    cacheWrite: number("cache_creation_input_tokens"),
  }
}

type Step = IteratorResult<ModelAction, unknown>

/** The model's next step, or nothing once the signal aborts: a model that hangs holds up no interrupt. */
async function untilAborted(
  step: Promise<Step>,
  signal: AbortSignal,
): Promise<{ value?: ModelAction; done?: boolean }> {
  if (signal.aborted) return {}
  let abort: () => void = () => undefined
  const aborted = new Promise<Record<string, never>>((resolve) => {
    abort = () => resolve({})
    signal.addEventListener("abort", abort, { once: true })
  })
  try {
    const result = await Promise.race([step, aborted])
    if (!isObject(result) || !("value" in result)) return {}
    return result.done === true ? { done: true } : { value: result.value }
  } finally {
    signal.removeEventListener("abort", abort)
  }
}
