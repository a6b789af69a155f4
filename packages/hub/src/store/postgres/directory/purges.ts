import { leftInRow, leftInRun, type PurgedTable, runNamed, runOf } from "../../../model/purged.ts"
import type { NewAuditRecord } from "../../directory.ts"
import { bigintArray, textArray } from "../binary-array.ts"
import type { Reader, SqlRow, Statement } from "../statement.ts"
import { fromStored, toStored } from "../stored-text.js"
import { auditValues, insertAudit } from "./audit.ts"

/** One step deals with no more than this, but with one row at least. */
const STEP_ROWS = 100
const STEP_BYTES = 512 * 1024
/** Each may be megabytes long. */
const STEP_MESSAGES = 20

/** Rows that stay, and what numbers them. */
const KINDS: Readonly<Record<string, { readonly table: PurgedTable; readonly number: "number" | "id" }>> = {
  calls: { table: "seen_calls", number: "number" },
  asks: { table: "asks", number: "number" },
  audit: { table: "audit", number: "id" },
}
type Kind = (typeof KINDS)[string]
/** In their order. */
const PARTS = ["messages", "small", "run", ...Object.keys(KINDS)] as const

const BEGIN = `
  WITH gone AS (DELETE FROM sessions WHERE id = $1 RETURNING id, runner), begun AS (
    INSERT INTO purges (session, part, after, runner) SELECT id, '${PARTS[0]}', 0, runner FROM gone
    ON CONFLICT (session) DO UPDATE SET part = excluded.part, after = excluded.after, runner = excluded.runner
  )
  ${insertAudit(2)} FROM gone`

const DELETE_MESSAGES = `
  WITH gone AS (
    DELETE FROM messages WHERE number IN (SELECT number FROM messages WHERE session = $1 LIMIT ${STEP_MESSAGES})
    RETURNING number
  )
  UPDATE purges SET part = '${PARTS[1]}' WHERE session = $1 AND (SELECT count(*) FROM gone) < ${STEP_MESSAGES}`

/**
 * Read marks are as many as people. Nobody can show an agent's token any more. Uses of rules still count on their day. A permission that the hub gave went with the
 * session; one in a settings file holds on.
 */
const DELETE_SMALL = `
  WITH marks AS (DELETE FROM read_marks WHERE session = $1),
    calls AS (DELETE FROM seen_calls WHERE session = $1 AND md5(tool_use) = md5('') AND tool_use = ''),
    clients AS (DELETE FROM documents WHERE name = $2),
    agents AS (DELETE FROM tokens WHERE session = $1 AND role = 'agent'),
    used AS (DELETE FROM rule_uses WHERE session = $1 RETURNING rule, day, uses),
    counted AS (
      INSERT INTO rule_uses (session, rule, day, uses) SELECT '', rule, day, uses FROM used
      ON CONFLICT (session, md5(rule), day) DO UPDATE SET uses = rule_uses.uses + excluded.uses
    ),
    given AS (DELETE FROM grants WHERE session = $1 AND place IN ('hub', 'session'))
  UPDATE purges SET part = '${PARTS[2]}' WHERE session = $1`

const READ_DOCUMENT = "SELECT xmin::text, value FROM documents WHERE name = $1"

/** `xmin` changes with every change of the row. */
function selectOf({ table, number }: Kind): string {
  return `
    SELECT number, version, body FROM (
      SELECT ${number} AS number, xmin::text AS version, body,
        sum(octet_length(body)) OVER reading AS total, row_number() OVER reading AS nth
      FROM ${table} WHERE session = $1 AND ${number} > $2
      WINDOW reading AS (ORDER BY ${number} ROWS UNBOUNDED PRECEDING) LIMIT ${STEP_ROWS}
    ) AS counted
    WHERE total <= ${STEP_BYTES} OR nth = 1 ORDER BY number`
}

/** Audits of a machine find its records without the session. */
const KEEP_RUNNER = ", runner = coalesce(audit.runner, (SELECT purges.runner FROM purges WHERE session = $1))"

/**
 * A row that was changed since it was read is left, and the step is done again. A row without a new body goes: nobody can read it, and
 * it may still quote what was said.
 */
