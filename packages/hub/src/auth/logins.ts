import { isObject } from "@signalbox/protocol"
import type { Clock } from "@signalbox/transport"
import { HubError } from "../errors.ts"
import { hashSecret, isSameHash, mintSecret, type TokenDirectory } from "./tokens.ts"

/** A browser that was signed in. Its cookie holds the id, of which only the hash is kept; the token stays out of it. */
export interface Login {
  readonly hash: string
  readonly tokenId: string
  readonly expiresAt: number
  /** Older hubs did not keep these two. */
  readonly createdAt?: number
  readonly browser?: string
}

interface KeptLogins {
  readonly cookieName: string
  readonly logins: readonly Login[]
}

type KeptCodes = Readonly<Record<string, { readonly tokenId: string; readonly expiresAt: number }>>

const DOCUMENT = "logins"
const CODES = "login-codes"
const SYNCED = { synced: true }
const LIFETIME_MS = 30 * 24 * 3_600_000
/** Beyond this the oldest are signed out. */
const MAX_LOGINS = 1_000
/** Somebody signed in or out here while the store was read, so often. */
const MAX_TRIES = 20
const MAX_BROWSER_CHARS = 300

/** Who is signed in with a cookie. Kept in the directory, so that a restart signs nobody out. */
export class Logins {
  /** Cookies know no ports: two hubs on one machine must not overwrite each other's. */
  readonly cookieName: string
  readonly #directory: TokenDirectory
  readonly #clock: Clock
  readonly #logins: Map<string, Login>
  readonly #listeners = new Set<(login: string) => void>()
  /** Changes that were begun, and those of them that are under way. */
  #changes = 0
  readonly #changing = new Set<Promise<unknown>>()

  private constructor(directory: TokenDirectory, clock: Clock, kept: KeptLogins) {
    this.#directory = directory
    this.#clock = clock
    this.cookieName = kept.cookieName
    this.#logins = new Map(kept.logins.map((login) => [login.hash, login]))
  }

  static async open(directory: TokenDirectory, clock: Clock): Promise<Logins> {
    const made: KeptLogins = { cookieName: `signalbox_${hashSecret(mintSecret("login")).slice(0, 12)}`, logins: [] }
    // One of the hubs that start at the same time names the cookie.
    const kept = await directory.changeDocument(DOCUMENT, (was) => (isKeptLogins(was) ? undefined : made), SYNCED)
    return new Logins(directory, clock, isKeptLogins(kept) ? kept : made)
  }

  /** Another hub may have signed somebody in or out. Read again if it was changed here meanwhile: what was read may be from before. */
  async refresh(): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      while (this.#changing.size > 0) await Promise.allSettled(this.#changing)
      const before = this.#changes
      const document = await this.#directory.getDocument(DOCUMENT)
      if (this.#changes !== before) continue
      if (isKeptLogins(document)) this.#take(document)
      return
    }
    throw new HubError("hub/busy", "Too many people sign in at once: try again in a moment.")
  }

  /** Returns what the cookie holds, and for how long. */
  async create(
    token: { id: string; expiresAt: string | null },
    browser?: string,
  ): Promise<{ loginId: string; maxAgeSeconds: number }> {
    const loginId = mintSecret("login")
    const now = this.#clock.now()
    const tokenEnd = token.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(token.expiresAt)
    const expiresAt = Math.min(now + LIFETIME_MS, tokenEnd)
    const hash = hashSecret(loginId)
    const about = browser === undefined ? {} : { browser: browser.slice(0, MAX_BROWSER_CHARS) }
    const login = { hash, tokenId: token.id, expiresAt, createdAt: now, ...about }
    await this.#change((logins) => [...logins.filter((one) => one.expiresAt > now), login].slice(-MAX_LOGINS))
    this.#logins.set(hash, login)
    return { loginId, maxAgeSeconds: Math.floor((expiresAt - now) / 1000) }
  }

