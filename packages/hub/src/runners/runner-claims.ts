import { textOf } from "@signalbox/protocol"
import { NOT_ALLOWED } from "@signalbox/transport"
import { RefusalNotes } from "../agents/refusal-notes.ts"
import type { Tokens } from "../auth/tokens.ts"
import type { Directory } from "../store/directory.ts"

export interface RunnerClaimsOptions {
  readonly directory: Pick<Directory, "getDocument" | "changeDocument">
  /** True if a token may still be used. A dead one holds nothing. */
  readonly isLive: (tokenId: string) => boolean
  /** Another hub may have made this token a moment ago. */
  readonly meet: (tokenId: string) => Promise<void>
  readonly trouble: (what: string, error: unknown) => void
}

/** Token ids by runner id, oldest first. */
type Owners = Map<string, string>

const DOCUMENT = "runner-claims"
const RETRY_MS = 5_000
/** Per token. Containers that start with an empty disk bring a new id each time. */
const MAX_PER_TOKEN = 1_000

/**
 * Binds the id of each runner to the token that first claimed it, over restarts of the hub too: another token cannot take the
 * runner's place and receive its launches. A runner that is forgotten only to make room keeps its claim.
 */
export class RunnerClaims {
  readonly #options: RunnerClaimsOptions
  #owners: Owners = new Map()
  /** Changes that are not in the store yet, in their order. */
  #changes: readonly ((owners: Owners) => void)[] = []
  #writing: Promise<void> = Promise.resolve()
  #retry: NodeJS.Timeout | undefined

  constructor(options: RunnerClaimsOptions) {
    this.#options = options
  }

  async load(): Promise<void> {
    this.#take(await this.#options.directory.getDocument(DOCUMENT))
  }

  /** Another hub may have bound this runner, or freed it. */
  async refresh(id: string): Promise<void> {
    await this.#writing
    await this.load()
    const owner = this.#owners.get(id)
    if (owner !== undefined) await this.#options.meet(owner)
  }

  /** The live token that holds this id, if any. */
  ownerOf(id: string): string | undefined {
    const owner = this.#owners.get(id)
    return owner !== undefined && this.#options.isLive(owner) ? owner : undefined
  }

  /** Binds an id that is free. False: another token holds it. */
  claim(id: string, tokenId: string): boolean {
    const owner = this.ownerOf(id)
    if (owner === undefined) {
      const before = this.#owners.get(id)
      // Another hub's claim was before this one.
      this.#change((owners) => owners.get(id) === before && this.#bind(owners, id, tokenId))
    }
    return owner === undefined || owner === tokenId
  }

  /** Binds the id, whoever held it. */
  give(id: string, tokenId: string): void {
    if (this.#owners.get(id) !== tokenId) this.#change((owners) => this.#bind(owners, id, tokenId))
  }

  free(id: string): void {
    if (this.#owners.has(id)) this.#change((owners) => owners.delete(id))
  }

  async settled(): Promise<void> {
    await this.#writing
  }

  close(): void {
    clearTimeout(this.#retry)
  }

  /** Drops what dead tokens held when there is much, and the oldest claims of a token that has too many. Never another token's. */
  #bind(owners: Owners, id: string, tokenId: string): void {
    owners.delete(id)
    owners.set(id, tokenId)
    if (owners.size > MAX_PER_TOKEN)
      for (const [one, owner] of owners) if (!this.#options.isLive(owner)) owners.delete(one)
    const own = [...owners].flatMap(([one, owner]) => (owner === tokenId ? [one] : []))
    for (const one of own.slice(0, Math.max(0, own.length - MAX_PER_TOKEN))) owners.delete(one)
  }

  #change(change: (owners: Owners) => void): void {
    change(this.#owners)
    this.#changes = [...this.#changes, change]
    this.#keep()
  }

  /** Nobody waits for it: a runner may come while the store is in trouble. */
  #keep(): void {
    this.#writing = this.#writing.then(() => this.#write())
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const changes = this.#changes
    if (changes.length === 0) return
    const changed = (kept: unknown) => {
      const owners = ownersIn(kept)
      for (const change of changes) change(owners)
      return [...owners].map(([runner, token]) => ({ runner, token }))
    }
    try {
      const kept = await this.#options.directory.changeDocument(DOCUMENT, changed)
      this.#changes = this.#changes.slice(changes.length)
      this.#take(kept)
    } catch (error) {
      this.#options.trouble("which token each runner has could not be kept yet", error)
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => this.#keep(), RETRY_MS).unref()
    }
  }

  /** As the store has it, and what is not there yet. */
  #take(kept: unknown): void {
    this.#owners = ownersIn(kept)
    for (const change of this.#changes) change(this.#owners)
  }
}

function ownersIn(kept: unknown): Owners {
  const entries = Array.isArray(kept) ? kept : []
  return new Map(
    entries.flatMap((entry) => {
      const [id, tokenId] = [textOf(entry, "runner"), textOf(entry, "token")]
      return id === undefined || tokenId === undefined ? [] : [[id, tokenId] as const]
    }),
  )
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
