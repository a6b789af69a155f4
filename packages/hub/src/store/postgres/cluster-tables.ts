import type { Pool } from "pg"
import type { ClusterStore, HubRow, SeenHub } from "../cluster-store.ts"
import { postgresFailure } from "./connection.ts"
import { type SqlRow, type SqlValue, send } from "./statement.ts"

const moment = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const COLUMNS = `id, url, version, wire, sessions, runners, viewers, ${moment("started_at")}, ${moment("seen_at")}, started_at`
/** The statement sees the table as it was before it, so its own row comes from what it wrote. */
const BEAT = `
  WITH me AS (
    INSERT INTO hubs (id, url, version, wire, sessions, runners, viewers) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (id) DO UPDATE SET seen_at = now(), sessions = excluded.sessions, runners = excluded.runners, viewers = excluded.viewers
    RETURNING *
  ), gone AS (
    DELETE FROM hubs WHERE id <> $1 AND seen_at < now() - interval '1 hour'
  )
  SELECT ${COLUMNS} FROM me
  UNION ALL SELECT ${COLUMNS} FROM hubs WHERE id <> $1 AND seen_at > now() - make_interval(secs => $8::float8 / 1000)
  ORDER BY started_at, id`
const LEAVE = "DELETE FROM hubs WHERE id = $1"

/** Has connections of its own: a hub renews its place however busy the others are. */
export class ClusterTables implements ClusterStore {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async beat({ id, url, version, wire, sessions, runners, viewers }: HubRow, leaseMs: number) {
    const rows = await this.#all(BEAT, [id, url, version, wire, sessions, runners, viewers, leaseMs])
    return rows.map(toHub)
  }

  async leave(hub: string): Promise<void> {
    await this.#all(LEAVE, [hub])
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #all(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    try {
      return (await send(this.#pool, { text, values })).rows
    } catch (error) {
      throw postgresFailure(error, "The database cannot be reached: look at its server and its address")
    }
  }
}

function toHub([id, url, version, wire, sessions, runners, viewers, startedAt, seenAt]: SqlRow): SeenHub {
  return {
    id: String(id),
    url: String(url),
    version: String(version),
    wire: Number(wire),
    sessions: Number(sessions),
    runners: Number(runners),
    viewers: Number(viewers),
    startedAt: String(startedAt),
    seenAt: String(seenAt),
  }
}
