import type { Session, SessionQuery } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { LiveSession } from "./live-session.ts"

/** Newest first. The cursor names the last session of a page by its time and id, so that new ones do not shift it. */
export function listSessions(
  sessions: Iterable<LiveSession>,
  query: SessionQuery,
): { sessions: readonly Session[]; cursor: string | null } {
  const before = query.cursor === undefined ? undefined : readCursor(query.cursor)
  const words = query.q?.toLowerCase().trim() ?? ""
  const found = [...sessions]
    .filter((session) => before === undefined || isBefore(session, before))
    .filter((session) => query.state === undefined || session.phase() === query.state)
    .filter((session) => words === "" || isAbout(session, words))
    .toSorted((a, b) => compare(keyOf(b), keyOf(a)))
  const page = found.slice(0, query.limit)
  const last = page.at(-1)
  const cursor = found.length > page.length && last !== undefined ? writeCursor(last) : null
  return { sessions: page.map((session) => session.view()), cursor }
}

type Key = readonly [createdAt: string, id: string]

function keyOf(session: LiveSession): Key {
  return [session.record.createdAt, session.id]
}

function compare(a: Key, b: Key): number {
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1
  if (a[1] === b[1]) return 0
  return a[1] < b[1] ? -1 : 1
}

function isBefore(session: LiveSession, key: Key): boolean {
  return compare(keyOf(session), key) < 0
}

function isAbout({ record }: LiveSession, words: string): boolean {
  return [record.title, record.cwd, record.lastLine, record.model, record.id].some(
    (text) => text?.toLowerCase().includes(words) === true,
  )
}

function writeCursor(session: LiveSession): string {
  return Buffer.from(keyOf(session).join(" ")).toString("base64url")
}

function readCursor(cursor: string): Key {
  const [createdAt, id] = Buffer.from(cursor, "base64url").toString().split(" ")
  if (createdAt === undefined || id === undefined) {
    throw new HubError("request/invalid", "cursor: give back the one of the page before, as it was")
  }
  return [createdAt, id]
}
