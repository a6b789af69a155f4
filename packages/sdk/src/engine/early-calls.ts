import type { Silence } from "./silence.ts"

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
  #onNone: () => void = () => undefined

  constructor(silence: Silence) {
    this.#silence = silence
  }

  /** Counts it until it has settled. */
  hold<T>(answer: Promise<T>): Promise<T> {
    this.#open++
    const settle = () => {
      this.#open--
      if (this.#open === 0) this.#onNone()
    }
    answer.then(settle, settle)
    return answer
  }

  /** Resolves when none is open and the program has had its turn, or when the agent says nothing any more. */
  async answered(): Promise<void> {
    const callOff = this.#silence.watch(() => {
      this.#isGivenUp = true
      this.#onNone()
    })
    // One turn of the event loop lets the program make the requests that follow its query, or an answer, at once.
    await turn()
    while (this.#open > 0 && !this.#isGivenUp) {
      await new Promise<void>((resolve) => {
        this.#onNone = resolve
      })
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
