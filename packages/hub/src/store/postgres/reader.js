import pg from "pg"
import { fromStored, toStored } from "./stored-text.js"

const CONNECT_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 10_000
/** The schema of our tables, and how long one statement may take. */
const SETTINGS = "SET search_path = signalbox; SET statement_timeout = "

/** @typedef {string | number | boolean | null | readonly (string | number)[]} Value */

/**
 * The connection of a thread of its own. It connects when it is needed, and again when it broke; each statement is a transaction.
 * Somebody must close it.
 */
export class PostgresReader {
  #url
  #timeoutMs
  /** @type {Promise<pg.Client> | undefined} */
  #client
  /** @type {pg.Client | undefined} */
  #open
  /** One statement at a time. @type {Promise<unknown>} */
  #turn = Promise.resolve()
  #isClosed = false

  /** @param {string} url @param {number} timeoutMs */
  constructor(url, timeoutMs) {
    this.#url = url
    this.#timeoutMs = timeoutMs
  }

  /**
   * @param {string} sql
   * @param {readonly Value[]} [values]
   * @returns {Promise<readonly (readonly unknown[])[]>}
   */
  async rows(sql, values = []) {
    const { rows } = await this.#query(sql, values)
    return rows.map((row) => row.map((value) => (typeof value === "string" ? fromStored(value) : value)))
  }

  /** @param {string} sql @param {readonly Value[]} [values] @returns {Promise<readonly unknown[]>} */
  async first(sql, values) {
    return (await this.rows(sql, values))[0] ?? []
  }

  /** How many rows it changed. @param {string} sql @param {readonly Value[]} values */
  async run(sql, values) {
    return (await this.#query(sql, values)).rowCount ?? 0
  }

  /** At once: what is under way fails. */
  close() {
    this.#isClosed = true
    this.#drop(this.#open)
  }

  /** @param {string} text @param {readonly Value[]} values */
  #query(text, values) {
    const result = this.#turn.then(() => this.#send(text, values))
    this.#turn = result.catch(() => undefined)
    return result
  }

  /** @param {string} text @param {readonly Value[]} values */
  async #send(text, values) {
    const client = await (this.#client ??= this.#connect())
    /** @type {pg.QueryArrayConfig} */
    const query = { text, values: values.map(stored), rowMode: "array" }
    try {
      return await client.query(query)
    } catch (error) {
      // Not the server's own answer: nobody knows what the connection is good for.
      if (!(error instanceof pg.DatabaseError)) this.#drop(client)
      throw error
    }
  }

  async #connect() {
    if (this.#isClosed) throw new Error("the connection is closed")
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // The server ends a statement that takes too long; a server that does not answer at all is left a little later.
      query_timeout: this.#timeoutMs + CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      fallback_application_name: "signalbox",
    })
    this.#open = client
    // The query that is under way is told too. Without somebody who listens it would end the thread.
    client.on("error", () => this.#drop(client))
    client.on("end", () => this.#drop(client))
    try {
      await client.connect()
      await client.query(SETTINGS + this.#timeoutMs)
      return client
    } catch (error) {
      this.#drop(client)
      throw error
    }
  }

  /** Unless there is another one already. @param {pg.Client | undefined} client */
  #drop(client) {
    if (this.#open !== client) return
    this.#client = undefined
    this.#open = undefined
    client?.connection.stream.destroy()
  }
}

/** @param {Value} value @returns {unknown} */
function stored(value) {
  if (typeof value === "string") return toStored(value)
  return Array.isArray(value) ? value.map(stored) : value
}
