import type { SessionState } from "@signalbox/protocol/hub-api"
import type { KeptSession, SessionRecord } from "../../model/session-record.ts"
import type { Database, SqlRow, SqlValue } from "../database.ts"
import { type ListPlace, MAX_LISTED, type SessionCount, type SessionFilter, type SessionKey } from "../directory.ts"

const KEYS = { requestKey: "request_key", agentSessionId: "agent_session", lastAgentUuid: "last_uuid" } as const

export class SessionTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  get(id: string): KeptSession | undefined {
    const row = this.#database.get("SELECT record, own FROM sessions WHERE id = ?", [id])
    return row === undefined ? undefined : toSession(row)
  }

  /** Where no index knows which rows are wanted every row is looked at, and between two turns somebody else's. */
  async list({ before, limit, ...filter }: SessionFilter, nextTurn: () => Promise<unknown>) {
    const { state, q = "", quietSince } = filter
    const most = Math.min(limit, MAX_LISTED)
    const records: SessionRecord[] = []
    let from = before === undefined ? undefined : placeOf(before)
    for (;;) {
      const to = q === "" && quietSince === undefined ? undefined : this.#endOfTurn(from, state)
      const where = listed({ ...filter, from, to })
      const values = [...where.values, most - records.length]
      const rows = this.#database.all(`SELECT record FROM sessions WHERE ${where.sql} ${LIST_ORDER} LIMIT ?`, values)
      records.push(...rows.map(toRecord))
      if (to === undefined || records.length >= most) return records
      from = to
      await nextTurn()
    }
  }

  async count(filters: readonly Omit<SessionFilter, "limit">[], nextTurn: () => Promise<unknown>) {
    const found = filters.map(({ before, ...filter }) => listed({ ...filter, from: before && placeOf(before) }))
    const isFound = ["FALSE", ...found.map(({ sql }) => sql)].join(" OR ")
    const select = `SELECT count(*), coalesce(sum(json_extract(record, '$.lastSeq')), 0) FROM sessions WHERE (${isFound})`
    let sum: SessionCount = { count: 0, events: 0 }
    for (let from: Place | undefined; ; ) {
      const to = this.#endOfTurn(from)
      const turn = listed({ from, to })
      const values = [...found.flatMap((each) => each.values), ...turn.values]
      const [count = 0, events = 0] = this.#database.get(`${select} AND ${turn.sql}`, values) ?? []
      sum = { count: sum.count + Number(count), events: sum.events + Number(events) }
      if (to === undefined) return sum
      from = to
      await nextTurn()
    }
  }

  /** The index alone knows it. Undefined: the rest is not more than a turn takes. */
  #endOfTurn(from: Place | undefined, state?: SessionState): Place | undefined {
    const { sql, values } = listed({ from, state })
    const nth = `SELECT pinned, created_at, id FROM sessions WHERE ${sql} ${LIST_ORDER} LIMIT 1 OFFSET ?`
    return this.#database.get(nth, [...values, TURN_ROWS - 1])
  }

  /** Of several with this key the newest: the one before it was stopped. */
  find({ by, key }: SessionKey): string | undefined {
    const row = this.#database.get(`SELECT id FROM sessions WHERE ${KEYS[by]} = ? ORDER BY number DESC LIMIT 1`, [key])
    return row === undefined ? undefined : String(row[0])
  }

  before(id: string): readonly string[] {
    return this.#database
      .all("SELECT id FROM sessions WHERE next = ? LIMIT ?", [id, MAX_LISTED])
      .map(([each]) => String(each))
  }

  unfinished(): readonly string[] {
    return this.#database.all(UNFINISHED, []).map(([id]) => String(id))
  }

  save({ record, own }: KeptSession, isAtRest: boolean): void {
    const { id, createdAt, updatedAt, title, state, pinned, runner, agentSessionId, next = null } = record
    // Only what is not in memory is looked for here, and while it is this changes with every line.
    const lastUuid = isAtRest && state !== "ended" && own.launch === undefined ? own.lastAgentUuid : null
    const text = [wordsOf(record), JSON.stringify(record), JSON.stringify(own)]
    const about = [createdAt, title, state, pinned ? 1 : 0, runner, agentSessionId]
    const keys = [...about, own.requestKey, next, lastUuid, isAtRest ? 1 : 0]
    // Most saves change no column that an index has.
    if (this.#database.run(SAVE_TEXT, [updatedAt, ...text, id, ...keys]) === 0) {
      this.#database.run(SAVE_ALL, [id, updatedAt, ...keys, ...text])
    }
  }
}

