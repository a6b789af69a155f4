import { textOf } from "@signalbox/protocol"
import { RefusalNotes } from "../agents/refusal-notes.ts"
import type { Tokens } from "../auth/tokens.ts"
import type { Directory } from "../store/directory.ts"

export interface RunnerClaimsOptions {
  readonly directory: Pick<Directory, "getDocument" | "putDocument">
  /** True if a token may still be used. A dead one holds nothing. */
  readonly isLive: (tokenId: string) => boolean
  readonly trouble: (what: string, error: unknown) => void
}

const DOCUMENT = "runner-claims"
/** Per token. Containers that start with an empty disk bring a new id each time. */
const MAX_PER_TOKEN = 1_000

/**
 * Binds the id of each runner to the token that first claimed it, over restarts of the hub too: another token cannot take the
 * runner's place and receive its launches. A runner that is forgotten only to make room keeps its claim.
 */
export class RunnerClaims {
  readonly #options: RunnerClaimsOptions
  /** Token ids by runner id, oldest first. */
  readonly #owners = new Map<string, string>()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: RunnerClaimsOptions) {
    this.#options = options
  }

  async load(): Promise<void> {
    const kept = await this.#options.directory.getDocument(DOCUMENT)
    for (const entry of Array.isArray(kept) ? kept : []) {
      const [id, tokenId] = [textOf(entry, "runner"), textOf(entry, "token")]
      if (id !== undefined && tokenId !== undefined) this.#owners.set(id, tokenId)
    }
  }

  /** Another hub may have bound some since. */
  async refresh(): Promise<void> {
    await this.#writing
    await this.load()
  }

  /** The live token that holds this id, if any. */
  ownerOf(id: string): string | undefined {
    const owner = this.#owners.get(id)
    return owner !== undefined && this.#options.isLive(owner) ? owner : undefined
  }

  /** Binds an id that is free. False: another token holds it. */
  claim(id: string, tokenId: string): boolean {
    const owner = this.ownerOf(id)
    if (owner === undefined) this.give(id, tokenId)
    return owner === undefined || owner === tokenId
  }

  /** Binds the id, whoever held it. */
  give(id: string, tokenId: string): void {
    if (this.#owners.get(id) === tokenId) return
    this.#owners.delete(id)
    this.#owners.set(id, tokenId)
    this.#makeRoom(tokenId)
    this.#keep()
  }

  free(id: string): void {
    if (this.#owners.delete(id)) this.#keep()
  }

  async settled(): Promise<void> {
    await this.#writing
  }

  /** Drops what dead tokens held, and the oldest claims of a token that has too many. Never another token's. */
  #makeRoom(tokenId: string): void {
    for (const [id, owner] of this.#owners) if (!this.#options.isLive(owner)) this.#owners.delete(id)
    const own = [...this.#owners].flatMap(([id, owner]) => (owner === tokenId ? [id] : []))
    for (const id of own.slice(0, Math.max(0, own.length - MAX_PER_TOKEN))) this.#owners.delete(id)
  }

  #keep(): void {
    const { directory, trouble } = this.#options
    const kept = [...this.#owners].map(([runner, token]) => ({ runner, token }))
    this.#writing = Promise.all([this.#writing, directory.putDocument(DOCUMENT, kept)])
      .then(() => undefined)
      .catch((error: unknown) => trouble("which token each runner has could not be kept", error))
  }
}

export interface RunnerRefusalsOptions {
  readonly directory: Pick<Directory, "addAudit">
  readonly claims: Pick<RunnerClaims, "ownerOf">
  readonly tokens: Pick<Tokens, "getLive">
  readonly trouble: (what: string, error: unknown) => void
  readonly now?: () => Date
}

/** A runner's connection, control or agent. */
interface Refusable {
  readonly tokenId: string
  end(code: number, reason: string): Promise<void>
}

const NOT_ALLOWED = 4001
/** The runner tells its owner. A close frame has room for 123 bytes. */
const REASON = "this runner's id belongs to another token: revoke that token, or forget the runner, on the hub"
/** Audit records of refusals, one per runner and token. A runner that keeps trying must not fill the disk. */
const MAX_AUDITED = 1_000

/** Turns away connections that claim a runner which belongs to another token. */
export class RunnerRefusals {
  readonly #options: RunnerRefusalsOptions
  readonly #notes: RefusalNotes
  readonly #audited = new Set<string>()

  constructor(options: RunnerRefusalsOptions) {
    this.#options = options
    this.#notes = new RefusalNotes((refused) => options.trouble("a runner was not let in", refused))
  }

  async refuse(connection: Refusable, runner: string): Promise<void> {
    const { tokenId } = connection
    this.#notes.note({ path: `runner ${runner}`, status: NOT_ALLOWED, reason: `token ${tokenId}: ${REASON}` })
    await Promise.all([connection.end(NOT_ALLOWED, REASON), this.#audit(runner, tokenId)])
  }

  async #audit(runner: string, tokenId: string): Promise<void> {
    const { directory, claims, tokens, trouble, now = () => new Date() } = this.#options
    const owner = claims.ownerOf(runner) ?? null
    const key = JSON.stringify([runner, tokenId, owner])
    if (this.#audited.has(key)) return
    const [oldest] = this.#audited.add(key)
    if (this.#audited.size > MAX_AUDITED && oldest !== undefined) this.#audited.delete(oldest)
    const by = tokens.getLive(tokenId)?.name ?? `runner ${tokenId.slice(0, 8)}`
    const who = { by, via: null, sessionId: null, askId: null }
    const record = { at: now().toISOString(), what: "runner/refused", ...who, details: { runner, tokenId, owner } }
    await directory.addAudit(record).catch((error: unknown) => trouble("a refusal could not be kept", error))
  }
}
