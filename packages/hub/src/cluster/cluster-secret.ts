import { randomBytes, timingSafeEqual } from "node:crypto"
import { isObject, textOf } from "@signalbox/protocol"
import type { Directory } from "../store/directory.ts"

export interface ClusterSecretOptions {
  readonly directory: Pick<Directory, "getDocument" | "putDocument" | "addAudit">
  readonly now?: () => Date
}

interface Kept {
  readonly current: string
  /** Taken for a minute after it was replaced: another hub may not have read the new one yet. */
  readonly previous?: string
  readonly rotatedAt: string
}

const DOCUMENT = "cluster-secret"
const GRACE_MS = 60_000

/** By this secret, which is in the store they share, hubs know each other. */
export class ClusterSecret {
  readonly #options: ClusterSecretOptions
  #kept: Kept | undefined

  constructor(options: ClusterSecretOptions) {
    this.#options = options
  }

  /** Reads it anew: another hub may have replaced it. The first hub makes one. */
  async load(): Promise<void> {
    const kept = readKept(await this.#options.directory.getDocument(DOCUMENT))
    if (kept !== undefined) this.#kept = kept
    else if (this.#kept === undefined) await this.#put({ current: mint(), rotatedAt: this.#now().toISOString() })
  }

  get current(): string {
    return this.#kept?.current ?? ""
  }

  isKnown(secret: string): boolean {
    if (this.#kept === undefined || secret === "") return false
    const { current, previous, rotatedAt } = this.#kept
    const isGrace = this.#now().getTime() - Date.parse(rotatedAt) < GRACE_MS
    return isSame(secret, current) || (previous !== undefined && isGrace && isSame(secret, previous))
  }

  async rotate(by: string): Promise<{ readonly rotatedAt: string }> {
    await this.load()
    const rotatedAt = this.#now().toISOString()
    const audit = {
      at: rotatedAt,
      what: "hubs/secret-rotated",
      by,
      via: "person",
      sessionId: null,
      askId: null,
      details: {},
    }
    await Promise.all([
      this.#put({ current: mint(), previous: this.current, rotatedAt }),
      this.#options.directory.addAudit(audit, { synced: true }),
    ])
    return { rotatedAt }
  }

  async #put(kept: Kept): Promise<void> {
    await this.#options.directory.putDocument(DOCUMENT, kept, { synced: true })
    this.#kept = kept
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date()
  }
}

function mint(): string {
  return randomBytes(32).toString("base64url")
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function readKept(value: unknown): Kept | undefined {
  if (!isObject(value)) return undefined
  const [current, previous, rotatedAt] = [
    textOf(value, "current"),
    textOf(value, "previous"),
    textOf(value, "rotatedAt"),
  ]
  if (current === undefined || rotatedAt === undefined) return undefined
  return { current, rotatedAt, ...(previous === undefined ? {} : { previous }) }
}
