import type { Waker } from "@signalbox/transport/pacing"
import type { MessageQueue } from "./message-queue.ts"

/** A program that has asked for no message for so long may be waiting for what comes after those it has not read. */
const STANDSTILL_MS = 100

export interface ReadAheadOptions {
  readonly messages: MessageQueue
  /** Woken when there is room, and when `mustReadOn` may have changed. */
  readonly change: Waker
  /** Whether the agent has to be read, however much waits. */
  readonly mustReadOn: () => boolean
}

/**
 * How far the agent is read ahead of the program. A slow program makes the agent wait. One that stands still may wait for
 * a question of the agent's, which is behind the messages that it has not read: for it the agent is read on, to a limit.
 */
export class ReadAhead {
  readonly #options: ReadAheadOptions
  /** How many messages the program had taken when it was seen to stand still. */
  #stoodStillAt: number | undefined

  constructor(options: ReadAheadOptions) {
    this.#options = options
  }

  get mustWait(): boolean {
    const { messages, mustReadOn } = this.#options
    if (!messages.isFull || mustReadOn()) return false
    return messages.isAtLimit || messages.readCount !== this.#stoodStillAt
  }

  /** Resolves when the agent may be read on. */
  async room(): Promise<void> {
    const { messages, change } = this.#options
    while (this.mustWait) {
      // At the limit it does not matter why the program does not read.
      const timer = messages.isAtLimit ? undefined : this.#watchProgram()
      await change.wait()
      clearTimeout(timer)
    }
  }

  #watchProgram(): NodeJS.Timeout {
    const { messages, change } = this.#options
    const { readCount } = messages
    return setTimeout(() => {
      if (messages.readCount === readCount) this.#stoodStillAt = readCount
      change.wake()
    }, STANDSTILL_MS)
  }
}
