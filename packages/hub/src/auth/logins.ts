import type { Clock } from "@signalbox/transport"
import { hashSecret, isSameHash, mintSecret } from "./secret.ts"
import type { TokenDirectory } from "./tokens.ts"

/** A browser that was signed in. Its cookie holds the id, of which only the hash is kept; the token stays out of it. */
interface Login {
  readonly hash: string
  readonly tokenId: string
  readonly expiresAt: number
}

interface KeptLogins {
  readonly cookieName: string
  readonly logins: readonly Login[]
}

const DOCUMENT = "logins"
const LIFETIME_MS = 30 * 24 * 3_600_000
/** Beyond this the oldest are signed out. */
const MAX_LOGINS = 1_000

/** Who is signed in with a cookie. Kept in the directory, so that a restart signs nobody out. */
export class Logins {
  /** Cookies know no ports: two hubs on one machine must not overwrite each other's. */
  readonly cookieName: string
  readonly #directory: TokenDirectory
  readonly #clock: Clock
  readonly #logins: Map<string, Login>
  readonly #listeners = new Set<(login: string) => void>()

  private constructor(directory: TokenDirectory, clock: Clock, kept: KeptLogins) {
    this.#directory = directory
    this.#clock = clock
    this.cookieName = kept.cookieName
    this.#logins = new Map(kept.logins.map((login) => [login.hash, login]))
  }

  static async open(directory: TokenDirectory, clock: Clock): Promise<Logins> {
    const document = await directory.getDocument(DOCUMENT)
    const kept = isKeptLogins(document)
      ? document
      : { cookieName: `signalbox_${hashSecret(mintSecret("login")).slice(0, 12)}`, logins: [] }
    const logins = new Logins(directory, clock, kept)
    if (kept !== document) await logins.#save()
    return logins
  }

  /** Returns what the cookie holds, and for how long. */
  async create(token: { id: string; expiresAt: string | null }): Promise<{ loginId: string; maxAgeSeconds: number }> {
    const loginId = mintSecret("login")
    const now = this.#clock.now()
    const tokenEnd = token.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(token.expiresAt)
    const expiresAt = Math.min(now + LIFETIME_MS, tokenEnd)
    const hash = hashSecret(loginId)
    this.#logins.set(hash, { hash, tokenId: token.id, expiresAt })
    this.#prune(now)
    await this.#save()
    return { loginId, maxAgeSeconds: Math.floor((expiresAt - now) / 1000) }
  }

  /** The login, and the id of the token that it stands for. Whether that is still valid is the tokens' to say. */
  find(loginId: string): { readonly hash: string; readonly tokenId: string } | undefined {
    const hash = hashSecret(loginId)
    const login = this.#logins.get(hash)
    if (login === undefined || !isSameHash(login.hash, hash) || login.expiresAt <= this.#clock.now()) return undefined
    return login
  }

  async end(loginId: string): Promise<void> {
    if (this.#forget(hashSecret(loginId))) await this.#save()
  }

  /** Called with the hash of each login that is over, so that its open connections are closed. */
  onEnded(listener: (login: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #prune(now: number): void {
    for (const [hash, login] of this.#logins) {
      if (login.expiresAt <= now || this.#logins.size > MAX_LOGINS) this.#forget(hash)
    }
  }

  #forget(hash: string): boolean {
    const wasThere = this.#logins.delete(hash)
    if (wasThere) for (const listener of this.#listeners) listener(hash)
    return wasThere
  }

  #save(): Promise<void> {
    const kept: KeptLogins = { cookieName: this.cookieName, logins: [...this.#logins.values()] }
    return this.#directory.putDocument(DOCUMENT, kept, { synced: true })
  }
}

function isKeptLogins(value: unknown): value is KeptLogins {
  return typeof value === "object" && value !== null && "cookieName" in value && "logins" in value
}