  /** The login, and the id of the token that it stands for. Whether that is still valid is the tokens' to say. */
  find(loginId: string): { readonly hash: string; readonly tokenId: string } | undefined {
    const hash = hashSecret(loginId)
    const login = this.#logins.get(hash)
    if (login === undefined || !isSameHash(login.hash, hash) || login.expiresAt <= this.#clock.now()) return undefined
    return login
  }

  /** Those that have not run out, the latest first. */
  list(): readonly Login[] {
    const now = this.#clock.now()
    return [...this.#logins.values()].filter(({ expiresAt }) => expiresAt > now).toReversed()
  }

  async end(loginId: string): Promise<void> {
    const hash = hashSecret(loginId)
    if (this.#forget(hash)) await this.#change((logins) => logins.filter((one) => one.hash !== hash))
  }

  /** Somebody signs a browser out, perhaps another one than theirs: the audit has it. */
  async revoke({ hash, tokenId }: Login, by: string): Promise<void> {
    if (!this.#forget(hash)) return
    const at = new Date(this.#clock.now()).toISOString()
    const audit = { at, what: "login/ended", by, via: null, sessionId: null, askId: null, details: { tokenId } }
    const without = (logins: readonly Login[]) => logins.filter((one) => one.hash !== hash)
    await Promise.all([this.#change(without), this.#directory.addAudit(audit)])
  }

  /** Called with the hash of each login that is over, so that its open connections are closed. */
  onEnded(listener: (login: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #forget(hash: string): boolean {
    const wasThere = this.#logins.delete(hash)
    if (wasThere) for (const listener of this.#listeners) listener(hash)
    return wasThere
  }

  /** Those who are signed in as the store has them. */
  #take({ logins }: KeptLogins): void {
    const kept = new Map(logins.map((login) => [login.hash, login]))
    for (const [hash, login] of kept) if (!this.#logins.has(hash)) this.#logins.set(hash, login)
    for (const hash of this.#logins.keys()) if (!kept.has(hash)) this.#forget(hash)
  }

  /** Other hubs change them too. */
  async #change(change: (logins: readonly Login[]) => readonly Login[]): Promise<void> {
    this.#changes += 1
    const { cookieName } = this
    const changed = (kept: unknown) => ({ cookieName, logins: change(isKeptLogins(kept) ? kept.logins : []) })
    const changing = this.#directory.changeDocument(DOCUMENT, changed, SYNCED)
    this.#changing.add(changing)
    try {
      const kept = await changing
      // The last of several that are under way has all of them.
      if (this.#changing.size === 1 && isKeptLogins(kept)) this.#take(kept)
    } finally {
      this.#changing.delete(changing)
    }
  }
}

function isKeptLogins(value: unknown): value is KeptLogins {
  return typeof value === "object" && value !== null && "cookieName" in value && "logins" in value
}

const CODE_LIFETIME_MS = 60_000
const MAX_OPEN = 100

/** Single-use codes that sign a browser in. In the store: the browser may come to another hub. */
export class LoginCodes {
  readonly #directory: TokenDirectory
  readonly #clock: Clock

  constructor(directory: TokenDirectory, clock: Clock) {
    this.#directory = directory
    this.#clock = clock
  }

  async create(tokenId: string): Promise<string> {
    const code = mintSecret("code")
    const expiresAt = this.#clock.now() + CODE_LIFETIME_MS
    await this.#change((open) => [...open, [hashSecret(code), { tokenId, expiresAt }] as const].slice(-MAX_OPEN))
    return code
  }

  /** The token the code stands for; the code is used up, whatever comes of it. */
  async redeem(code: string): Promise<string | undefined> {
    const hash = hashSecret(code)
    const open = await this.#directory.getDocument(CODES)
    if (!isObject(open) || !Object.hasOwn(open, hash)) return undefined
    let found: string | undefined
    await this.#change((open) => {
      found = open.find(([one]) => one === hash)?.[1].tokenId
      return found === undefined ? undefined : open.filter(([one]) => one !== hash)
    })
    return found
  }

  /** Those that have not run out. */
  async #change(change: (open: readonly OpenCode[]) => readonly OpenCode[] | undefined): Promise<void> {
    const now = this.#clock.now()
    const changed = (kept: unknown) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a document of ours: nobody else writes it
      const open = change(Object.entries((kept ?? {}) as KeptCodes).filter(([, { expiresAt }]) => expiresAt > now))
      return open && Object.fromEntries(open)
    }
    await this.#directory.changeDocument(CODES, changed, SYNCED)
  }
}

type OpenCode = readonly [hash: string, code: KeptCodes[string]]

const WINDOW_MS = 60_000
const MAX_PER_ADDRESS = 10
const MAX_IN_ALL = 100

interface Attempt {
  readonly at: number
  readonly network: string
}

/**
 * How often somebody may fail to sign in: counted per address and in all, over the last minute. No more than `MAX_IN_ALL`
 * failures are remembered, however many addresses they come from. A valid token is never held up: many people may share one
 * address.
 */
export class LoginThrottle {
  readonly #clock: Clock
  #attempts: readonly Attempt[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a failure. Returns how long to wait when there were too many already. */
  fail(address: string | undefined): number | undefined {
    const now = this.#clock.now()
    const network = networkOf(address ?? "")
    this.#attempts = this.#attempts.filter(({ at }) => at > now - WINDOW_MS)
    const same = this.#attempts.filter((attempt) => attempt.network === network)
    const full = same.length >= MAX_PER_ADDRESS ? same : this.#attempts.length >= MAX_IN_ALL ? this.#attempts : []
    const [oldest] = full
    if (oldest !== undefined) return oldest.at + WINDOW_MS - now
    this.#attempts = [...this.#attempts, { at: now, network }]
    return undefined
  }
}

/** A holder of one IPv6 address has a whole /64 of them. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "")
  if (!plain.includes(":")) return plain
  const [head = "", tail = ""] = plain.split("::")
  const first = head === "" ? [] : head.split(":")
  const last = tail === "" ? [] : tail.split(":")
  const middle = Array.from({ length: Math.max(8 - first.length - last.length, 0) }, () => "0")
  return [...first, ...middle, ...last].slice(0, 4).join(":")
}

/** The values of a cookie, at most a few: another program on this host may have set one of the same name. */
export function readCookie(header: string | undefined, name: string): readonly string[] {
  return (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
    .slice(0, 4)
}

export function writeCookie(cookie: { name: string; value: string; maxAgeSeconds: number; secure: boolean }): string {
  const { name, value, maxAgeSeconds, secure } = cookie
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`
}
