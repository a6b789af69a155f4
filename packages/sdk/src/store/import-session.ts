import { open, readFile } from "node:fs/promises"
import { relative, sep } from "node:path"
import { SessionError } from "../base/errors.ts"
import { parseObject, trusted } from "../base/wire.ts"
import { findSession, requireSessionId, sideFolder } from "../sessions/session-file.ts"
import { subagentFiles } from "../sessions/session-messages.ts"
import { storedKey } from "../sessions/stored-session.ts"
import { linesOf } from "../sessions/transcript.ts"
import type { SessionKey, SessionStore, SessionStoreEntry } from "../types/session-store.ts"

export interface ImportSessionToStoreOptions {
  /** The working directory whose project is meant; left out: all projects, and the key is that of this process. */
  dir?: string
  /** Default: true. */
  includeSubagents?: boolean
  /** As many lines are appended at a time. Default: 500. */
  batchSize?: number
}

const BATCH_SIZE = 500

/** Copies a session on this disk into a store, its subagents with it. */
export async function importSessionToStore(
  sessionId: string,
  store: SessionStore,
  options: ImportSessionToStoreOptions = {},
): Promise<void> {
  requireSessionId(sessionId)
  const session = await findSession(sessionId, options.dir)
  if (session === undefined) throw new SessionError("session/not-found", `Session ${sessionId} not found`)
  const batchSize = options.batchSize !== undefined && options.batchSize > 0 ? options.batchSize : BATCH_SIZE
  const key = await storedKey(sessionId, options.dir === undefined ? {} : { dir: options.dir })
  await copyLines(session.path, { store, key, batchSize })
  if (options.includeSubagents === false) return
  for (const { path } of await subagentFiles(sessionId, options.dir)) {
    const below = relative(sideFolder(session), path).split(sep).join("/")
    const aside = { ...key, subpath: below.replace(/\.jsonl$/, "") }
    await copyLines(path, { store, key: aside, batchSize })
    const note = parseObject(await readFile(path.replace(/\.jsonl$/, ".meta.json"), "utf8").catch(() => ""))
    // A file of the CLI's own is an entry among the others in a store.
    if (note !== undefined) await store.append(aside, [{ ...note, type: "agent_metadata" }])
  }
}

interface Copying {
  readonly store: SessionStore
  readonly key: SessionKey
  readonly batchSize: number
}

async function copyLines(path: string, { store, key, batchSize }: Copying): Promise<void> {
  const file = await open(path, "r")
  try {
    let batch: SessionStoreEntry[] = []
    for await (const { text } of linesOf(file)) {
      // A line of a transcript has a type, and is handed over as it is.
      const entry = trusted<SessionStoreEntry | undefined>(parseObject(text))
      if (entry === undefined) continue
      batch.push(entry)
      if (batch.length < batchSize) continue
      await store.append(key, batch)
      batch = []
    }
    if (batch.length > 0) await store.append(key, batch)
  } finally {
    await file.close()
  }
}
