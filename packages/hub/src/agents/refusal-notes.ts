export interface Refused {
  readonly path: string
  readonly status: number
  readonly reason: string
}

const MAX_NOTED = 10
const WINDOW_MS = 60_000
const MAX_PATH_CHARS = 200

/** Tells of agents that were not let in; of a storm of them, so many a minute, and then how many more there were. */
export class RefusalNotes {
  readonly #tell: (refused: Refused & { readonly untold?: number }) => void
  readonly #now: () => number
  #windowBegan = Number.NEGATIVE_INFINITY
  #noted = 0
  #untold = 0

  constructor(tell: (refused: Refused & { readonly untold?: number }) => void, now = () => performance.now()) {
    this.#tell = tell
    this.#now = now
  }

  note({ path, status, reason }: Refused): void {
    if (this.#now() - this.#windowBegan >= WINDOW_MS) {
      this.#windowBegan = this.#now()
      this.#noted = 0
    }
    if (this.#noted >= MAX_NOTED) {
      this.#untold += 1
      return
    }
    this.#noted += 1
    const untold = this.#untold
    this.#untold = 0
    this.#tell({ path: path.slice(0, MAX_PATH_CHARS), status, reason, ...(untold === 0 ? {} : { untold }) })
  }
}
