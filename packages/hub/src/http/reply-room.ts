import { HubError } from "../errors.ts"

export interface ReplyRoomLimits {
  /** Bytes of replies that wait for their readers, of everybody together. */
  readonly maxBytes: number
  /** The same for one token. A single reply may be larger, if the token holds nothing else. */
  readonly maxBytesPerToken: number
  /** A token that holds no more than this is served even when the others have filled the room. */
  readonly alwaysBytes: number
}

const DEFAULT_LIMITS: ReplyRoomLimits = {
  maxBytes: 128 * 1024 * 1024,
  maxBytesPerToken: 32 * 1024 * 1024,
  alwaysBytes: 1024 * 1024,
}

/** Counts the bytes that the hub holds for readers of its replies: in all, and for each token. */
export class ReplyRoom {
  readonly #limits: ReplyRoomLimits
  readonly #heldByToken = new Map<string, number>()
  #heldBytes = 0
  #waiting: (() => void)[] = []

  constructor(limits: Partial<ReplyRoomLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** `token`: its id. Everybody without a token shares "". */
  open(token: string): ReplyShare {
    return new ReplyShare((had, bytes) => this.#hold(token, had, bytes))
  }

  /** Resolves when somebody holds less than before. */
  freed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Refuses a token that is at its bound, before anything is read for it. */
  check(token: string): void {
    if ((this.#heldByToken.get(token) ?? 0) >= this.#limits.maxBytesPerToken) throw busy()
  }

  #hold(token: string, had: number, bytes: number): boolean {
    const { maxBytes, maxBytesPerToken, alwaysBytes } = this.#limits
    const ofToken = (this.#heldByToken.get(token) ?? 0) - had
    const ofAll = this.#heldBytes - had
    const mayGrow =
      (ofToken === 0 || ofToken + bytes <= maxBytesPerToken) &&
      (ofAll === 0 || ofAll + bytes <= maxBytes || ofToken + bytes <= alwaysBytes)
    if (bytes > had && !mayGrow) return false
    this.#heldBytes = ofAll + bytes
    if (ofToken + bytes === 0) this.#heldByToken.delete(token)
    else this.#heldByToken.set(token, ofToken + bytes)
    if (bytes < had) for (const resolve of this.#waiting.splice(0)) resolve()
    return true
  }
}

/** One reply's share of the room. Its owner closes it. */
export class ReplyShare {
  readonly #hold: (had: number, bytes: number) => boolean
  #bytes = 0
  #isClosed = false

  constructor(hold: (had: number, bytes: number) => boolean) {
    this.#hold = hold
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Holds this much from now on. False when there is no room: nothing has changed then. */
  hold(bytes: number): boolean {
    if (this.#isClosed) return true
    if (!this.#hold(this.#bytes, bytes)) return false
    this.#bytes = bytes
    return true
  }

  close(): void {
    this.hold(0)
    this.#isClosed = true
  }
}

export function busy(): HubError {
  const message = "Too many replies wait to be read: read the ones you asked for, then try again"
  return new HubError("hub/busy", message, { details: { retryAfterSeconds: 1 } })
}
