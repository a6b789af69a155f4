import type { Session, SessionPage, SessionQuery } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { SessionRecord } from "../model/session-record.ts"
import type { OwnedSession } from "../store/cluster-store.ts"
import { wordsOf } from "../store/directory/sessions.ts"
import { type Directory, isListedBefore, type ListPlace, type SessionFilter } from "../store/directory.ts"
import { viewOf } from "./life.ts"
import type { LiveSession } from "./live-session.ts"
import type { SessionHub } from "./session-hub.ts"
import type { SessionRegistry } from "./session-registry.ts"

/** `isOrphan`: the hub that had it is dead. */
type AtRest = OwnedSession & { readonly isOrphan: boolean }

export interface SessionListOptions {
  readonly registry: Pick<SessionRegistry, "loaded" | "allLoaded">
  readonly directory: Pick<Directory, "listSessions">
  readonly viewers: Pick<SessionHub["viewers"], "countOf">
  /** Which of the hubs that share the store have these sessions, which are not in memory here. */
  readonly describe?: (ids: readonly string[]) => Promise<ReadonlyMap<string, AtRest>>
}

/**
 * Pinned ones first, then the newest: the store's rows, and in their place the sessions in memory, which know more than their rows. The cursor
 * names the last session of a page by its pin, time and id, so that new ones do not shift it.
 */
export async function listSessions(options: SessionListOptions, query: SessionQuery): Promise<SessionPage> {
  const { registry, directory } = options
  const { limit, cursor, state } = query
  const q = query.q?.toLowerCase().trim() ?? ""
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const filter = { limit: limit + 1, q, ...(state && { state }), ...(before && { before }) }
  const rows = await rowsFor(filter, directory, registry)
  const isListed = (session: LiveSession) =>
    !session.isDraft &&
    (before === undefined || isListedBefore(before, session.record)) &&
    (state === undefined || session.phase() === state) &&
    wordsOf(session.record).includes(q) &&
    // What comes after the last row that was read may have rows before it that were not.
    (rows.end === undefined || isListedBefore(session.record, rows.end))
  const listed = rows.records.filter(({ id }) => registry.loaded(id) === undefined)
  const views = await viewsAtRest(options, listed)
  // One may have come into memory meanwhile, and its hub may have died or come back.
  const isStill = (view: Session) => registry.loaded(view.id) === undefined && (state ?? view.state) === view.state
  const atRest = views.filter(isStill)
  const loaded = [...registry.allLoaded()].filter(isListed).map((session) => session.view())
  const found = [...loaded, ...atRest].toSorted((a, b) => (isListedBefore(a, b) ? -1 : 1))
  const sessions = found.slice(0, limit)
  const last = sessions.at(-1) ?? rows.end
  const isWhole = found.length <= limit && rows.end === undefined
  return { sessions, cursor: isWhole || last === undefined ? null : writeCursor(last) }
}

/**
 * A session that is only in the store is in the state in which it was let go, and has no open asks. Another hub's is in the state that
 * its hub has kept; if that hub is dead, its agent is away.
 */
export async function viewsAtRest(
  { describe, viewers }: Pick<SessionListOptions, "describe" | "viewers">,
  records: readonly SessionRecord[],
): Promise<readonly Session[]> {
  const told = await describe?.(records.map(({ id }) => id))
  return records.map((record) => {
    const { owner, pendingAsks = 0, isOrphan = false, lastSeq = record.lastSeq } = told?.get(record.id) ?? {}
    const state = isOrphan && record.state !== "ended" ? "disconnected" : record.state
    const now = { state, pendingAsks, viewers: viewers.countOf(record.id) }
    return viewOf({ ...record, lastSeq }, owner === undefined ? now : { ...now, owner })
  })
}

interface Rows {
  readonly records: readonly SessionRecord[]
  /** Where reading stopped; undefined when there are no more. */
  readonly end: SessionRecord | undefined
}

/** Reads on until there are enough that are not in memory. */
async function rowsFor(
  filter: SessionFilter,
  directory: SessionListOptions["directory"],
  registry: SessionListOptions["registry"],
): Promise<Rows> {
  const records: SessionRecord[] = []
  for (let { before } = filter; ; ) {
    const page = await directory.listSessions({ ...filter, ...(before && { before }) })
    records.push(...page.filter((record) => registry.loaded(record.id) === undefined && isAbout(record, filter.q)))
    before = page.at(-1)
    if (page.length < filter.limit) return { records, end: undefined }
    if (records.length >= filter.limit) return { records, end: page.at(-1) }
  }
}

function isAbout(record: SessionRecord, q = ""): boolean {
  return q === "" || wordsOf(record).includes(q)
}

const PINNED = "pinned"

function writeCursor({ pinned, createdAt, id }: ListPlace): string {
  return Buffer.from([createdAt, id, ...(pinned ? [PINNED] : [])].join(" ")).toString("base64url")
}

function readCursor(cursor: string): ListPlace {
  const [createdAt, id, pinned] = Buffer.from(cursor, "base64url").toString().split(" ")
  if (createdAt === undefined || id === undefined) {
    throw new HubError("request/invalid", "cursor: give back the one of the page before, as it was")
  }
  return { pinned: pinned === PINNED, createdAt, id }
}
