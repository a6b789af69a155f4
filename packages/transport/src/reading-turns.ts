import { Fifo, ItemQueue } from "@signalbox/protocol/item-queue"
import { lineBatches } from "./line-queue.ts"
import { Waker } from "./pacing.ts"

/** The cost of a line beside its characters, in characters: it is decoded, numbered, written and shown. */
const LINE_CHARS = 2_048
/** A share takes in what waits until it costs this much. */
const SHARE_CHARS = 128 * 1024
/** All readers together take so much in one turn of the event loop: a few milliseconds of a slow core. */
const TURN_CHARS = 384 * 1024

interface Waiting {
  readonly chars: number
  readonly go: () => void
}

/**
 * Readers of agents take turns. Each reads a share at a time; when the shares of one turn of the event loop are given out,
 * whoever wants another waits for the next turn, behind those who waited before. So an agent that floods waits for itself,
 * its queue fills, and its connection is not read on; everybody else waits for a turn at most. A very long line is one
 * share all the same: its reader then waits for as many turns as there are shares in it, and others have those.
 */
export class ReadingTurns {
  readonly #waiting = new Fifo<Waiting>()
  readonly #turn = new Waker()
  #left = TURN_CHARS
  #isScheduled = false

  /** The lines, a share at a time, each when it is its turn. For one reader. */
  async *shares(lines: AsyncIterable<string>): AsyncGenerator<readonly string[], undefined> {
    const batches = lineBatches(lines)
    for await (const batch of batches) {
      const share = batches instanceof ItemQueue ? fill(batch, batches) : batch
      const cost = costOf(share)
      const turn = this.#enter(cost)
      if (turn !== undefined) await turn
      yield share
      for (let owed = Math.floor(cost / SHARE_CHARS); owed > 1; owed--) await this.#nextTurn()
    }
    return undefined
  }

  /** Undefined: now. */
  #enter(chars: number): Promise<void> | undefined {
    this.#schedule()
    if (this.#left <= 0 || this.#waiting.length > 0) {
      return new Promise((go) => this.#waiting.push({ chars, go }))
    }
    this.#left -= chars
    return undefined
  }

  #nextTurn(): Promise<void> {
    this.#schedule()
    return this.#turn.wait()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#begin()
    })
  }

  #begin(): void {
    this.#left = TURN_CHARS
    this.#turn.wake()
    while (this.#left > 0) {
      const next = this.#waiting.take()
      if (next === undefined) return
      this.#left -= next.chars
      next.go()
    }
    this.#schedule()
  }
}

/** Many peers send a frame for each line: what waits behind the first goes with it, as far as there is room. */
function fill(batch: readonly string[], waiting: ItemQueue<readonly string[]>): readonly string[] {
  let share: string[] | undefined
  for (let chars = costOf(batch); chars < SHARE_CHARS; ) {
    const more = waiting.take()
    if (more === undefined) break
    share ??= [...batch]
    share.push(...more)
    chars += costOf(more)
  }
  return share ?? batch
}

function costOf(lines: readonly string[]): number {
  let chars = 0
  for (const line of lines) chars += LINE_CHARS + line.length
  return chars
}
