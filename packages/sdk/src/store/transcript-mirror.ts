import { randomUUID } from "node:crypto"
import { homedir } from "node:os"
import { isAbsolute, join, relative, sep } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { SdkError } from "../base/errors.ts"
import type { SDKMirrorErrorMessage } from "../types/messages.ts"
import type { SessionKey, SessionStore, SessionStoreEntry, SessionStoreFlush } from "../types/session-store.ts"
import { askStore } from "./ask-store.ts"

export interface TranscriptMirrorOptions {
  readonly store: SessionStore
  readonly flush: SessionStoreFlush
  /** The folder that the agent writes its transcripts to. */
  readonly projects: string
  /** Something could not be appended, and is not tried again. */
  readonly onError: (message: SDKMirrorErrorMessage) => void
}

interface Batch {
  readonly key: SessionKey
  readonly path: string
  readonly entries: SessionStoreEntry[]
}

/** Past either of these a portion is appended before its turn is over. */
const MANY_ENTRIES = 500
const MANY_CHARS = 1024 * 1024
/** Past this much that the store has not taken, the agent is not read on. */
const MAX_WAITING_CHARS = 16 * 1024 * 1024
const APPEND_TIMEOUT_MS = 60_000
/** Waited before the second and the third attempt. */
const RETRY_AFTER_MS = [200, 800]

/** Copies what the agent writes to its transcripts into a store, in order, one append at a time. */
export class TranscriptMirror {
  readonly #options: TranscriptMirrorOptions
  #batches = new Map<string, Batch>()
  #entries = 0
  #chars = 0
  #waitingChars = 0
  #written: Promise<void> = Promise.resolve()

  constructor(options: TranscriptMirrorOptions) {
    this.#options = options
  }

  /** Takes a `transcript_mirror` line. Promises something only while the store is far behind. */
  take(message: Readonly<Record<string, unknown>>, chars: number): Promise<void> | undefined {
    const { filePath: path, entries } = message
    if (typeof path !== "string" || !Array.isArray(entries)) return undefined
    const key = keyOfTranscript(this.#options.projects, path)
    if (key === undefined) return undefined
    const batch = this.#batches.get(path) ?? { key, path, entries: [] }
    this.#batches.set(path, batch)
    for (const entry of entries) batch.entries.push(entry)
    this.#entries += entries.length
    this.#chars += chars
    if (this.#options.flush === "batched" && this.#entries <= MANY_ENTRIES && this.#chars <= MANY_CHARS)
      return undefined
    const written = this.flush()
    return this.#waitingChars > MAX_WAITING_CHARS ? written : undefined
  }

  /** Resolves when the store has all that was taken so far, or it was given up; never rejects. */
  flush(): Promise<void> {
    const [batches, chars] = [[...this.#batches.values()], this.#chars]
    this.#batches = new Map()
    this.#entries = 0
    this.#chars = 0
    if (batches.length > 0) {
      this.#waitingChars += chars
      this.#written = this.#writeAll(this.#written, batches, chars)
    }
    return this.#written
  }

  async #writeAll(before: Promise<void>, batches: readonly Batch[], chars: number): Promise<void> {
    await before
    for (const batch of batches) await this.#write(batch)
    this.#waitingChars -= chars
  }

  async #write({ key, path, entries }: Batch): Promise<void> {
    const limit = { ms: APPEND_TIMEOUT_MS, what: `append() for ${path}` }
    for (let attempt = 0; ; attempt++) {
      try {
        return await askStore(limit, async () => this.#options.store.append(key, entries))
      } catch (error) {
        const pause = RETRY_AFTER_MS[attempt]
        // An append that took too long may have arrived yet; a second copy of it would be worse than none.
        const isLost = pause === undefined || (error instanceof SdkError && error.code === "store/timeout")
        if (isLost) return this.#options.onError(mirrorError(key, error))
        await delay(pause)
      }
    }
  }
}

function mirrorError(key: SessionKey, error: unknown): SDKMirrorErrorMessage {
  return {
    type: "system",
    subtype: "mirror_error",
    error: error instanceof Error ? error.message : String(error),
    key: { ...key },
    uuid: randomUUID(),
    session_id: key.sessionId,
  }
}

const ENDING = ".jsonl"

type Environment = Readonly<Record<string, string | undefined>>

/** Where the CLI keeps its own, in an environment. */
export function configFolder(env: Environment): string {
  return env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || homedir(), ".claude")
}

/** The file that the CLI keeps beside its folder, unless the folder was named: then it is in there. */
export function configFile(env: Environment): string {
  return env["CLAUDE_CONFIG_DIR"]
    ? join(env["CLAUDE_CONFIG_DIR"], ".claude.json")
    : join(env["HOME"] || homedir(), ".claude.json")
}

/**
 * The key of a transcript by its path: `<project>/<session>.jsonl`, or `<project>/<session>/…` from two folders down.
 * Undefined for what is none.
 */
function keyOfTranscript(projects: string, path: string): SessionKey | undefined {
  const below = relative(projects, path)
  if (isAbsolute(below)) return undefined
  const [projectKey = "", second = "", ...rest] = below.split(sep)
  if (projectKey === "" || projectKey === "..") return undefined
  if (rest.length === 0) {
    return second.endsWith(ENDING) ? { projectKey, sessionId: second.slice(0, -ENDING.length) } : undefined
  }
  if (rest.length === 1) return undefined
  const subpath = rest.join("/")
  return {
    projectKey,
    sessionId: second,
    subpath: subpath.endsWith(ENDING) ? subpath.slice(0, -ENDING.length) : subpath,
  }
}
