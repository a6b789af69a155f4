import { existsSync } from "node:fs"
import type { Launch } from "../launch/launch.ts"
import type { Fields, WireProfile } from "../profiles/profile.ts"
import {
  historyOf,
  lastSession,
  loadSession,
  type StoredSession,
  Transcript,
  transcriptPath,
  writeFork,
} from "./transcript.ts"

export interface OpenedSession {
  readonly sessionId: string
  readonly history: Fields[]
  readonly transcript: Transcript
  readonly source: "startup" | "resume" | "fork"
  readonly title?: string | undefined
  readonly spending?: Readonly<Fields> | undefined
}

/** A launch the CLI refuses: what it says on stderr, and the session it was asked for. */
export interface RefusedSession {
  readonly refused: string
  readonly sessionId?: string
}

/** The session that the flags speak of: a new one, or one on disk. */
export function openSession(launch: Launch, profile: WireProfile, freshId: string): OpenedSession | RefusedSession {
  const { session } = launch
  const resume = session.resume ?? (session.continueLast === true ? lastSession(launch) : undefined)
  if (resume === undefined) return beginSession(launch, profile, session.sessionId ?? freshId)
  if (session.sessionId !== undefined && session.fork !== true) {
    const flags = "--session-id can only be used with --continue or --resume if --fork-session is also specified."
    return { refused: `Error: ${flags}` }
  }
  const stored = loadSession(launch, resume, session.resumeAt)
  if (stored === undefined) {
    return { refused: `No conversation found with session ID: ${resume}`, sessionId: resume }
  }
  return session.fork === true
    ? forkSession(launch, profile, { id: session.sessionId ?? freshId, stored })
    : opened(launch, profile, { id: resume, stored, source: "resume" })
}

function beginSession(launch: Launch, profile: WireProfile, id: string): OpenedSession | RefusedSession {
  const named = launch.session.sessionId !== undefined
  if (named && existsSync(transcriptPath(launch, id))) return { refused: `Error: Session ID ${id} is already in use.` }
  return opened(launch, profile, { id, stored: { entries: [], last: null }, source: "startup" })
}

function forkSession(launch: Launch, profile: WireProfile, fork: { id: string; stored: StoredSession }): OpenedSession {
  if (launch.session.persist) writeFork(launch, fork.id, fork.stored)
  return opened(launch, profile, { ...fork, source: "fork" })
}

function opened(
  launch: Launch,
  profile: WireProfile,
  { id, stored, source }: { id: string; stored: StoredSession; source: OpenedSession["source"] },
): OpenedSession {
  const { configDir, cwd } = launch
  // By it, programs tell sessions of programs from those of people. The oldest generation does not write it.
  const entrypoint = profile.quirks.writesEntrypoint ? launch.env["CLAUDE_CODE_ENTRYPOINT"] : undefined
  const { version } = profile
  const options = { configDir, cwd, sessionId: id, version, persist: launch.session.persist, entrypoint }
  return {
    sessionId: id,
    history: historyOf(stored.entries),
    transcript: new Transcript(options, stored.last),
    source,
    title: stored.title,
    spending: stored.spending,
  }
}
