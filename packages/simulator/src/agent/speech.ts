import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { tokensOf } from "@signalbox/protocol/usage"
import { statusOf } from "../messages-api/json-answers.ts"
import { type ModelAction, type ModelActions, untilAborted } from "../model/model.ts"
import type { Fields } from "../profiles/profile.ts"
import { BlockBuilder, type StreamEvent } from "../scenario/reply-events.ts"
import type { AsideStep } from "../scenario/schema.ts"
import { type AgentCore, rememberMessage } from "./core.ts"
import type { Failure, Progress, Spoken } from "./failures.ts"
import { blockExtra, PartialMessages, saidBlock } from "./partial-messages.ts"

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
  /** The call is said before it is told of; else after. */
  readonly toolUseFirst?: boolean
  readonly onAside: (aside: AsideStep) => Promise<void>
  /** The user's messages this reply answers first, by their uuids. */
  readonly userUuids: readonly string[]
  /** Asked of a reply that was refused: whether it is taken back. */
  readonly retracts?: (spoken: Spoken) => boolean
  /** Another try of a call that failed: the request was announced already. */
  readonly isAgain?: boolean
  /** To be answered in one piece: nothing is passed on before its end. */
  readonly isWhole?: boolean
}

/** Lines said without waiting for room. A stream of deltas must not fill memory. */
const LINES_BETWEEN_WAITS = 128

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
  readonly #partial: PartialMessages
  #thinking = { tokens: 0, startedAt: 0 }
  #lines = 0
  /** Blocks of a reply in one piece, passed on at its end. */
  readonly #waiting: BlockBuilder[] = []
  /** The last block said: it is remembered when it is known how the reply ended, if that is its end. */
  #held: { message: Fields; said: Fields; requestId: string } | undefined

  constructor(core: AgentCore, listening: Listening) {
    this.#core = core
    this.#listening = listening
    this.#startedAt = core.clock.now()
    this.#partial = new PartialMessages(core, listening.isMain && listening.isWhole !== true)
  }

  async listen(actions: ModelActions): Promise<Spoken> {
    const { signal } = this.#listening
    let announced = this.#listening.isAgain === true
    for (;;) {
      const step = actions.next()
      const { value, done } = step instanceof Promise ? await untilAborted(step, signal) : step
      if (signal.aborted) return this.#interrupted()
      if (done === true || value === undefined) return this.#spoken()
      if (!announced && value.do !== "aside") {
        announced = true
        this.#partial.announce()
      }
      if (value.do === "error") return this.#failed({ kind: "http", ...value })
      if (value.do === "send") {
        // Nothing is awaited for a delta that need not be: they come by the hundred thousand.
        this.#take(value.event)
        if (++this.#lines % LINES_BETWEEN_WAITS === 0 && this.#core.wire.outbox.isFull) {
          await this.#core.wire.outbox.drained()
        }
        continue
      }
      const failure = await this.#act(value)
      if (failure !== undefined) return failure.kind === "aborted" ? this.#interrupted() : this.#broken(failure)
      if (signal.aborted) return this.#interrupted()
    }
  }

  async #act(action: Exclude<ModelAction, { do: "send" | "error" }>): Promise<Failure | undefined> {
    const { signal } = this.#listening
    switch (action.do) {
      case "pause":
        await this.#core.clock.pause(action.ms, signal)
        return undefined
      case "hang":
        await this.#core.model.hang?.(action.name, signal)
        return undefined
      case "aside":
        await this.#listening.onAside(action.aside)
        return undefined
      case "cut":
        return { kind: "cut" }
      case "fail":
        // In an answer of one piece there is no middle to fail in.
        return {
          kind: "http",
          status: this.#listening.isWhole === true ? statusOf(action.type) : 0,
          type: action.type,
          message: action.message,
        }
    }
  }

  #take(event: StreamEvent): void {
    switch (event.type) {
      case "message_start":
        this.#begin(fieldOf(event, "message") ?? {})
        return this.#partial.begin(event, this.#firstTokenMs ?? 1)
      case "content_block_start":
        this.#index++
        this.#block = new BlockBuilder(fieldOf(event, "content_block") ?? {})
        this.#thinking = { tokens: 0, startedAt: this.#core.clock.now() }
        return this.#partial.pass(event, this.#block.type === "thinking")
      case "content_block_delta":
        return this.#grow(event, fieldOf(event, "delta") ?? {})
      case "content_block_stop":
        if (this.#listening.isWhole === true) return this.#putAside()
        this.#closeBlock({})
        return this.#partial.pass(event)
      case "message_delta":
        this.#stop = fieldOf(event, "delta") ?? {}
        this.#usage = fieldOf(event, "usage") ?? {}
        this.#passWaiting()
        this.#remember(finalFields(this.#core, this.#stop, this.#usage))
        if (this.#isRetracted()) return this.#partial.endRefused(this.#usage)
        return this.#partial.pass(event)
      case "message_stop":
        return this.#partial.pass(event)
    }
  }

  #isRetracted(): boolean {
    return this.#stop?.["stop_reason"] === "refusal" && this.#listening.retracts?.(this.#spoken()) === true
  }

  #begin(message: Readonly<Fields>): void {
    this.#hasBegun = true
    this.#firstTokenMs = Math.max(1, this.#core.clock.now() - this.#startedAt)
    const { content: _, ...head } = message
    this.#head = head
  }

  #grow(event: StreamEvent, delta: Readonly<Fields>): void {
    if (this.#block?.type === "thinking") this.#countThinking(delta)
    this.#block?.append(delta)
    this.#partial.pass(event, delta["type"] === "thinking_delta")
  }

  /** The newest generation tells how much is being thought, as it is thought. */
  #countThinking(delta: Readonly<Fields>): void {
    if (!this.#core.profile.quirks.countsThinking) return
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
    const value = saidBlock(block)
    this.#content.push(value)
    const { core, listening } = { core: this.#core, listening: this.#listening }
    const { id, type, role, model, stop_reason, stop_sequence, usage } = this.#head
    const head = { id, type, role, model, content: [value], stop_reason, stop_sequence, usage }
    const message = { ...head, context_management: null }
    if (listening.onlyToolUses === true && block.type !== "tool_use") return
    const requestId = core.model.requestId()
    const userUuids = this.#content.length === 1 ? listening.userUuids : []
    const beside = blockExtra(core, block, { userUuids, startedAt: this.#thinking.startedAt })
    const fields = { request_id: requestId, ...beside, ...listening.extra, ...extra }
    const tellUse = () => (block.type === "tool_use" ? listening.onToolUse?.(value) : undefined)
    if (listening.toolUseFirst !== true) tellUse()
    const said = core.wire.assistant(message, fields, listening.parent)
    if (listening.toolUseFirst === true) tellUse()
    this.#uuids.push(textOf(said, "uuid") ?? "")
    this.#remember()
    if (listening.isMain) this.#held = { message, said, requestId }
  }

  #putAside(): void {
    if (this.#block !== undefined) this.#waiting.push(this.#block)
    this.#block = undefined
  }

  /** In one piece, a message knows its end. */
  #passWaiting(): void {
    const { stop_reason = null, stop_sequence = null } = this.#stop ?? {}
    const { shapes, quirks } = this.#core.profile
    const finished = quirks.finishesMessages ? shapes.callUsage(tokensOf({ usage: this.#usage })) : {}
    const usage = { ...this.#usage, ...finished }
    if (this.#waiting.length > 0) this.#head = { ...this.#head, stop_reason, stop_sequence, usage }
    for (const block of this.#waiting.splice(0)) {
      this.#block = block
      this.#closeBlock({})
    }
  }

  #remember(ending: Fields = {}): void {
    const held = this.#held
    if (held === undefined) return
    this.#held = undefined
    const { context_management: _, ...finished } = { ...held.message, ...ending }
    const kept = Object.keys(ending).length === 0 ? held.message : finished
    rememberMessage(this.#core, kept, held.said, { requestId: held.requestId })
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

  /** To be called after the interruption's own notice. */
  closeStream(): void {
    if (this.#core.profile.quirks.interruptedText !== "kept-and-closed" || !this.#hasBegun) return
    this.#partial.closeInterrupted(this.#head, this.#index)
  }

  /** The reply ended before its end. The newest generation closes the stream it had opened, and counts what came. */
  #broken(failure: Failure): Spoken {
    const progress = this.#progress()
    if (!this.#core.profile.quirks.closesBrokenStreams || progress === "nothing") return this.#failed(failure)
    const open = this.#block === undefined ? undefined : this.#index
    this.#partial.closeBroken({ id: textOf(this.#head, "id") ?? "", open, whole: this.#content.length })
    const usage = progress === "blocks" ? { usage: tokensOf(this.#head) } : {}
    return { ...this.#failed(failure), ...usage }
  }

  #failed(failure: Failure): Spoken {
    return { ...this.#spoken(), failure }
  }

  #progress(): Progress {
    if (this.#content.length > 0) return "blocks"
    if (this.#block !== undefined) return "in-block"
    return this.#hasBegun ? "begun" : "nothing"
  }

  #spoken(): Spoken {
    this.#remember()
    return {
      content: this.#content,
      messageId: textOf(this.#head, "id") ?? "",
      model: textOf(this.#head, "model") ?? "",
      stopReason: textOf(this.#stop, "stop_reason") ?? null,
      uuids: this.#uuids,
      progress: this.#progress(),
      isWhole: this.#listening.isWhole === true,
      stopDetails: fieldOf(this.#stop, "stop_details"),
      usage: this.#stop && tokensOf({ usage: this.#usage }),
      firstTokenMs: this.#firstTokenMs,
    }
  }
}

/** How the newest generation fills in a message that has ended, for its transcript; the others leave it as it began. */
function finalFields({ profile }: AgentCore, stop: Readonly<Fields>, usage: Readonly<Fields>): Fields {
  if (!profile.quirks.finishesMessages) return {}
  const { stop_reason = null, stop_sequence = null } = stop
  return { stop_reason, stop_sequence, usage: profile.shapes.callUsage(tokensOf({ usage })), stop_details: null }
}
