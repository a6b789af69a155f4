import { textOf } from "@signalbox/protocol"
import type { AuditRecord } from "@signalbox/protocol/hub-api"
import { purgedAudit } from "../../model/purged.ts"
import type { Database, SqlRow, SqlValue } from "../database.ts"
import type { AuditFilter, NewAuditRecord } from "../directory.ts"
import { MAX_LISTED } from "../directory.ts"
import { isBeingPurged } from "./purges.ts"

/** So many rows are looked at in one turn where no index helps: a filter may fit few of millions. */
const TURN_ROWS = 20_000

const COLUMNS = ["session", "by", "rule", "tool", "what"] as const
const READ = `id, body, ${isBeingPurged("audit")}`
const OF_RUNNER = `(runner = ? OR session IN (SELECT id FROM sessions WHERE runner = ?)
  OR session IN (SELECT session FROM purges WHERE runner = ?))`

export class AuditTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(record: NewAuditRecord): void {
    const { at, what, by, sessionId, details } = record
    const columns = [textOf(details, "rule"), textOf(details, "toolName"), textOf(details, "runner")]
    this.#database.run(
      "INSERT INTO audit (at, what, by, session, rule, tool, runner, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      [at, what, by, sessionId, ...columns.map((text) => text ?? null), JSON.stringify(record)],
    )
  }

  /** A page of them, and between two turns somebody else's. */
  async list(filter: AuditFilter, nextTurn: () => Promise<unknown>): Promise<readonly AuditRecord[]> {
    const isNewest = filter.newestFirst === true
    const rows = filter.session === undefined ? TURN_ROWS : Number.MAX_SAFE_INTEGER
    const most = Math.max(0, Math.min(filter.limit, MAX_LISTED))
    let { after, before } = this.#boundsOf(filter)
    const records: AuditRecord[] = []
    while (after + 1 < before && records.length < most) {
      const [from, to] = isNewest
        ? [Math.max(after, before - 1 - rows), before]
        : [after, Math.min(before, after + 1 + rows)]
      records.push(...this.#within(filter, { from, to, limit: most - records.length }))
      if (isNewest) before = from + 1
      else after = to - 1
      if (after + 1 < before && records.length < most) await nextTurn()
    }
    return records
  }

  /** The ids between which all that is wanted stands, without them. */
  #boundsOf({ after, before = Number.MAX_SAFE_INTEGER, since }: AuditFilter): { after: number; before: number } {
    const [last] = this.#database.get("SELECT max(id) FROM audit", []) ?? []
    const end = Math.min(before, Number(last ?? 0) + 1)
    if (since === undefined) return { after, before: end }
    // They are numbered as they were made.
    const first = this.#database.get("SELECT id FROM audit WHERE at >= ? ORDER BY at, id LIMIT 1", [since])
    return { after: first === undefined ? end : Math.max(after, Number(first[0]) - 1), before: end }
  }

  #within(filter: AuditFilter, { from, to, limit }: { from: number; to: number; limit: number }): AuditRecord[] {
    const conditions = ["id > ?", "id < ?"]
    const values: SqlValue[] = [from, to]
    for (const name of COLUMNS) {
      const wanted = filter[name]
      if (wanted === undefined) continue
      conditions.push(name === "by" ? "by = ? COLLATE NOCASE" : `${name} = ?`)
      values.push(wanted)
    }
    if (filter.runner !== undefined) {
      conditions.push(OF_RUNNER)
      values.push(filter.runner, filter.runner, filter.runner)
    }
    const order = filter.newestFirst === true ? "id DESC" : "id"
    return this.#database
      .all(`SELECT ${READ} FROM audit WHERE ${conditions.join(" AND ")} ORDER BY ${order} LIMIT ?`, [...values, limit])
      .map(toRecord)
  }
}

function toRecord([id, body, isPurged]: SqlRow): AuditRecord {
  const kept: NewAuditRecord = JSON.parse(String(body))
  return { ...(isPurged === 1 ? purgedAudit(kept) : kept), id: Number(id) }
}