/** Rows whose words are looked at in one turn. */
const TURN_ROWS = 4_000
const LIST_ORDER = "ORDER BY pinned DESC, created_at DESC, id DESC"

/** Where a session stands in the list. */
type Place = readonly SqlValue[]

interface Listed extends Pick<SessionFilter, "q" | "quietSince" | "archived"> {
  readonly from: Place | undefined
  readonly to?: Place | undefined
  readonly state?: SessionState | undefined
}

function placeOf({ pinned, createdAt, id }: ListPlace): Place {
  return [pinned ? 1 : 0, createdAt, id]
}

/** Rows after one place, up to another and with it, as a condition. */
function listed({ from, to, state, q = "", quietSince, archived }: Listed): {
  readonly sql: string
  readonly values: readonly SqlValue[]
} {
  const conditions = [
    { sql: "(pinned, created_at, id) < (?, ?, ?)", values: from },
    { sql: "(pinned, created_at, id) >= (?, ?, ?)", values: to },
    { sql: "state = ?", values: state && [state] },
    { sql: "(words IS NULL OR instr(words, ?) > 0)", values: q === "" ? undefined : [q.toLowerCase()] },
    { sql: "updated_at < ?", values: quietSince === undefined ? undefined : [quietSince] },
    { sql: "json_extract(record, '$.archived') = ?", values: archived === undefined ? undefined : [archived ? 1 : 0] },
  ].filter(({ values }) => values !== undefined)
  const sql = ["TRUE", ...conditions.map((each) => each.sql)].join(" AND ")
  return { sql, values: conditions.flatMap(({ values }) => values ?? []) }
}

const KEY_COLUMNS = "created_at, title, state, pinned, runner, agent_session, request_key, next, last_uuid, at_rest"
const TEXT_COLUMNS = "words, record, own"
const SAME_KEYS = KEY_COLUMNS.split(", ")
  .map((column) => `${column} IS ?`)
  .join(" AND ")
const SAVE_TEXT = `UPDATE sessions SET updated_at = ?, words = ?, record = ?, own = ? WHERE id = ? AND ${SAME_KEYS}`
const SAVE_ALL = `INSERT INTO sessions (id, updated_at, ${KEY_COLUMNS}, ${TEXT_COLUMNS})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, ${`${KEY_COLUMNS}, ${TEXT_COLUMNS}`
    .split(", ")
    .map((column) => `${column} = excluded.${column}`)
    .join(", ")}`

/** Messages of a conversation that went on elsewhere go along with it; those of one that is over wait for its next message. */
const UNFINISHED = `
  SELECT sessions.id FROM sessions WHERE number IN (
    SELECT number FROM sessions WHERE at_rest = 0
    UNION SELECT sessions.number FROM sessions JOIN asks ON asks.session = sessions.id WHERE asks.state = 'pending'
    UNION SELECT sessions.number FROM sessions JOIN asks ON asks.session = sessions.id
      WHERE asks.undelivered = 1 AND asks.delivered_at IS NULL
    UNION SELECT sessions.number FROM sessions JOIN messages ON messages.session = sessions.id
      WHERE messages.state IN ('waiting', 'sent') AND (sessions.state <> 'ended' OR sessions.next IS NOT NULL)
  ) ORDER BY number`

/** What a search of the list looks at. */
export function wordsOf({ title, cwd, lastLine, model, id }: SessionRecord): string {
  return [title, cwd, lastLine, model, id]
    .filter((text) => text != null)
    .join("\n")
    .toLowerCase()
}

/** Records of an older hub lack these. */
export const UNTOLD = { pinned: false }

function toRecord([record]: SqlRow): SessionRecord {
  const kept: SessionRecord = { ...UNTOLD, ...JSON.parse(String(record)) }
  return kept
}

function toSession([record, own]: SqlRow): KeptSession {
  const kept: KeptSession = { record: { ...UNTOLD, ...JSON.parse(String(record)) }, own: JSON.parse(String(own)) }
  return kept
}
