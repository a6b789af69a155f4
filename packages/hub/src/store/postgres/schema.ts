import type { Client } from "pg"
import { HubError } from "../../errors.ts"
import { postgresFailure, SCHEMA } from "./connection.ts"
import { sql as first } from "./migrations/001-first.ts"
import { sql as search } from "./migrations/002-search.ts"
import { sql as cluster } from "./migrations/003-cluster.ts"
import { sql as runners } from "./migrations/004-runners.ts"
import { sql as requestKeys } from "./migrations/005-request-keys.ts"
import { sql as unheardAnswers } from "./migrations/006-unheard-answers.ts"

/** In the order of their numbers. One that was released is never changed: the next one mends it. */
const MIGRATIONS: readonly string[] = [first, search, cluster, runners, requestKeys, unheardAnswers]

/** Two hubs that start at once take turns. */
const MIGRATION_LOCK = 7_418_529_630
/** Columns with long text, by their tables. */
const LONG_TEXT = {
  events: ["line"],
  messages: ["line"],
  sessions: ["record", "own", "reply"],
  asks: ["body"],
  audit: ["body"],
}

/** Brings the database to this version, each step in a transaction of its own. */
export async function migratePostgres(client: Client, migrations: readonly string[] = MIGRATIONS): Promise<void> {
  await client.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK])
  try {
    const version = await versionOf(client)
    if (version > migrations.length) throw newer(version, migrations.length)
    for (const [index, sql] of migrations.entries()) {
      if (index >= version) await applyStep(client, index + 1, sql)
    }
  } finally {
    // Without a connection it is gone anyway.
    await client.query("SELECT pg_advisory_unlock($1)", [MIGRATION_LOCK]).catch(() => undefined)
  }
}

/** 0: there are no tables yet. */
async function versionOf(client: Client): Promise<number> {
  const { rows } = await client.query({
    text: "SELECT to_regclass($1) IS NOT NULL",
    values: [`${SCHEMA}.store`],
    rowMode: "array",
  })
  if (rows[0]?.[0] !== true) return 0
  const kept = await client.query({ text: "SELECT version FROM store", rowMode: "array" })
  return Number(kept.rows[0]?.[0] ?? 0)
}

async function applyStep(client: Client, number: number, sql: string): Promise<void> {
  try {
    await client.query("BEGIN")
    if (number === 1) await client.query(firstTables())
    await client.query(sql)
    if (number === 1) await compressLongText(client)
    await client.query("UPDATE store SET version = $1", [number])
    await client.query("COMMIT")
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined)
    throw postgresFailure(error, `Step ${number} of bringing the database up to date failed; it was left as it was`)
  }
}

/** `identity` tells two databases apart, also one that was copied over another. */
function firstTables(): string {
  return `
    CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
    CREATE TABLE store (version integer NOT NULL, identity uuid NOT NULL DEFAULT gen_random_uuid());
    INSERT INTO store (version) VALUES (0)`
}

/** With lz4 where the server was built with it: reading is several times as fast as with PostgreSQL's own. */
async function compressLongText(client: Client): Promise<void> {
  const { rows } = await client.query({
    text: "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'",
    rowMode: "array",
  })
  if (rows[0]?.[0] !== true) return
  for (const [table, columns] of Object.entries(LONG_TEXT)) {
    for (const column of columns) await client.query(`ALTER TABLE ${table} ALTER COLUMN ${column} SET COMPRESSION lz4`)
  }
}

function newer(version: number, known: number): HubError {
  return new HubError(
    "store/failed",
    `The database was written by a newer version of Signalbox (its schema is ${version}, this version knows ${known}). Start that version, or use another database.`,
    { details: { storeVersion: version, knownVersion: known } },
  )
}
