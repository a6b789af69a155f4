import { SimulatorError } from "../simulator-error.ts"

type Held = { name: string | undefined; release: () => void }
type Watcher = { name: string | undefined; resolve: () => void; reject: (error: Error) => void }

/** Replies that hang until they are released, and whoever waits for one to hang. */
export class Hangs {
  readonly #held = new Set<Held>()
  readonly #watchers = new Set<Watcher>()
  #closed = false

  /** Resolves when released; rejects when the signal aborts. */
  async hold(name: string | undefined, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = withResolvers()
    const held = { name, release: resolve }
    const abort = () => reject(signal.reason)
    signal.addEventListener("abort", abort, { once: true })
    this.#held.add(held)
    for (const watcher of this.#watchers) if (matches(watcher.name, name)) watcher.resolve()
    try {
      await promise
    } finally {
      this.#held.delete(held)
      signal.removeEventListener("abort", abort)
    }
  }

  /** Lets those with this name go on, or all of them. Says how many. */
  release(name?: string): number {
    const chosen = [...this.#held].filter((held) => matches(name, held.name))
    for (const held of chosen) held.release()
    return chosen.length
  }

  async until(name?: string): Promise<void> {
    if (this.#closed) throw closedError()
    if ([...this.#held].some((held) => matches(name, held.name))) return
    const { promise, resolve, reject } = withResolvers()
    const watcher = { name, resolve, reject }
    this.#watchers.add(watcher)
    try {
      await promise
    } finally {
      this.#watchers.delete(watcher)
    }
  }

  close(): void {
    this.#closed = true
    for (const watcher of this.#watchers) watcher.reject(closedError())
  }
}

function closedError(): SimulatorError {
  return new SimulatorError("messages-api/closed", "The scripted API was closed before a reply hung.")
}

function matches(wanted: string | undefined, name: string | undefined): boolean {
  return wanted === undefined || wanted === name
}

function withResolvers(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let resolve: () => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
