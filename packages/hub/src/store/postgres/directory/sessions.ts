import type { SessionState } from "@signalbox/protocol/hub-api"
import type { KeptSession, SessionRecord } from "../../../model/session-record.ts"
import { LEASE_MS } from "../../cluster-store.ts"
import { UNTOLD, wordsOf } from "../../directory/sessions.ts"
import { MAX_LISTED, type SessionCount, type SessionFilter, type SessionKey } from "../../directory.ts"
import { type Reader, type SqlRow, type SqlValue, type Statement, storedOrNull } from "../statement.ts"
import { fromStored, toStored } from "../stored-text.js"

const KEYS = { requestKey: "request_key", agentSessionId: "agent_session", lastAgentUuid: "last_uuid" } as const
const COLUMNS =
  "updated_at, created_at, title, state, pinned, runner, agent_session, request_key, next, last_uuid, at_rest, words, record, own"
const WITH_REPLY = `${COLUMNS}, reply`
const assignments = (columns: string) => columns.split(", ").map((column, index) => `${column} = $${index + 2}`)
const parameters = (columns: string) => columns.split(", ").map((_, index) => `$${index + 2}`)

/** Most saves change no column that an index has; then no index is written. An insert that finds the row there would use up a number. */
const SAVE = `
  WITH changed AS (UPDATE sessions SET ${assignments(WITH_REPLY).join(", ")} WHERE id = $1 RETURNING id)
  INSERT INTO sessions (id, ${WITH_REPLY})
  SELECT $1, ${parameters(WITH_REPLY).join(", ")} WHERE NOT EXISTS (SELECT FROM changed)`
const SAVE_CHANGES = `UPDATE sessions SET ${assignments(COLUMNS).join(", ")} WHERE id = $1`

/** The hub that had the session did not renew its place in time. */
const IS_ORPHAN = `EXISTS (
  SELECT FROM logs WHERE logs.name = sessions.id AND logs.owner IS NOT NULL AND NOT EXISTS (
    SELECT FROM hubs WHERE hubs.id = logs.owner AND hubs.seen_at > now() - interval '${LEASE_MS} ms'))`

/**
 * Messages of a conversation that went on elsewhere go along with it; those of one that is over wait for its next message. Sessions of
 * hubs that are alive are left to them.
 */
const UNFINISHED = `
  SELECT sessions.id FROM sessions WHERE number IN (
    SELECT number FROM sessions WHERE NOT at_rest
    UNION SELECT sessions.number FROM sessions JOIN asks ON asks.session = sessions.id WHERE asks.state = 'pending'
    UNION SELECT sessions.number FROM sessions JOIN asks ON asks.session = sessions.id
      WHERE asks.undelivered AND asks.delivered_at IS NULL
    UNION SELECT sessions.number FROM sessions JOIN messages ON messages.session = sessions.id
      WHERE messages.state IN ('waiting', 'sent') AND (sessions.state <> 'ended' OR sessions.next IS NOT NULL)
  ) AND ($1::uuid IS NULL OR ${IS_ORPHAN}
    OR NOT EXISTS (SELECT FROM logs WHERE logs.name = sessions.id AND logs.owner IS NOT NULL AND logs.owner <> $1::uuid))
  ORDER BY number`

export class SessionTable {
  readonly #reader: Reader
  /** This hub, where others share the database. */
  readonly #hub: string | null

  constructor(reader: Reader, hub: string | null) {
    this.#reader = reader
    this.#hub = hub
  }

