import type { Client, ClientConfig, Pool } from "pg"
import { HubError, reasonOf } from "../../errors.ts"

/** Tables are in a schema of their own, so that a database may be shared with other programs. */
export const SCHEMA = "signalbox"

/** Connections for reading; the writer has one more, and so has whoever indexes. */
const MAX_READERS = 8
const CONNECT_TIMEOUT_MS = 10_000
/** A reader's answer that takes longer never comes. */
const READ_TIMEOUT_MS = 30_000
/** The same for a write: until then people wait for an answer that may be a refusal. */
const WRITE_TIMEOUT_MS = 15_000
const KEEP_ALIVE_MS = 10_000

/**
 * Every session sets these itself: a pooler in between may not pass on what is asked for at the start. The database gives up first, so
 * that nothing is done after its caller was told that it failed.
 */
const readerSettings = (timeoutMs: number) =>
  `SET search_path = ${SCHEMA}; SET statement_timeout = ${Math.floor(timeoutMs * 0.9)}`
/**
 * Writes find their rows by keys: a plan that was made while a table was empty must not go through it when it is large, so it is made
 * once and uses indexes alone. A transaction whose hub is gone must end by itself, since the hub that comes back waits for its locks.
 */
const WRITER_SETTINGS = `
  SET search_path = ${SCHEMA};
  SET synchronous_commit = on;
  SET enable_seqscan = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SET plan_cache_mode = force_generic_plan;
  SET jit = off;
  SET idle_in_transaction_session_timeout = ${WRITE_TIMEOUT_MS};
  SET tcp_keepalives_idle = 10;
  SET tcp_keepalives_interval = 5;
  SET tcp_keepalives_count = 3`

interface PoolLimits {
  readonly max: number
  readonly timeoutMs: number
}

const READERS: PoolLimits = { max: MAX_READERS, timeoutMs: READ_TIMEOUT_MS }

/** A pool of connections for reading. Somebody must end it. */
export async function openPool(url: string, limits: Partial<PoolLimits> = {}): Promise<Pool> {
  const { max, timeoutMs } = { ...READERS, ...limits }
  const pg = await import("pg")
  const pool = new pg.default.Pool({
    ...configOf(url),
    max,
    query_timeout: timeoutMs,
    allowExitOnIdle: true,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, whatever its types say
    onConnect: (client) => client.query(readerSettings(timeoutMs)),
  })
  // A connection that breaks while nobody uses it is left out of the pool, and that is all there is to do.
  pool.on("error", () => undefined)
  return pool
}

/** The one connection that writes: statements are sent without waiting for the ones before. Somebody must close it. */
export async function connectWriter(url: string, name: string, timeoutMs = WRITE_TIMEOUT_MS): Promise<Client> {
  const pg = await import("pg")
  const client = new pg.default.Client({
    ...configOf(url),
    query_timeout: timeoutMs,
    application_name: name,
    pipeline: true,
  })
  // The query that is under way is told too. Without somebody who listens it would end the process.
  client.on("error", () => undefined)
  try {
    await client.connect()
    await client.query(WRITER_SETTINGS)
  } catch (error) {
    cutOff(client)
    throw error
  }
  return client
}

/** At once, whatever is under way: `end` waits for queries that may never be answered. */
export function cutOff(client: Client): void {
  client.connection.stream.destroy()
}

/** Refuses what is no address, without repeating it: it may have a password in it. */
function configOf(url: string): ClientConfig {
  requirePostgresUrl(url)
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    fallback_application_name: SCHEMA,
  }
}

function isPostgresUrl(store: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(store)
}

export function requirePostgresUrl(url: string): void {
  if (isPostgresUrl(url) && URL.canParse(url)) return
  throw new HubError(
    "start/invalid-option",
    "the store's address is not valid: give it as postgres://user@host:5432/database, and the password in PGPASSWORD or a .pgpass file",
  )
}

/** The address without its password and its options, for people and logs. */
export function shownUrl(url: string): string {
  requirePostgresUrl(url)
  const { username, host, pathname } = new URL(url)
  return `postgres://${username === "" ? "" : `${username}@`}${host}${pathname}`
}

/** PostgreSQL's code of an error, if it was PostgreSQL that reported it. */
export function sqlState(error: unknown): string | undefined {
  const isReported = error instanceof Error && "code" in error && "severity" in error
  return isReported && typeof error.code === "string" ? error.code : undefined
}

/** The database says itself that it did not do it. One that ends meanwhile (FATAL) says nothing of the kind. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && "severity" in error && error.severity === "ERROR"
}

/** The values of one write are refused: cardinality, data, integrity, limits. Anything else is the database's own trouble, and may pass. */
export function isOwnFault(error: unknown): boolean {
  return /^(?:21|22|23|54)/.test(sqlState(error) ?? "")
}

/** The connection broke, or was ended on the other side. One that nobody answers on is not lost: it may go on. */
export function isLost(error: unknown): boolean {
  const code = sqlState(error)
  return code === undefined ? !/timeout/i.test(reasonOf(error)) : /^(?:08|57P)/.test(code)
}

const FULL: ReadonlySet<string> = new Set(["53100", "53000"])
const READ_ONLY = "25006"
const TOO_MANY = "53300"
const LOCKED = "55P03"

/**
 * Tells a caller that the database cannot do what it should. Of the driver's error only its message is passed on: its other
 * fields may quote rows, or the address with its password.
 */
export function postgresFailure(error: unknown, what: string): HubError {
  if (error instanceof HubError) return error
  const code = sqlState(error)
  if (code !== undefined && FULL.has(code)) {
    return new HubError(
      "store/full",
      "The database's disk is full: nothing new can be kept until there is room. Free some space there.",
    )
  }
  if (code === READ_ONLY) {
    return new HubError("store/failed", "The database is read-only: point the hub at the primary, or wait for it.")
  }
  if (code === TOO_MANY) {
    return new HubError("store/failed", "The database has no connection left: raise max_connections, or end some.")
  }
  if (code === LOCKED) {
    return new HubError("store/failed", "Another hub uses the database, or one that was cut off is not gone yet.")
  }
  return new HubError("store/failed", `${what} (${whyIn(error)}${code === undefined ? "" : `, ${code}`})`)
}

/** An address with several hosts behind it fails with an error without words of its own. */
function whyIn(error: unknown): string {
  const reason = reasonOf(error)
  return reason === "" && error instanceof AggregateError ? reasonOf(error.errors[0]) : reason
}
