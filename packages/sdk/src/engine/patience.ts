import { Waker } from "@signalbox/transport/pacing"
import { startDeadline, within } from "../base/deadline.ts"
import { SdkError } from "../base/errors.ts"
import type { QueryEngine } from "./query-engine.ts"

export const READY_TIMEOUT_MS = 60_000

/** Resolves when the agent has answered `initialize`; one that does not is ended. */
export async function readyWithin(engine: QueryEngine, ms: number): Promise<void> {
  try {
    await within<unknown>(ms, engine.initialized(), () => {
      const message = `Subprocess initialization did not complete within ${ms}ms. Claude Code did not answer the initialize request.`
      throw new SdkError("startup/timeout", message, { details: { initializeTimeoutMs: ms } })
    })
  } catch (error) {
    engine.close()
    throw error
  }
}

/** As long as the official package gives an agent whose prompt failed. */
const SILENT_MS = 2000

interface Watch {
  readonly onOver: () => void
  callOff: () => void
}

/** Tells when the agent has said nothing for a while. The first word may take longer: it may still be starting. */
export class Silence {
  readonly #watches = new Set<Watch>()
  #limitMs = READY_TIMEOUT_MS

  /** The agent has said something. */
  heard(): void {
    this.#limitMs = SILENT_MS
    for (const watch of this.#watches) {
      watch.callOff()
      watch.callOff = startDeadline(this.#limitMs, watch.onOver)
    }
  }

  /** Returns what calls it off. */
  watch(onOver: () => void): () => void {
    const watch: Watch = { onOver, callOff: startDeadline(this.#limitMs, onOver) }
    this.#watches.add(watch)
    return () => {
      watch.callOff()
      this.#watches.delete(watch)
    }
  }
}

/** Requests that say how the first message is to be taken. Every CLI answers them. */
const DECISIVE: ReadonlySet<string> = new Set(["set_permission_mode", "set_model", "set_max_thinking_tokens"])

export function isDecisive(subtype: string): boolean {
  return DECISIVE.has(subtype)
}

/**
 * Requests that the program made before its first message was written. A program that waits for `initialize` and then sets a mode
 * means its first message to be in that mode, though it gave the message first: so the message waits for the answers.
 */
export class EarlyCalls {
  readonly #silence: Silence
  #open = 0
  #isGivenUp = false
  readonly #change = new Waker()

  constructor(silence: Silence) {
    this.#silence = silence
  }

  /** Counts it until it has settled. */
  hold<T>(answer: Promise<T>): Promise<T> {
    this.#open++
    const settle = () => {
      this.#open--
      this.#change.wake()
    }
    answer.then(settle, settle)
    return answer
  }

  /** Resolves when none is open and the program has had its turn, or when the agent says nothing any more. */
  async answered(): Promise<void> {
    const callOff = this.#silence.watch(() => {
      this.#isGivenUp = true
      this.#change.wake()
    })
    // One turn of the event loop lets the program make the requests that follow its query, or an answer, at once.
    await turn()
    while (this.#open > 0 && !this.#isGivenUp) {
      await this.#change.wait()
      await turn()
    }
    callOff()
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
