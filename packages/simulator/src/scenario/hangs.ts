import { deferred, Waker } from "@signalbox/transport/pacing"
import { SimulatorError } from "../simulator-error.ts"

type Held = { name: string | undefined; release: () => void }

/** Replies that hang until they are released, and whoever waits for one to hang. */
export class Hangs {
  readonly #held = new Set<Held>()
  readonly #changes = new Waker()
  #closed = false

  /** Resolves when released; rejects when the signal aborts. */
  async hold(name: string | undefined, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve } = deferred<void>()
    const held = { name, release: () => resolve() }
    signal.addEventListener("abort", held.release, { once: true })
    this.#held.add(held)
    this.#changes.wake()
    await promise
    this.#held.delete(held)
    signal.removeEventListener("abort", held.release)
    signal.throwIfAborted()
  }

  /** Lets those with this name go on, or all of them. Says how many. */
  release(name?: string): number {
    const chosen = this.#named(name)
    for (const held of chosen) held.release()
    return chosen.length
  }

  async until(name?: string): Promise<void> {
    for (;;) {
      if (this.#closed) {
        throw new SimulatorError("messages-api/closed", "The scripted API was closed before a reply hung.")
      }
      if (this.#named(name).length > 0) return
      await this.#changes.wait()
    }
  }

  close(): void {
    this.#closed = true
    this.#changes.wake()
  }

  #named(name: string | undefined): Held[] {
    return [...this.#held].filter((held) => name === undefined || name === held.name)
  }
}
