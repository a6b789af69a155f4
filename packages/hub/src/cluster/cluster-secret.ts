import { randomBytes, timingSafeEqual } from "node:crypto"
import { isObject, textOf } from "@signalbox/protocol"
import type { Directory } from "../store/directory.ts"

export interface ClusterSecretOptions {
  readonly directory: Pick<Directory, "getDocument" | "changeDocument" | "addAudit">
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
/** Strangers' guesses must not keep the database busy. The hub reads the secret every two seconds anyway. */
const MAX_READS_PER_SECOND = 5

/** By this secret, which is in the store they share, hubs know each other. */
export class ClusterSecret {
  readonly #options: ClusterSecretOptions
  #kept: Kept | undefined
  /** When a secret that was not known was looked for, the latest last. */
  #lookedAt: readonly number[] = []

  constructor(options: ClusterSecretOptions) {
    this.#options = options
  }

  /** Reads it anew: another hub may have replaced it. The first hub makes one. */
  async load(): Promise<void> {
    const kept = readKept(await this.#options.directory.getDocument(DOCUMENT))
    if (kept !== undefined) this.#kept = kept
    // One of the hubs that start at the same time makes it.
    else if (this.#kept === undefined)
      await this.#change((was) => was ?? { current: mint(), rotatedAt: this.#nowText() })
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

  /** Whether a hub shows this. A secret that is not known may be new, so it is looked for in the store. */
  async admits(secret: string): Promise<boolean> {
    if (this.isKnown(secret)) return true
    const now = this.#now().getTime()
    this.#lookedAt = this.#lookedAt.filter((at) => Math.abs(now - at) < 1_000)
    if (secret === "" || this.#lookedAt.length >= MAX_READS_PER_SECOND) return false
    this.#lookedAt = [...this.#lookedAt, now]
    await this.load()
    return this.isKnown(secret)
  }

  async rotate(by: string): Promise<{ readonly rotatedAt: string }> {
    const rotatedAt = this.#nowText()
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
      this.#change((was) => ({ current: mint(), rotatedAt, ...(was && { previous: was.current }) })),
      this.#options.directory.addAudit(audit, { synced: true }),
    ])
    return { rotatedAt }
  }

  async #change(change: (was: Kept | undefined) => Kept): Promise<void> {
    const changed = (kept: unknown) => change(readKept(kept))
    this.#kept = readKept(await this.#options.directory.changeDocument(DOCUMENT, changed, { synced: true }))
  }

  #nowText(): string {
    return this.#now().toISOString()
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