function rewriteOf({ table, number }: Kind): string {
  const isTheRow = `${table}.${number} = given.number AND ${table}.xmin::text = given.version`
  return `
    WITH given AS MATERIALIZED (
      SELECT * FROM unnest($4::bigint[], $5::text[], $6::text[]) AS given (number, version, body)
    ), changed AS (
      UPDATE ${table} SET body = given.body${table === "audit" ? KEEP_RUNNER : ""} FROM given
      WHERE ${isTheRow} AND given.body IS NOT NULL RETURNING 1
    ), gone AS (
      DELETE FROM ${table} USING given WHERE ${isTheRow} AND given.body IS NULL RETURNING 1
    )
    UPDATE purges SET part = $2, after = $3
    WHERE session = $1
      AND (SELECT count(*) FROM changed) + (SELECT count(*) FROM gone) = (SELECT count(*) FROM given)`
}

/** A run that was changed since it was read is left, as above. The session's link to it goes with the change. */
const LEAVE_RUN = `
  WITH changed AS (
    UPDATE documents SET value = $4 WHERE name = $2 AND xmin::text = $3 RETURNING 1
  ), gone AS (
    DELETE FROM documents WHERE name = $5 AND EXISTS (SELECT FROM changed)
  )
  UPDATE purges SET part = '${PARTS[3]}' WHERE session = $1 AND EXISTS (SELECT FROM changed)`
const DROP_LINK = `
  WITH gone AS (DELETE FROM documents WHERE name = $2)
  UPDATE purges SET part = '${PARTS[3]}' WHERE session = $1`

const END = "DELETE FROM purges WHERE session = $1"

/**
 * Sessions that are being purged. The session itself is gone with the first step; then follow, part by part, the things that hang on it.
 */
export class PurgeTable {
  readonly #reader: Reader

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Changes no row when there is no such session. */
  begin(session: string, audit: NewAuditRecord): Statement {
    return { text: BEGIN, values: [toStored(session), ...auditValues(audit)] }
  }

  /** A part of the first of them. Undefined: there is none. */
  async next(): Promise<Statement | undefined> {
    const row = await this.#reader.get("SELECT session, part, after FROM purges ORDER BY session LIMIT 1", [])
    if (row === undefined) return undefined
    const [session, part, after] = [String(row[0]), String(row[1]), Number(row[2])]
    const kind = KINDS[part]
    if (kind !== undefined) return this.#rewrite(kind, { session, part, after })
    if (part === PARTS[0]) return { text: DELETE_MESSAGES, values: [session] }
    const name = fromStored(session)
    if (part === PARTS[2]) return this.#leaveRun(session, name)
    return { text: DELETE_SMALL, values: [session, toStored(`clients/${name}`)] }
  }

  async #leaveRun(session: string, name: string): Promise<Statement> {
    const link = toStored(runOf(name))
    const [, id] = (await this.#reader.get(READ_DOCUMENT, [link])) ?? []
    // The id in quotation marks. It has nothing to escape.
    const run = id === undefined ? link : toStored(runNamed(String(id).slice(1, -1)))
    const [version, value] = (id === undefined ? undefined : await this.#reader.get(READ_DOCUMENT, [run])) ?? []
    if (value === undefined) return { text: DROP_LINK, values: [session, link] }
    const left = leftInRun(String(value), name) ?? "null"
    return { text: LEAVE_RUN, values: [session, run, String(version), left, link] }
  }

  async #rewrite(kind: Kind, at: { session: string; part: string; after: number }): Promise<Statement> {
    const { session, part, after } = at
    const rows = await this.#reader.all(selectOf(kind), [session, after])
    const last = rows.at(-1)
    if (last === undefined) return nextPart(session, part)
    const values = [
      bigintArray(rows.map(([number]) => Number(number))),
      textArray(rows.map(([, version]) => String(version))),
      textArray(rows.map(([, , body]: SqlRow) => leftInRow(kind.table, String(body)))),
    ]
    return { text: rewriteOf(kind), values: [session, part, Number(last[0]), ...values] }
  }
}

function nextPart(session: string, part: string): Statement {
  const next = PARTS[PARTS.findIndex((name) => name === part) + 1]
  if (next === undefined) return { text: END, values: [session] }
  return { text: "UPDATE purges SET part = $2, after = 0 WHERE session = $1", values: [session, next] }
}
