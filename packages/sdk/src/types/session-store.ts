/** Where one transcript is kept. */
export interface SessionKey {
  /** The project's key; the working directory with `-` for everything but letters and digits. */
  projectKey: string
  sessionId: string
  /** Left out: the session's own transcript. Otherwise that of a subagent, such as `subagents/agent-1`. */
  subpath?: string
}

/** One line of a transcript. To be kept as it is; what has a `uuid` may come twice. */
export interface SessionStoreEntry {
  type: string
  uuid?: string
  timestamp?: string
  [field: string]: unknown
}

/** A session's facts, told without reading it and kept up to date by `foldSessionSummary`. */
export interface SessionSummaryEntry {
  sessionId: string
  /** When the store wrote it, by the clock of its `listSessions`. */
  mtime: number
  /** Not for the store to look into. */
  data: Record<string, unknown>
}

/** `eager`: every portion is appended as it comes. `batched` (the default): with each result, or when there is much. */
export type SessionStoreFlush = "batched" | "eager"

/** A second place for transcripts, from which a session can be resumed. The agent writes to its disk all the same. */
export interface SessionStore {
  /** Adds to the end of a transcript. Tried three times; what cannot be appended is reported and let go. */
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>
  delete?(key: SessionKey): Promise<void>
  /** For `continue` and lists. `mtime` in milliseconds since 1970. */
  listSessions?(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>
  /** Spares lists the loading of every session. */
  listSessionSummaries?(projectKey: string): Promise<SessionSummaryEntry[]>
  /** Every `subpath` there is of a session; without it, only its own transcript is resumed. */
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<string[]>
  /** A whole transcript; null if there is none. */
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>
}
