import type { FolderChanges } from "@signalbox/protocol/runner-wire"
import type { Clock } from "@signalbox/transport"

export interface ChangeNewsOptions {
  readonly read: () => Promise<FolderChanges | undefined>
  readonly tell: (changes: FolderChanges | null) => void
  readonly clock: Clock
}

const PAUSE_MS = 3_000
/** In a large repository a look takes long: it takes no more than this part of the time. */
const SHARE = 20

/** When the uncommitted changes of an agent's folder are looked at, and told: not for each line of the agent, and only if they are others. */
export class ChangeNews {
  readonly #options: ChangeNewsOptions
  #state: "resting" | "looking" | "pausing" | "over" = "resting"
  #isWanted = false
  /** A hub knows of none when a process comes. */
  #told = "null"
  #cancel: () => void = () => undefined

  constructor(options: ChangeNewsOptions) {
    this.#options = options
  }

  /** They may be others by now. Looked at now, or after the pause that follows each look. */
  look(): void {
    this.#isWanted = true
    if (this.#state === "resting") void this.#look()
  }

  end(): void {
    this.#state = "over"
    this.#cancel()
  }

  async #look(): Promise<void> {
    const { read, tell, clock } = this.#options
    this.#isWanted = false
    this.#state = "looking"
    const begun = clock.now()
    const changes = (await read()) ?? null
    if (this.#isOver) return
    const text = JSON.stringify(changes)
    if (text !== this.#told) tell(changes)
    this.#told = text
    this.#state = "pausing"
    this.#cancel = clock.after(Math.max(PAUSE_MS, SHARE * (clock.now() - begun)), () => this.#rested(), "idle")
  }

  get #isOver(): boolean {
    return this.#state === "over"
  }

  #rested(): void {
    this.#state = "resting"
    if (this.#isWanted) void this.#look()
  }
}
