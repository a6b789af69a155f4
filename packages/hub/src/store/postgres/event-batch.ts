import { hash } from "node:crypto"
import type { Client } from "pg"
import { HubError } from "../../errors.ts"
import type { NewEvent, StoredEvent } from "../../model/event.ts"
import type { Appended } from "../event-log.ts"
import { bigintArray, intArray, textArray, uuidArray } from "./binary-array.ts"
import type { Fence } from "./fences.ts"
import { type SqlRow, type Statement, send } from "./statement.ts"
import { toStored } from "./stored-text.js"

/** Events for one session's log. `result` and `log` are filled in when they are written, anew with every try. */
export interface AppendJob {
  readonly kind: "append"
  readonly session: string
  readonly events: readonly NewEvent[]
  /** The hub that has the session, where hubs share the database. */
  readonly fence?: Fence | undefined
  /** Hubs that shared the database may have claimed it. */
  readonly isAnyones?: boolean
  result: Appended
  log: number
}

/** A hub that is alone claims nothing. */
const UNCLAIMED = 0
/** The transaction has checked it already, or a hub that is alone writes what hubs have claimed before. */
const ANY_EPOCH = -1
const KEY_BYTES = 16

/** Guarded, since a conflict would use up a number. */
const MAKE_LOGS = `
  INSERT INTO logs (name)
  SELECT name FROM unnest($1::text[]) AS given (name)
  WHERE NOT EXISTS (SELECT FROM logs WHERE logs.name = given.name)
  ON CONFLICT (name) DO NOTHING`

/**
 * Everything in one statement: which keys are there already, the numbers for the rest, and their rows. Sessions of the batch have a
 * place (1, 2, …); an event has its session's place and a rank among its events. Numbers and first numbers of the logs are looked up in
 * arrays, since a join would go through all sessions for each event. Gives a row for each session, with the number before its first new
 * event, and one for each event that is a repeat.
 */
const APPEND = `
  WITH given AS MATERIALIZED (
    SELECT g.place::int AS place, g.epoch, g.added, (SELECT number FROM logs WHERE logs.name = g.name) AS log
    FROM unnest($1::text[], $2::int[], $3::int[]) WITH ORDINALITY AS g (name, epoch, added, place)
  ), found AS MATERIALIZED (
    SELECT array_agg(log ORDER BY place) AS logs FROM given
  ), repeats AS MATERIALIZED (
    SELECT k.place, k.rank, k.nth
    FROM found, unnest($4::int[], $5::int[], $6::uuid[]) WITH ORDINALITY AS k (place, rank, key_id, nth)
    WHERE (SELECT 1 FROM events WHERE events.log = found.logs[k.place] AND events.key_id = k.key_id) = 1
  ), heads AS (
    UPDATE logs
    SET last_seq = last_seq + given.added - (SELECT count(*) FROM repeats WHERE repeats.place = given.place)
    FROM given WHERE logs.number = given.log AND (logs.epoch = given.epoch OR given.epoch = ${ANY_EPOCH})
    RETURNING given.place, logs.number AS log,
      (last_seq - given.added + (SELECT count(*) FROM repeats WHERE repeats.place = given.place))::int AS base
  ), places AS MATERIALIZED (
    SELECT array_agg(log ORDER BY place) AS logs, array_agg(base ORDER BY place) AS bases FROM heads
  ), kept AS (
    INSERT INTO events (log, seq, at, origin, by, key, key_id, bytes, line)
    SELECT places.logs[n.place],
      places.bases[n.place] + n.rank
        - (SELECT count(*) FROM repeats WHERE repeats.place = n.place AND repeats.rank < n.rank),
      n.at, n.origin, n.by, n.key, n.key_id, n.bytes, n.line
    FROM places,
      unnest($4::int[], $5::int[], $7::bigint[], $8::text[], $9::text[], $10::text[], $6::uuid[], $11::int[], $12::text[])
        WITH ORDINALITY AS n (place, rank, at, origin, by, key, key_id, bytes, line, nth)
    WHERE cardinality(places.logs) = cardinality($1::text[])
      AND NOT EXISTS (SELECT FROM repeats WHERE repeats.nth = n.nth)
  )
  SELECT place, log, base, NULL FROM heads UNION ALL SELECT NULL, NULL, NULL, nth FROM repeats`

