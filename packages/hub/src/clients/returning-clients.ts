/** Clients that are expected back after a restart of the hub: for a moment, who wants something of them waits. */
export class ReturningClients {
  readonly #waiting = new Map<string, Set<() => void>>()
  #endsAt = 0

  expect(forMs: number): void {
    this.#endsAt = Date.now() + forMs
  }

  arrived(clientId: string): void {
    for (const wake of this.#waiting.get(clientId) ?? []) wake()
  }

  /** Resolves when the client is here, or is waited for no longer. */
  async wait(clientId: string, signal: AbortSignal): Promise<void> {
    const waitMs = this.#endsAt - Date.now()
    if (waitMs <= 0 || signal.aborted) return
    const waiting = this.#waiting.get(clientId) ?? new Set()
    this.#waiting.set(clientId, waiting)
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        signal.removeEventListener("abort", wake)
        waiting.delete(wake)
        if (waiting.size === 0) this.#waiting.delete(clientId)
        resolve()
      }
      const timer = setTimeout(wake, waitMs)
      timer.unref()
      signal.addEventListener("abort", wake)
      waiting.add(wake)
    })
  }
}
