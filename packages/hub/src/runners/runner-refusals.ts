import { RefusalNotes } from "../agents/refusal-notes.ts"
import type { Tokens } from "../auth/tokens.ts"
import type { Directory } from "../store/directory.ts"
import type { RunnerClaims } from "./runner-claims.ts"

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
