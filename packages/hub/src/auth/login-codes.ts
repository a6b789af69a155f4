import type { Clock } from "@signalbox/transport"
import { hashSecret, mintSecret } from "./secret.ts"

const LIFETIME_MS = 60_000
const MAX_OPEN = 100

/** Single-use codes that sign a browser in. In memory: a restart within their minute is a reason to make a new one. */
export class LoginCodes {
  readonly #clock: Clock
  readonly #open = new Map<string, { tokenId: string; expiresAt: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  create(tokenId: string): string {
    const code = mintSecret("code")
    this.#open.set(hashSecret(code), { tokenId, expiresAt: this.#clock.now() + LIFETIME_MS })
    for (const hash of this.#open.keys()) if (this.#open.size > MAX_OPEN) this.#open.delete(hash)
    return code
  }

  /** The token the code stands for; the code is used up, whatever comes of it. */
  redeem(code: string): string | undefined {
    const hash = hashSecret(code)
    const found = this.#open.get(hash)
    this.#open.delete(hash)
    return found !== undefined && found.expiresAt > this.#clock.now() ? found.tokenId : undefined
  }
}
