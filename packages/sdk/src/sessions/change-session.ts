import { constants, mkdir, open, rename, rm, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { SessionError } from "../base/errors.ts"
import type { SessionOptions } from "./session-file.ts"
import { requireSession, requireSessionId, type SessionFile, sideFolder } from "./session-file.ts"
import { ARCHIVE_FILE } from "./session-info.ts"
import { appendStored, storedKey } from "./stored-session.ts"

const NEWLINE = 0x0a
/** Format, private, unassigned and halves of characters: invisible, and two tags that look alike would differ by them. */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu

/** Gives a session a title, by a line at the end of its transcript. */
export async function renameSession(sessionId: string, title: string, options?: SessionOptions): Promise<void> {
  const customTitle = requireText("title", title).trim()
  if (customTitle === "") throw new SessionError("session/bad-text", "title must be non-empty")
  await note(sessionId, { type: "custom-title", customTitle, sessionId }, options)
}

/** Gives a session a tag, or takes it away (null), by a line at the end of its transcript. */
export async function tagSession(sessionId: string, tag: string | null, options?: SessionOptions): Promise<void> {
  const text = tag === null ? "" : requireText("tag", tag).normalize("NFKC").replaceAll(INVISIBLE, "").trim()
  if (tag !== null && text === "")
    throw new SessionError("session/bad-text", "tag must be non-empty (use null to clear)")
  await note(sessionId, { type: "tag", tag: text, sessionId }, options)
}

function requireText(what: string, value: unknown): string {
  if (typeof value === "string") return value
  throw new SessionError("session/bad-text", `${what} must be a string, not ${String(value)}`)
}

/** Marks a session as put away; it is listed all the same, with `archived: true`. */
export async function archiveSession(sessionId: string, options?: SessionOptions): Promise<void> {
  await noteArchived(sessionId, { archived: true, options })
}

export async function unarchiveSession(sessionId: string, options?: SessionOptions): Promise<void> {
  await noteArchived(sessionId, { archived: false, options })
}

/**
 * Removes a session's transcript and the folder beside it, its subagents' transcripts with it; in a store, if that
 * removes anything.
 */
export async function deleteSession(sessionId: string, options?: SessionOptions): Promise<void> {
  if (options?.sessionStore !== undefined) {
    requireSessionId(sessionId)
    return options.sessionStore.delete?.(await storedKey(sessionId, options))
  }
  const file = await requireSession(sessionId, options?.dir)
  await unlink(file.path)
  await rm(sideFolder(file), { recursive: true, force: true })
}

async function noteArchived(
  sessionId: string,
  { archived, options }: { archived: boolean; options: SessionOptions | undefined },
): Promise<void> {
  if (options?.sessionStore !== undefined)
    throw new SessionError(
      "session/unsupported",
      "Archiving is not supported with sessionStore: a SessionStore holds transcript entries, and the archived mark is not one",
    )
  const folder = sideFolder(await requireSession(sessionId, options?.dir))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const target = join(folder, ARCHIVE_FILE)
  const draft = `${target}.${process.pid}.${Date.now().toString(36)}`
  const mark = { archived, at: new Date().toISOString(), by: "sdk" }
  try {
    await writeFile(draft, JSON.stringify(mark), { mode: 0o600 })
    // A reader at this moment sees the old note or the new one, never half of one.
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

type Note = Readonly<Record<string, unknown>> & { readonly type: string }

async function note(sessionId: string, entry: Note, options: SessionOptions | undefined): Promise<void> {
  if (options?.sessionStore === undefined) return append(await requireSession(sessionId, options?.dir), entry)
  requireSessionId(sessionId)
  await appendStored(options.sessionStore, await storedKey(sessionId, options), entry)
}

/** One write at the end, so that a CLI that is writing to the same transcript and we do not get into each other's lines. */
async function append(file: SessionFile, entry: Note): Promise<void> {
  const line = `${JSON.stringify(entry)}\n`
  // Not created if it has gone meanwhile: a transcript of one title would be a session that never was.
  const handle = await open(file.path, constants.O_RDWR | constants.O_APPEND)
  try {
    const { size } = await handle.stat()
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
    // The last line of a CLI that was killed may lack its end; ours must not be drawn into it.
    await handle.write(bytesRead === 0 || buffer[0] === NEWLINE ? line : `\n${line}`)
  } finally {
    await handle.close()
  }
}
