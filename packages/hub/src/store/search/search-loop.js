import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { COMMITS, IS_ASLEEP } from "./search-signal.js"

/**
 * @import { SearchReply } from "@signalbox/protocol/hub-api"
 * @import { SearchQuery } from "../../core.ts"
 * @import { FromSearchThread, ToSearchThread } from "./search-messages.ts"
 */

/**
 * An index that follows a log. It may have to wait for what it reads.
 * @typedef {object} FollowingIndex
 * @property {(logs: readonly number[]) => void} note there was a commit, in these logs where they are told
 * @property {() => boolean | Promise<boolean>} isIdle whether it has all there is
 * @property {() => Goal | Promise<Goal>} goal tells whether it has all that is there by now
 * @property {() => boolean | Promise<boolean>} step indexes some more; false when there was nothing to do
 * @property {(query: SearchQuery) => SearchReply | Promise<SearchReply>} search
 * @property {(session: number) => boolean | Promise<boolean>} forgetSome false: nothing of it is left
 * @property {() => void | Promise<void>} close
 */

/** @typedef {() => boolean} Goal */

/** A commit within this time: there is traffic, which goes first. */
const TRAFFIC_MS = 50
/** While there is, it rests after each step for so many times what the step took, within these bounds. */
const REST = { times: 9, atLeastMs: 20, atMostMs: 2_000 }
/** The index cannot be written: the disk, most likely. */
const TROUBLE_MS = 5000
const NICE = 10

/** The thread's whole life: it follows the log, and answers whoever asks. @param {FollowingIndex} index @param {Int32Array} signal */
export function followLog(index, signal) {
  // Linux alone has a priority for each thread; elsewhere it would be that of the whole process.
  if (process.platform === "linux") setPriority(0, NICE)
  const loop = new SearchLoop(index, signal)
  parentPort?.on("message", (/** @type {ToSearchThread} */ message) => loop.take(message))
  void loop.run()
}

class SearchLoop {
  #index
  #signal
  #isClosed = false
  /** Those who wait until it has come so far. @type {{ readonly id: number, readonly isReached: Goal }[]} */
  #waiters = []
  /** Those who wait until purged sessions are forgotten. @type {{ readonly id: number, readonly sessions: number[] }[]} */
  #forgetting = []
  #isAsleep = false
  /** Somebody called while it fell asleep. */
  #isWoken = false
  #endRest = () => {}

  /** @param {FollowingIndex} index @param {Int32Array} signal */
  constructor(index, signal) {
    this.#index = index
    this.#signal = signal
  }

  /** @param {ToSearchThread} message */
  take(message) {
    switch (message.kind) {
      case "search":
        void this.#answer(message.id, async () => {
          tell({ kind: "found", id: message.id, reply: await this.#index.search(message.query) })
        })
        break
      case "catch-up":
        void this.#answer(message.id, async () => {
          this.#waiters.push({ id: message.id, isReached: await this.#index.goal() })
          this.#wake()
        })
        break
      case "forget":
        this.#forgetting.push({ id: message.id, sessions: [...message.sessions] })
        this.#wake()
        break
      case "wake":
        this.#index.note(message.logs)
        if (this.#isAsleep) this.#wake()
        break
      case "close":
        this.#isClosed = true
        // The work under way there fails, if it can be waited for.
        void this.#index.close()
        this.#wake()
        break
    }
  }

  async run() {
    while (!this.#isClosed) {
      try {
        await this.#work()
      } catch (error) {
        // An index can be made up for: it goes on when the disk is well again. Whoever waits is told.
        const waiting = [...this.#waiters.splice(0), ...this.#forgetting.splice(0)]
        for (const { id } of waiting) tell({ kind: "failed", id, reason: reasonOf(error) })
        if (!this.#isClosed) await this.#rest(TROUBLE_MS)
      }
    }
    parentPort?.close()
  }

  async #work() {
    let commits = Atomics.load(this.#signal, COMMITS)
    let busyAt = 0
    while (!this.#isClosed) {
      const startedAt = performance.now()
      const hasWorked = (await this.#forgetSome()) || (await this.#index.step())
      this.#tellCaughtUp()
      const now = performance.now()
      const committed = Atomics.load(this.#signal, COMMITS)
      if (committed !== commits) busyAt = now
      commits = committed
      if (!hasWorked) await this.#sleep()
      else if (this.#waiters.length === 0 && now - busyAt < TRAFFIC_MS)
        await this.#rest(Math.min(REST.atMostMs, Math.max(REST.atLeastMs, REST.times * (now - startedAt))))
      else await nextTurn()
    }
  }

  async #sleep() {
    this.#isWoken = false
    this.#isAsleep = true
    Atomics.store(this.#signal, IS_ASLEEP, 1)
    try {
      // Something may have been committed just before that, and nobody would say so.
      const isIdle = (await this.#index.isIdle()) && this.#forgetting.length === 0
      if (isIdle && !this.#isWoken && !this.#isClosed) await this.#rest(undefined)
    } finally {
      this.#isAsleep = false
      Atomics.store(this.#signal, IS_ASLEEP, 0)
    }
    // A writer that commits once commits again: the first step takes it all.
    if (this.#waiters.length === 0 && !this.#isClosed) await this.#rest(TRAFFIC_MS)
  }

  #tellCaughtUp() {
    this.#waiters = this.#waiters.filter(({ id, isReached }) => {
      const isThere = isReached()
      if (isThere) tell({ kind: "caught-up", id })
      return !isThere
    })
  }

  /** A part of what was purged. False when nothing was. */
  async #forgetSome() {
    const [first] = this.#forgetting
    if (first === undefined) return false
    const [session] = first.sessions
    if (session !== undefined && (await this.#index.forgetSome(session))) return true
    first.sessions.shift()
    if (first.sessions.length > 0) return true
    this.#forgetting.shift()
    tell({ kind: "forgotten", id: first.id })
    return true
  }

  /** @param {number} id @param {() => Promise<void>} work */
  async #answer(id, work) {
    try {
      await work()
    } catch (error) {
      tell({ kind: "failed", id, reason: reasonOf(error) })
    }
  }

  /** @param {number | undefined} ms without it until it is woken */
  #rest(ms) {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
      this.#endRest = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })
  }

  #wake() {
    this.#isWoken = true
    this.#endRest()
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** @param {FromSearchThread} message */
function tell(message) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
  parentPort?.postMessage(message)
}

/** @param {unknown} error */
function reasonOf(error) {
  return error instanceof Error ? error.message : String(error)
}
