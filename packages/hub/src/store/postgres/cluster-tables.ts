import type { Pool } from "pg"
import { HubError } from "../../errors.ts"
import {
  type Claimed,
  type ClusterStore,
  type HubRow,
  LEASE_MS,
  type LostSession,
  type OwnedSession,
  type RunnerRow,
  type SeenHub,
} from "../cluster-store.ts"
import { intArray, textArray } from "./binary-array.ts"
import { postgresFailure } from "./connection.ts"
import type { Fences } from "./fences.ts"
import type { PostgresJournal } from "./postgres-journal.ts"
import { type SqlRow, type SqlValue, send } from "./statement.ts"
import { fromStored, toStored } from "./stored-text.js"

export interface ClusterTablesOptions {
  readonly pool: Pool
  /** For renewing the hub's place, and for nothing else. */
  readonly beats: Pool
  readonly journal: PostgresJournal
  readonly fences: Fences
}

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

/** An insert that finds the row there would use up a number. */
const CLAIM = `
  WITH updated AS (
    UPDATE logs SET epoch = epoch + 1, owner = $2::uuid
    WHERE name = $1 AND ($3 OR owner IS NULL OR owner = $2::uuid OR NOT EXISTS (
      SELECT FROM hubs WHERE hubs.id = logs.owner AND seen_at > now() - make_interval(secs => $4::float8 / 1000)))
    RETURNING epoch
  ), made AS (
    INSERT INTO logs (name, epoch, owner) SELECT $1, 1, $2::uuid WHERE NOT EXISTS (SELECT FROM logs WHERE name = $1)
    ON CONFLICT (name) DO NOTHING RETURNING epoch
  )
  SELECT epoch FROM updated UNION ALL SELECT epoch FROM made`
const RELEASE = "UPDATE logs SET owner = $2::uuid WHERE name = $1"
const OWNERS = `
  SELECT given.name, logs.owner, (SELECT count(*) FROM asks WHERE asks.session = given.name AND asks.state = 'pending'),
    coalesce(logs.last_seq, 0)
  FROM unnest($1::text[]) AS given (name) LEFT JOIN logs ON logs.name = given.name`
const LOST = `
  SELECT given.name, given.epoch FROM unnest($1::text[], $2::int[]) AS given (name, epoch)
  JOIN logs ON logs.name = given.name WHERE logs.epoch <> given.epoch OR logs.owner IS DISTINCT FROM $3::uuid`
const LOOKED_AT_ONCE = 1_000
const JOINED = `
  INSERT INTO runners (id, hub, epoch, draining, body) VALUES ($1, $2, 1, false, $3)
  ON CONFLICT (id) DO UPDATE SET hub = excluded.hub, epoch = runners.epoch + 1, body = excluded.body RETURNING epoch`
const CHANGED = "UPDATE runners SET body = $3 WHERE id = $1 AND hub = $2::uuid RETURNING epoch"
const LEFT = "UPDATE runners SET hub = NULL, body = $3 WHERE id = $1 AND hub = $2::uuid"
/** No start takes as long: one that could not be let go of is over by then. */
const CLAIM_KEY = `
  INSERT INTO request_keys AS kept (key, hub) VALUES ($1, $2::uuid)
  ON CONFLICT (key) DO UPDATE SET hub = excluded.hub, claimed_at = now()
  WHERE kept.hub = excluded.hub OR kept.claimed_at < now() - interval '5 minutes' OR NOT EXISTS (
    SELECT FROM hubs WHERE hubs.id = kept.hub AND seen_at > now() - make_interval(secs => $3::float8 / 1000))
  RETURNING hub`
const RELEASE_KEY = "DELETE FROM request_keys WHERE key = $1 AND hub = $2::uuid"
const MAX_RUNNERS = 2_000
const CLAIM_TRIES = 5
const SMALL_BYTES = 200

/** Has connections of its own: a hub renews its place however busy the others are. */
export class ClusterTables implements ClusterStore {
  readonly #pool: Pool
  readonly #beats: Pool
  readonly #journal: PostgresJournal
  readonly #fences: Fences

  constructor({ pool, beats, journal, fences }: ClusterTablesOptions) {
    this.#pool = pool
    this.#beats = beats
    this.#journal = journal
    this.#fences = fences
  }

  get hub(): string {
    return this.#fences.hub
  }

