import { textOf } from "@signalbox/protocol"
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

/** Where each line of the agent goes: to whoever waits for it, or on to the program. */
export class LineIntake {
  readonly #to: LineIntakeOptions
  #lastError: string | undefined

  constructor(options: LineIntakeOptions) {
    this.#to = options
  }

  /** What the last result said, if it was one of failure. */
  get lastError(): string | undefined {
    return this.#lastError
  }

  /** Promises something only where the session store has to be waited for: with a result, or when it is far behind. */
  take(line: string): Promise<void> | undefined {
    let message: Readonly<Record<string, unknown>> | null
    try {
      message = JSON.parse(line)
    } catch {
      return undefined // Somebody's print statement on the agent's standard output.
    }
    if (message === null) return undefined
    const type = message["type"]
    // First, because almost all lines are: a long switch over strings shows in the figures.
    if (type === "stream_event") this.#to.messages.push(messageOf(message), line.length)
    else if (type === "transcript_mirror") return this.#to.mirror?.take(message, line.length)
    else if (this.#isForProgram(type, message)) return this.#deliver(type, message, line.length)
    return undefined
  }

  #isForProgram(type: unknown, message: Readonly<Record<string, unknown>>): boolean {
    switch (type) {
      case "control_request":
        this.#to.requests.take(message)
        return false
      case "control_response":
        this.#to.calls.take(message)
        return false
      case "control_cancel_request":
        this.#to.requests.cancel(message)
        return false
      case "keep_alive":
        return false
      case "system":
        this.#to.input.step({ kind: "system", message })
        return message["subtype"] !== "session_state_changed" || message["sdk_host_only"] !== true
      default:
        return true
    }
  }

  #deliver(type: unknown, message: Readonly<Record<string, unknown>>, chars: number): Promise<void> | undefined {
    if (type !== "result") {
      this.#to.messages.push(messageOf(message), chars)
      return undefined
    }
    this.#lastError = errorTextOf(message)
    this.#to.input.step({ kind: "result" })
    const finish = () => this.#to.messages.push(messageOf(message), chars)
    if (this.#to.mirror !== undefined) return this.#to.mirror.flush().then(finish)
    finish()
    return undefined
  }
}

// A message of a type we do not know is handed on like any other, and no type could name it.
function messageOf(message: Readonly<Record<string, unknown>>): SDKMessage
function messageOf(message: unknown): unknown {
  return message
}

function errorTextOf(result: Readonly<Record<string, unknown>>): string | undefined {
  if (result["is_error"] !== true) return undefined
  if (result["subtype"] === "success") return textOf(result, "result")
  const { errors } = result
  return Array.isArray(errors) ? errors.join("; ") : undefined
}
