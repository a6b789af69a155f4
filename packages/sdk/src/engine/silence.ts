import { startDeadline } from "../base/deadline.ts"
import { READY_TIMEOUT_MS } from "./ready-within.ts"

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