  async claim(session: string, { leaseMs, force }: { leaseMs: number; force: boolean }): Promise<Claimed> {
    for (let tries = 1; tries <= CLAIM_TRIES; tries++) {
      const [row] = await this.#all(CLAIM, [toStored(session), this.hub, force, leaseMs])
      if (row !== undefined) {
        this.#fences.hold(session, Number(row[0]))
        return { isOurs: true }
      }
      const { owner } = (await this.owners([session])).get(session) ?? {}
      if (owner !== undefined && owner !== this.hub) return { isOurs: false, owner }
      // Let go of, claimed and let go of, or claimed by this hub too, in the same moment.
    }
    throw new HubError("hub/busy", `Session ${session} goes from hub to hub: try again in a moment.`)
  }

  begin(session: string): void {
    this.#fences.begin(session)
  }

  async release(session: string, next?: string): Promise<void> {
    const epoch = this.#fences.epochOf(session)
    if (epoch === undefined) return
    const values = [toStored(session), next ?? null]
    await this.#journal.write(
      { text: RELEASE, values },
      { bytes: SMALL_BYTES, refusable: true, session, isAfterEvents: true },
    )
    if (this.#fences.epochOf(session) === epoch) this.#fences.drop(session)
  }

  drop(session: string): void {
    this.#fences.drop(session)
  }

  async lost(): Promise<readonly LostSession[]> {
    const fences = this.#fences.next(LOOKED_AT_ONCE)
    if (fences.length === 0) return []
    const names = fences.map(({ session }) => toStored(session))
    const rows = await this.#all(LOST, [textArray(names), intArray(fences.map(({ epoch }) => epoch)), this.hub])
    return rows.map(([name, epoch]) => ({ session: fromStored(String(name)), epoch: Number(epoch) }))
  }

  epochOf(session: string): number | undefined {
    return this.#fences.epochOf(session)
  }

  async owners(sessions: readonly string[]): Promise<ReadonlyMap<string, OwnedSession>> {
    const rows = await this.#all(OWNERS, [sessions.map(toStored)])
    return new Map(
      rows.map(([name, owner, pendingAsks, lastSeq]) => [
        fromStored(String(name)),
        {
          owner: owner === null ? undefined : String(owner),
          pendingAsks: Number(pendingAsks),
          lastSeq: Number(lastSeq),
        },
      ]),
    )
  }

  async beat({ id, url, version, wire, sessions, runners, viewers }: HubRow, leaseMs: number) {
    const values = [id, url, version, wire, sessions, runners, viewers, leaseMs]
    const rows = await this.#all(BEAT, values, this.#beats)
    return rows.map(toHub)
  }

  async leave(hub: string): Promise<void> {
    await this.#all(LEAVE, [hub])
  }

  async claimKey(key: string): Promise<boolean> {
    return (await this.#all(CLAIM_KEY, [toStored(key), this.hub, LEASE_MS])).length > 0
  }

  async releaseKey(key: string): Promise<void> {
    await this.#all(RELEASE_KEY, [toStored(key), this.hub])
  }

  async runnerJoined(id: string, told: unknown): Promise<number> {
    const [row] = await this.#all(JOINED, [toStored(id), this.hub, toStored(JSON.stringify(told))])
    return Number(row?.[0])
  }

  async runnerChanged(id: string, told: unknown): Promise<boolean> {
    return (await this.#all(CHANGED, [toStored(id), this.hub, toStored(JSON.stringify(told))])).length > 0
  }

  async runnerLeft(id: string, told: unknown): Promise<void> {
    await this.#all(LEFT, [toStored(id), this.hub, toStored(JSON.stringify(told))])
  }

  async drainRunner(id: string, draining: boolean): Promise<void> {
    await this.#all("UPDATE runners SET draining = $2 WHERE id = $1", [toStored(id), draining])
  }

  async forgetRunner(id: string): Promise<void> {
    await this.#all("DELETE FROM runners WHERE id = $1", [toStored(id)])
  }

  async runners(): Promise<readonly RunnerRow[]> {
    const rows = await this.#all(
      `SELECT id, hub, epoch, draining, body FROM runners ORDER BY id LIMIT ${MAX_RUNNERS}`,
      [],
    )
    return rows.map(([id, hub, epoch, draining, body]) => ({
      id: fromStored(String(id)),
      hub: hub === null ? undefined : String(hub),
      epoch: Number(epoch),
      draining: draining === true,
      told: JSON.parse(fromStored(String(body))),
    }))
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#beats.end()])
  }

  async #all(text: string, values: readonly SqlValue[], pool = this.#pool): Promise<readonly SqlRow[]> {
    try {
      return (await send(pool, { text, values })).rows
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