interface Session {
  readonly name: string
  readonly place: number
  /** Events that are written unless they are repeats. */
  count: number
  /** Keys that came before in this batch. */
  readonly keys: Set<string>
  readonly epoch: number
}

interface Row {
  readonly session: Session
  readonly rank: number
  readonly event: NewEvent
}

/** The appends of one transaction, written together. An event whose key came before in the batch is left out here, others are in the database. */
export class EventBatch {
  readonly #jobs: readonly AppendJob[]
  readonly #sessions = new Map<string, Session>()
  readonly #rows: Row[] = []
  /** For each event of each job, in their order, its place among the rows. */
  readonly #placeOf: (number | undefined)[] = []

  constructor(jobs: readonly AppendJob[]) {
    this.#jobs = jobs
    for (const { session, events, isAnyones, fence } of jobs) {
      const head = this.#sessionOf(session, isAnyones === true || fence !== undefined ? ANY_EPOCH : UNCLAIMED)
      for (const event of events) this.#placeOf.push(this.#take(head, event))
    }
  }

  /** Sends at once what there is to send. A session whose log somebody else writes fails the batch. */
  async run(client: Client): Promise<void> {
    const names = [...this.#sessions.values()].map(({ name }) => toStored(name))
    const made = send(client, { text: MAKE_LOGS, values: [textArray(names)] })
    const [, { rows }] = await Promise.all([made, send(client, this.#statement(names))])
    this.#settle(rows)
  }

  #sessionOf(name: string, epoch: number): Session {
    const known = this.#sessions.get(name)
    if (known !== undefined) return known
    const session = { name, place: this.#sessions.size + 1, count: 0, keys: new Set<string>(), epoch }
    this.#sessions.set(name, session)
    return session
  }

  #take(session: Session, event: NewEvent): number | undefined {
    if (event.key !== undefined) {
      if (session.keys.has(event.key)) return undefined
      session.keys.add(event.key)
    }
    return this.#rows.push({ session, rank: ++session.count, event })
  }

  #statement(names: readonly string[]): Statement {
    const sessions = [...this.#sessions.values()]
    const keys = this.#rows.map(({ event: { key } }) => (key === undefined ? null : toStored(key)))
    const events = this.#rows.map(({ event }) => event)
    return {
      text: APPEND,
      values: [
        textArray(names),
        intArray(sessions.map(({ epoch }) => epoch)),
        intArray(sessions.map(({ count }) => count)),
        intArray(this.#rows.map(({ session }) => session.place)),
        intArray(this.#rows.map(({ rank }) => rank)),
        uuidArray(keys.map((key) => (key === null ? null : keyId(key)))),
        bigintArray(events.map(({ at }) => at)),
        textArray(events.map(({ from }) => from)),
        textArray(events.map(({ by }) => (by === undefined ? null : toStored(by)))),
        textArray(keys),
        intArray(events.map(({ line }) => Buffer.byteLength(line))),
        textArray(events.map(({ line }) => toStored(line))),
      ],
    }
  }

  #settle(rows: readonly SqlRow[]): void {
    const heads = new Map<number, { readonly log: number; lastSeq: number }>()
    const repeats = new Set<number>()
    for (const [place, log, base, nth] of rows) {
      if (place === null) repeats.add(Number(nth))
      else heads.set(Number(place), { log: Number(log), lastSeq: Number(base) })
    }
    let index = 0
    for (const job of this.#jobs) {
      const head = heads.get(this.#sessions.get(job.session)?.place ?? 0)
      if (head === undefined) throw notOurs(job.session)
      const stored: StoredEvent[] = []
      for (const event of job.events) {
        const nth = this.#placeOf[index++]
        if (nth !== undefined && !repeats.has(nth)) stored.push({ ...event, seq: ++head.lastSeq })
      }
      job.log = head.log
      job.result = { stored, lastSeq: head.lastSeq }
    }
  }
}

/** Two keys with one id would take 2^64 tries to find. */
export function keyId(storedKey: string): Uint8Array {
  return hash("sha256", storedKey, "buffer").subarray(0, KEY_BYTES)
}

function notOurs(session: string): HubError {
  return new HubError("store/failed", `Session ${session} is written by another hub, or was deleted there.`)
}
