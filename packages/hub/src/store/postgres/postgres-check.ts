import type { Client } from "pg"
import { HubError, reasonOf } from "../../errors.ts"
import { connectWriter, postgresFailure, requirePostgresUrl, SCHEMA, shownUrl, sqlState } from "./connection.ts"

/** A database as people are told of it. */
export interface PostgresSurvey {
  /** `PostgreSQL 15.4`. */
  readonly server: string
  /** 0: a hub was never there. */
  readonly schema: number
  readonly bytes: number
  readonly rows: Readonly<Record<string, number>>
}

/** The oldest that is tested with. */
const LEAST_VERSION = 15
/** A table of a copy that is not finished. */
export const COPY_TABLE = "unfinished_copy"

const MAY_CREATE = `SELECT has_database_privilege(current_database(), 'CREATE') OR to_regnamespace('${SCHEMA}') IS NOT NULL`
const COUNTS = `SELECT
  (SELECT count(*) FROM sessions WHERE true), (SELECT coalesce(sum(last_seq - deleted_to), 0) FROM logs WHERE name IS NOT NULL),
  (SELECT count(*) FROM asks WHERE true), (SELECT count(*) FROM messages), (SELECT count(*) FROM tokens WHERE true),
  (SELECT count(*) FROM audit)`
const COUNTED = ["sessions", "events", "asks", "messages", "tokens", "audit"]

/** Refuses a database that a hub cannot work with, and says what to do. */
export async function requirePostgres(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await requireVersion(client, url)
    if ((await valueOf(client, "SHOW transaction_read_only")) === "on")
      throw refusal(`${shownUrl(url)} is read-only`, "give the address of the primary, or make the database writable")
    if ((await valueOf(client, MAY_CREATE)) !== true) throw mayNotCreate(url)
    if ((await valueOf(client, `SELECT to_regclass('${SCHEMA}.${COPY_TABLE}') IS NOT NULL`)) === true)
      throw refusal(
        `a copy into ${shownUrl(url)} is not finished`,
        'go on with it: "signalbox move --to" the same address',
      )
  })
}

/** The state of the database, whether its hub runs or not. */
export function surveyPostgres(url: string): Promise<PostgresSurvey> {
  return withClient(url, async (client) => {
    const server = `PostgreSQL ${await requireVersion(client, url)}`
    const bytes = Number(await valueOf(client, "SELECT pg_database_size(current_database())"))
    if ((await valueOf(client, `SELECT to_regclass('${SCHEMA}.store') IS NOT NULL`)) !== true)
      return { server, schema: 0, bytes, rows: {} }
    const schema = Number(await valueOf(client, "SELECT version FROM store"))
    const { rows } = await client.query({ text: COUNTS, rowMode: "array" })
    const counts = COUNTED.map((table, at) => [table, Number(rows[0]?.[at] ?? 0)])
    return { server, schema, bytes, rows: Object.fromEntries(counts) }
  })
}

async function withClient<T>(url: string, run: (client: Client) => Promise<T>): Promise<T> {
  requirePostgresUrl(url)
  try {
    const client = await connectWriter(url, `${SCHEMA} check`)
    try {
      return await run(client)
    } finally {
      await client.end()
    }
  } catch (error) {
    throw startFailure(error, url)
  }
}

async function requireVersion(client: Client, url: string): Promise<string> {
  const version = String(await valueOf(client, "SHOW server_version"))
  if (Number.parseInt(version, 10) >= LEAST_VERSION) return version
  throw refusal(`${shownUrl(url)} is PostgreSQL ${version}`, `use version ${LEAST_VERSION} or newer`)
}

async function valueOf(client: Client, text: string): Promise<unknown> {
  const { rows } = await client.query({ text, rowMode: "array" })
  return rows[0]?.[0]
}

/** Reasons of the network, of the driver and of the server, as one line: what happened, then what to do. */
export function startFailure(error: unknown, url: string): HubError {
  if (error instanceof HubError) return error
  const place = shownUrl(url)
  const reason = reasonOf(error)
  const state = sqlState(error) ?? ""
  if (state === "28P01" || state === "28000" || /password must be a(?: non-empty)? string/.test(reason))
    return refusal(
      `${place} refused the sign-in`,
      "set PGPASSWORD, or name a password file with PGPASSFILE, and check the user",
    )
  if (state === "3D000") return refusal(`${place} does not exist`, `create it: createdb ${databaseIn(url)}`)
  if (state === "42501") return mayNotCreate(url)
  if (state === "25006")
    return refusal(`${place} is read-only`, "give the address of the primary, or make the database writable")
  if (state === "53300") return refusal(`${place} has no connection left`, "raise max_connections, or end some")
  if (state === "57P03") return refusal(`${place} is starting or stopping`, "try again in a moment")
  if (state !== "") return postgresFailure(error, `${place} cannot be used`)
  return refusal(`can't reach ${place} (${reason})`, "start it, or check the address")
}

function mayNotCreate(url: string): HubError {
  const todo = `GRANT CREATE ON DATABASE ${databaseIn(url)} TO that user`
  return refusal(`the user may not create tables in ${shownUrl(url)}`, todo)
}

function databaseIn(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1))
}

/** A check shows both parts apart. */
function refusal(found: string, todo: string): HubError {
  return new HubError("start/store", `${found}: ${todo}`, { details: { found, todo } })
}
