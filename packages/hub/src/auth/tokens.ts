import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto"
import type { Role } from "@signalbox/protocol/hub-api"
import { LONGEST_TIMER_MS } from "@signalbox/protocol/timing"
import type { Clock } from "@signalbox/transport"
// This file is imported alone: a runner loads it for its log, and needs none of the other ways for lines to travel.
import { systemClock } from "@signalbox/transport/pacing"
import { HubError } from "../errors.ts"
import type { Caller, TokenRecord } from "../model/access.ts"
import type { Directory } from "../store/directory.ts"

export type TokenDirectory = Pick<
  Directory,
  | "addToken"
  | "revokeToken"
  | "getToken"
  | "findToken"
  | "listTokens"
  | "usableTokens"
  | "addAudit"
  | "getDocument"
  | "changeDocument"
>

export interface NewToken {
  readonly role: Role
  readonly name?: string | undefined
  readonly expiresAt?: string | undefined
  /** Agents' tokens only: the session the agent may connect as. */
  readonly sessionId?: string
}

/** Beyond this somebody makes tokens in a loop. Agents' tokens are as many as sessions and are not counted. */
const MAX_LIVE_TOKENS = 10_000

const LAST_ADMIN =
  "This is the last admin token: without it nobody could manage this hub. Make another admin token first, then revoke this one."

/** Tokens of agents, and those that cannot be used any more, that were shown lately. */
const MAX_MET = 10_000

/**
 * Tokens are found by their hash. Those that people, programs and runners can use are in memory; others come there when
 * somebody shows them (`meet`), so that all checks after it need not ask the store.
 */
export class Tokens {
  readonly #directory: TokenDirectory
  readonly #clock: Clock
  readonly #byId = new Map<string, TokenRecord>()
  readonly #byHash = new Map<string, TokenRecord>()
  /** Those in memory only because they were shown, the latest last. */
  readonly #met = new Map<string, TokenRecord>()
  readonly #listeners = new Set<(tokenId: string) => void>()
  /** When each that runs out does; until then, or until it was told. */
  readonly #expiring = new Map<string, number>()
  #cancelTimer: () => void = () => {}

  private constructor(directory: TokenDirectory, clock: Clock) {
    this.#directory = directory
    this.#clock = clock
  }

