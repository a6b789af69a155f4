import { createLineParser } from "@signalbox/protocol/line-parser"
import { type Envelope, textOf, trusted } from "../base/wire.ts"
import type { TranscriptMirror } from "../store/transcript-mirror.ts"
import type { SDKMessage } from "../types/messages.ts"
import type { AgentRequests } from "./agent-requests.ts"
import type { ControlCalls } from "./control-calls.ts"
import type { InputLifetime } from "./input-lifetime.ts"
import type { MessageQueue } from "./message-queue.ts"

export interface LineIntakeOptions {
  readonly messages: MessageQueue
  readonly calls: ControlCalls
  readonly requests: AgentRequests
  readonly input: InputLifetime
  /** Only with a session store. */
  readonly mirror: TranscriptMirror | undefined
}

type Message = Envelope

/** How often others are let have their turn, at most, before a line that calls or answers the program. */
const MAX_TURNS = 64
const MIN_TURNS = 8

/** Where each line of the agent goes: to whoever waits for it, or on to the program. */
export class LineIntake {
  readonly #to: LineIntakeOptions
  readonly #parse = createLineParser()
  #lastError: string | undefined

  constructor(options: LineIntakeOptions) {
    this.#to = options
  }

  /** The last result's text, if it was one of failure. */
  get lastError(): string | undefined {
    return this.#lastError
  }

  /**
   * Takes the lines of a batch, from one of them on. A loop of its own, since one in an async function is far slower;
   * promises something only where somebody has to be waited for. The batch is emptied in the end: lines that are
   * still held while the next ones are waited for outlive a garbage collection, which costs as much as decoding them.
   */
  takeAll(batch: readonly string[], from = 0): Promise<void> | undefined {
    const queue = this.#to.messages
    const messages: SDKMessage[] = []
    let chars = 0
    for (let next = from; next < batch.length; next++) {
      const line = batch[next] ?? ""
      const message = this.#parsed(line)
      if (message === undefined) continue
      const type = message["type"]
      // First, because almost all lines are: whatever else is asked of each shows in the figures.
      if (type === "stream_event") {
        messages.push(trusted(message))
        chars += line.length
        continue
      }
      if (typeof type === "string" && type.startsWith("control_")) {
        queue.push(messages, chars)
        return this.#programHasRead().then(() => {
          this.#control(message)
          return this.takeAll(batch, next + 1)
        })
      }
      const isForProgram = this.#route(message, line.length)
      if (typeof isForProgram === "object") {
        queue.push(messages, chars)
        return isForProgram.then((isIt) => {
          if (isIt) queue.push([trusted(message)], line.length)
          return this.takeAll(batch, next + 1)
        })
      }
      if (!isForProgram) continue
      messages.push(trusted(message))
      chars += line.length
    }
    // The batch is this reader's alone, though its type does not say so.
    Reflect.set(batch, "length", 0)
    queue.push(messages, chars)
    return undefined
  }

  /**
   * Messages from before a question are seen before it is asked: the program that waits for messages is let read them, and
   * a question before that is let begin. Only a program that is busy with something else is overtaken.
   */
  async #programHasRead(): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      // A few turns in any case: a callback that answers at once has then answered.
      if (turn >= MIN_TURNS && this.#to.messages.isAwaited) return
      await Promise.resolve()
    }
  }

  /** Undefined for what is no message: somebody's print statement on the agent's standard output. */
  #parsed(line: string): Message | undefined {
    try {
      // Its type may be missing, and is asked for first; whatever it is, it is handed on as what the agent said.
      return trusted<Message | null>(this.#parse(line)) ?? undefined
    } catch {
      return undefined
    }
  }

  #control(message: Message): void {
    switch (message["type"]) {
      case "control_request":
        return this.#to.requests.take(message)
      case "control_response":
        return this.#to.calls.take(message)
      case "control_cancel_request":
        return this.#to.requests.cancel(message)
    }
  }

  /** Whether the message goes on to the program; a promise where the session store has to have it first, or is far behind. */
  #route(message: Message, chars: number): boolean | Promise<boolean> {
    switch (message["type"]) {
      case "keep_alive":
        return false
      case "transcript_mirror":
        return this.#to.mirror?.take(message, chars)?.then(() => false) ?? false
      case "system":
        this.#to.calls.note(message)
        this.#to.input.step({ kind: "line", from: "agent", message })
        return message["subtype"] !== "session_state_changed" || message["sdk_host_only"] !== true
      case "result":
        this.#lastError = errorTextOf(message)
        this.#to.input.step({ kind: "line", from: "agent", message })
        return this.#to.mirror?.flush().then(() => true) ?? true
      default:
        return true
    }
  }
}

function errorTextOf(result: Message): string | undefined {
  if (result["is_error"] !== true) return undefined
  if (result["subtype"] === "success") return textOf(result, "result")
  const { errors } = result
  return Array.isArray(errors) ? errors.join("; ") : undefined
}
