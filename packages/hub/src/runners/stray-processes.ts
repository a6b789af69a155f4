import type { RunnerRequest } from "@signalbox/protocol/runner-wire"
import { HubError } from "../errors.ts"

type Ask = (request: RunnerRequest, timeoutMs: number) => Promise<unknown>

const STOP_TIMEOUT_MS = 15_000
/** Bound for one session. A forgotten process is stopped when it, or its runner, says hello. */
const MAX_STRAYS = 20
const MAX_SESSIONS = 1_000
/** The runner has heard it or not: only these leave that open. */
const UNHEARD: ReadonlySet<string> = new Set(["runner/no-answer", "runner/away", "hub/busy"])

/**
 * Processes that were started for a session and that it does not want, or that may have been: a launch whose answer never
 * came. As long as one lives its conversation is in use, so no other is started before it is gone.
 */
export class StrayProcesses {
  readonly #spawns = new Map<string, Set<string>>()
  readonly #stopping = new Map<string, Promise<void>>()

  /** Whether one of this session may still live. */
  has(sessionId: string): boolean {
    return this.#spawns.has(sessionId)
  }

  add(sessionId: string, spawn: string): void {
    const spawns = this.#spawns.get(sessionId) ?? new Set()
    this.#spawns.set(sessionId, spawns.add(spawn))
    const [oldest] = spawns
    if (spawns.size > MAX_STRAYS && oldest !== undefined) spawns.delete(oldest)
    const [first] = this.#spawns.keys()
    if (this.#spawns.size > MAX_SESSIONS && first !== undefined) this.#spawns.delete(first)
  }

  /** Has all of a session stopped. Resolves when each is gone, or was not to be reached in time. */
  async stop(sessionId: string, ask: Ask): Promise<void> {
    const spawns = [...(this.#spawns.get(sessionId) ?? [])]
    await Promise.all(spawns.map((spawn) => this.#stopOnce(sessionId, spawn, ask)))
  }

  #stopOnce(sessionId: string, spawn: string, ask: Ask): Promise<void> {
    const underWay = this.#stopping.get(spawn)
    if (underWay !== undefined) return underWay
    const stopping = this.#stop(sessionId, spawn, ask).finally(() => this.#stopping.delete(spawn))
    this.#stopping.set(spawn, stopping)
    return stopping
  }

  async #stop(sessionId: string, spawn: string, ask: Ask): Promise<void> {
    try {
      await ask({ kind: "stop", spawn, reason: "its session does not want it any more" }, STOP_TIMEOUT_MS)
    } catch (error) {
      // Any other refusal says that there is no such process.
      if (!(error instanceof HubError) || UNHEARD.has(error.code)) return
    }
    const spawns = this.#spawns.get(sessionId)
    spawns?.delete(spawn)
    if (spawns?.size === 0) this.#spawns.delete(sessionId)
  }
}
