import type { MessageQueue } from "./message-queue.ts"

/** A program that has asked for no message for so long may be waiting for what comes after those it has not read. */
const STANDSTILL_MS = 100

export interface ReadAheadOptions {
  readonly messages: MessageQueue
  /** Opened when there is room, and when `mustReadOn` may have changed. */
  readonly gate: Gate
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
    const { messages, gate } = this.#options
    while (this.mustWait) {
      // At the limit it does not matter why the program does not read.
      const timer = messages.isAtLimit ? undefined : this.#watchProgram()
      await gate.wait()
      clearTimeout(timer)
    }
  }

  #watchProgram(): NodeJS.Timeout {
    const { messages, gate } = this.#options
    const { readCount } = messages
    return setTimeout(() => {
      if (messages.readCount === readCount) this.#stoodStillAt = readCount
      gate.open()
    }, STANDSTILL_MS)
  }
}

/** Somebody waits for it to open, again and again. Opening it while nobody waits is remembered once. */
export class Gate {
  #isOpen = false
  #waiting: (() => void) | undefined

  readonly open = (): void => {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#isOpen = true
    else waiting()
  }

  /** For one at a time. */
  wait(): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }
}