  static async open(directory: TokenDirectory, clock: Clock = systemClock): Promise<Tokens> {
    const tokens = new Tokens(directory, clock)
    for (const record of await directory.usableTokens(tokens.#now())) tokens.#keep(record)
    tokens.#watchExpiry()
    return tokens
  }

  /** Somebody shows this secret: brings its token into memory, if there is one. */
  async meet(secret: string): Promise<void> {
    const hash = hashSecret(secret)
    if (this.#byHash.has(hash)) return
    const record = await this.#directory.findToken(hash)
    // Revoked meanwhile, it is there already.
    if (record === undefined || this.#byHash.has(hash)) return
    this.#keep(record)
    this.#watchExpiry()
  }

  /** As `meet`, by its id: another hub may have made it a moment ago. */
  async meetId(id: string): Promise<void> {
    if (this.#byId.has(id)) return
    const record = await this.#directory.getToken(id)
    if (record === undefined || this.#byId.has(id)) return
    this.#keep(record)
    this.#watchExpiry()
  }

  /** Another hub may have made or revoked some. Agents' tokens are looked at if they were shown here. */
  async refresh(): Promise<void> {
    const shown = [...this.#met.values()].filter((known) => this.#isLive(known)).map(({ id }) => id)
    const usable = await this.#directory.usableTokens(this.#now(), shown)
    const ids = new Set(usable.map(({ id }) => id))
    for (const record of usable) if (!this.#byId.has(record.id)) this.#keep(record)
    // One that was made here, or shown, while the store was read is not missing: the store is asked about it by itself.
    const missing = [...this.#byId.values()].filter((known) => this.#isLive(known) && !ids.has(known.id))
    for (const { id } of missing) {
      const record = await this.#directory.getToken(id)
      if (record === undefined || this.#isLive(record)) continue
      this.#keep(record)
      this.#tellEnded(id)
    }
    this.#watchExpiry()
  }

  /** The token that this secret is, if it may still be used. */
  find(secret: string): TokenRecord | undefined {
    const hash = hashSecret(secret)
    const record = this.#byHash.get(hash)
    return record !== undefined && isSameHash(record.hash, hash) && this.#isLive(record) ? record : undefined
  }

  /** Why it cannot be used. Whoever has the secret of one that was good once may know what became of it. */
  whyNot(secret: string): string {
    const hash = hashSecret(secret)
    const record = this.#byHash.get(hash)
    if (record === undefined || !isSameHash(record.hash, hash)) return "This token is wrong"
    return record.revokedAt === null ? "This token has run out" : "This token was revoked"
  }

  getLive(id: string): TokenRecord | undefined {
    const record = this.#byId.get(id)
    return record !== undefined && this.#isLive(record) ? record : undefined
  }

  /** The newest, oldest first. */
  list(limit: number): Promise<readonly TokenRecord[]> {
    return this.#directory.listTokens({ limit })
  }

  /** Whether somebody was ever given a token to be this session's agent. */
  async hasForSession(session: string): Promise<boolean> {
    return (await this.#directory.listTokens({ session, limit: 1 })).length > 0
  }

  /** Whether a token that ends then, or never, could be used at all. */
  isAhead(expiresAt: string | undefined): boolean {
    return expiresAt === undefined || Date.parse(expiresAt) > this.#clock.now()
  }

  /** The secret is told this once only. */
  async create(token: NewToken, by: string): Promise<{ record: TokenRecord; secret: string }> {
    const { role, sessionId = null, name = null, expiresAt = null } = token
    if (role !== "agent") this.#checkRoom()
    const secret = mintSecret("token")
    const createdAt = this.#now()
    const hash = hashSecret(secret)
    const record = { id: randomUUID(), role, name, hash, sessionId, createdAt, expiresAt, revokedAt: null }
    await Promise.all([this.#directory.addToken(record), this.#audit("token/created", record, by)])
    this.#keep(record)
    this.#watchExpiry()
    return { record, secret }
  }

  /** Takes effect at once, also when the store then fails to keep it: until a restart, at least, it is not valid. */
  async revoke(id: string, by: string): Promise<TokenRecord> {
    const record = this.#byId.get(id) ?? (await this.#directory.getToken(id))
    if (record === undefined) throw new HubError("token/unknown", `There is no token ${id}: list them to see their ids`)
    if (record.revokedAt !== null) return record
    const isOtherAdmin = (other: TokenRecord) => other.role === "admin" && other.id !== id && this.#isLive(other)
    if (record.role === "admin" && ![...this.#byId.values()].some(isOtherAdmin))
      throw new HubError("token/last-admin", LAST_ADMIN)
    return this.#revoke(record, by)
  }

  /** Those with which an agent can connect as this session. */
  async ofSession(session: string): Promise<readonly TokenRecord[]> {
    const given = await this.#directory.listTokens({ session, limit: MAX_LIVE_TOKENS })
    return given.filter(({ revokedAt }) => revokedAt === null)
  }

  /** Agents' tokens, also when the store has them no more. */
  async revokeAll(records: readonly TokenRecord[], by: string): Promise<void> {
    await Promise.all(records.map((record) => this.#revoke(record, by)))
  }

  async #revoke(record: TokenRecord, by: string): Promise<TokenRecord> {
    const revokedAt = this.#now()
    const revoked = { ...record, revokedAt }
    this.#keep(revoked)
    this.#tellEnded(record.id)
    await Promise.all([this.#directory.revokeToken(record.id, revokedAt), this.#audit("token/revoked", revoked, by)])
    return revoked
  }

  /** Called with the id of each token that was revoked or ran out, so that its open connections are closed. */
  onEnded(listener: (tokenId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    this.#cancelTimer()
    this.#listeners.clear()
  }

  #isLive({ revokedAt, expiresAt }: TokenRecord): boolean {
    return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > this.#clock.now())
  }

  #keep(record: TokenRecord): void {
    this.#byId.set(record.id, record)
    this.#byHash.set(record.hash, record)
    this.#met.delete(record.id)
    if (record.role === "agent" || !this.#isLive(record)) this.#met.set(record.id, record)
    for (const [id, { hash }] of this.#met) {
      if (this.#met.size <= MAX_MET) break
      this.#met.delete(id)
      this.#byId.delete(id)
      this.#byHash.delete(hash)
    }
    if (record.expiresAt !== null && this.#isLive(record)) this.#expiring.set(record.id, Date.parse(record.expiresAt))
    else this.#expiring.delete(record.id)
  }

  #checkRoom(): void {
    const live = [...this.#byId.values()].filter((record) => record.role !== "agent" && this.#isLive(record)).length
    if (live < MAX_LIVE_TOKENS) return
    throw new HubError("request/invalid", `There are ${live} tokens already: revoke some that are not used any more`)
  }

  #watchExpiry(): void {
    this.#cancelTimer()
    if (this.#expiring.size === 0) return
    const next = Math.min(...this.#expiring.values())
    const delayMs = Math.min(Math.max(next - this.#clock.now(), 0), LONGEST_TIMER_MS)
    this.#cancelTimer = this.#clock.after(delayMs, () => this.#endExpired(), "idle")
  }

  #endExpired(): void {
    const now = this.#clock.now()
    const ended = [...this.#expiring].filter(([, expiresAt]) => expiresAt <= now).map(([id]) => id)
    for (const id of ended) this.#expiring.delete(id)
    this.#watchExpiry()
    for (const id of ended) this.#tellEnded(id)
  }

  #tellEnded(id: string): void {
    for (const listener of this.#listeners) listener(id)
  }

  #audit(what: string, { id, role, name, sessionId }: TokenRecord, by: string): Promise<void> {
    const details = { tokenId: id, role, name }
    return this.#directory.addAudit({ at: this.#now(), what, by, via: null, sessionId, askId: null, details })
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString()
  }
}

export function callerOf({ id, role, name, sessionId }: TokenRecord): Caller {
  return { role, name: name ?? `${role} ${id.slice(0, 8)}`, tokenId: id, sessionId }
}

/** Recognisable wherever one turns up by mistake: the log's redaction and secret scanners look for the prefix. */
export type SecretKind = "token" | "login" | "code"

const PREFIX: Readonly<Record<SecretKind, string>> = { token: "sbx_", login: "sbl_", code: "sbc_" }

/** Finds a secret in any text. */
export const SECRET_PATTERN = new RegExp(`\\b(?:${Object.values(PREFIX).join("|")})[\\w-]{16,}`, "g")

/** 256 random bits. */
export function mintSecret(kind: SecretKind): string {
  return PREFIX[kind] + randomBytes(32).toString("base64url")
}

/** No salt and no stretching: what is hashed has 256 random bits, so there is nothing to guess. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex")
}

export function isSameHash(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left, "hex"), Buffer.from(right, "hex")]
  return a.length === b.length && timingSafeEqual(a, b)
}