  save({ record, own }: KeptSession, isAtRest: boolean): Statement {
    const reply = own.initializeReply === null ? null : JSON.stringify(own.initializeReply)
    return { text: SAVE, values: [...this.#values({ record, own }, isAtRest), reply] }
  }

  /** The same for one that has its `initializeReply` there already. Changes no row if the session is not there. */
  saveChanges(session: KeptSession, isAtRest: boolean): Statement {
    return { text: SAVE_CHANGES, values: this.#values(session, isAtRest) }
  }

  #values({ record, own }: KeptSession, isAtRest: boolean): readonly SqlValue[] {
    const { id, createdAt, updatedAt, title, state, pinned, runner, agentSessionId, next } = record
    // Only what is not in memory is looked for by this, and while it is this changes with every line.
    const lastUuid = isAtRest && state !== "ended" && own.launch === undefined ? own.lastAgentUuid : null
    const about = [updatedAt, createdAt, storedOrNull(title), state, pinned, storedOrNull(runner)]
    const keys = [agentSessionId, own.requestKey, next, lastUuid].map(storedOrNull)
    const text = [wordsOf(record), JSON.stringify(record), JSON.stringify({ ...own, initializeReply: null })]
    return [toStored(id), ...about, ...keys, isAtRest, ...text.map(toStored)]
  }

  async get(id: string): Promise<KeptSession | undefined> {
    const row = await this.#reader.get("SELECT record, own, reply FROM sessions WHERE id = $1", [toStored(id)])
    return row && { record: toRecord(row), own: wholeOwn(String(row[1]), row[2]) }
  }

  async list({ limit, ...filter }: SessionFilter): Promise<readonly SessionRecord[]> {
    const values: SqlValue[] = []
    const where = this.#conditionOf(filter, values)
    const order = "ORDER BY pinned DESC, created_at DESC, id DESC"
    const most = `$${values.push(Math.max(0, Math.min(limit, MAX_LISTED)))}`
    const rows = await this.#reader.all(`SELECT record FROM sessions WHERE ${where} ${order} LIMIT ${most}`, values)
    return rows.map(toRecord)
  }

  async count(filters: readonly Omit<SessionFilter, "limit">[]): Promise<SessionCount> {
    const values: SqlValue[] = []
    const isFound = ["FALSE", ...filters.map((filter) => this.#conditionOf(filter, values))].join(" OR ")
    const events = `sum(substring(record from '"lastSeq":([0-9]+)')::bigint)`
    const sql = `SELECT count(*), coalesce(${events}, 0) FROM sessions WHERE ${isFound}`
    const [count, sum] = (await this.#reader.get(sql, values)) ?? []
    return { count: Number(count), events: Number(sum) }
  }

  /** Pushes what the condition refers to. */
  #conditionOf(filter: Omit<SessionFilter, "limit">, values: SqlValue[]): string {
    const { before, state, q = "", quietSince, archived } = filter
    const conditions = ["TRUE"]
    const place = (value: SqlValue) => `$${values.push(value)}`
    if (before !== undefined) {
      const { pinned, createdAt, id } = before
      conditions.push(
        `(pinned, created_at, id) < (${place(pinned)}, ${place(toStored(createdAt))}, ${place(toStored(id))})`,
      )
    }
    if (state !== undefined) conditions.push(this.#isIn(state, place(state)))
    if (q !== "") conditions.push(`strpos(words, ${place(toStored(q.toLowerCase()))}) > 0`)
    if (quietSince !== undefined) conditions.push(`updated_at < ${place(quietSince)}`)
    // Quotation marks in a text of JSON have a backslash before them. PostgreSQL's own JSON knows no escaped NUL.
    if (archived !== undefined) conditions.push(`strpos(record, ${place(`"archived":${archived}`)}) > 0`)
    return conditions.join(" AND ")
  }

  /** As sessions are shown: the agent of one whose hub is dead is away. */
  #isIn(state: SessionState, placed: string): string {
    if (this.#hub === null || state === "ended") return `state = ${placed}`
    if (state === "disconnected") return `(state = ${placed} OR (state <> 'ended' AND ${IS_ORPHAN}))`
    return `state = ${placed} AND NOT ${IS_ORPHAN}`
  }

  /** The newest of several with this key: the one before it was stopped. */
  async find({ by, key }: SessionKey): Promise<string | undefined> {
    const column = KEYS[by]
    const row = await this.#reader.get(
      `SELECT id FROM sessions WHERE md5(${column}) = md5($1::text) AND ${column} = $1 ORDER BY number DESC LIMIT 1`,
      [toStored(key)],
    )
    return row && fromStored(String(row[0]))
  }

  async before(id: string): Promise<readonly string[]> {
    const sql = `SELECT id FROM sessions WHERE next = $1 LIMIT ${MAX_LISTED}`
    return (await this.#reader.all(sql, [toStored(id)])).map(([each]) => fromStored(String(each)))
  }

  async unfinished(): Promise<readonly string[]> {
    return (await this.#reader.all(UNFINISHED, [this.#hub])).map(([id]) => fromStored(String(id)))
  }
}

/** The parts of a session's `own`, put together as they were. */
export function wholeOwn(own: string, reply: unknown): KeptSession["own"] {
  const kept: KeptSession["own"] = JSON.parse(own)
  return typeof reply === "string" ? { ...kept, initializeReply: JSON.parse(reply) } : kept
}

function toRecord([record]: SqlRow): SessionRecord {
  return { ...UNTOLD, ...JSON.parse(String(record)) }
}
