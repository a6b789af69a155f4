import type { Client } from "pg"
import { HubError } from "../../errors.ts"
import { connectWriter, cutOff, shownUrl, sqlState } from "./connection.ts"

/** The hub that has this lock of the database writes it, and no other. The server may take a moment to notice that a connection was cut. */
const TAKE_LOCK = "SET lock_timeout = 1000; SELECT pg_advisory_lock(7418529631); SET lock_timeout = 0"
/** Hubs that share the database keep out one that wants it for itself, and it keeps out them. */
const SHARE_LOCK = TAKE_LOCK.replace("pg_advisory_lock", "pg_advisory_lock_shared")
const LOCK_NOT_AVAILABLE = "55P03"
/** A hub that was killed on another machine may take longer. */
const OPEN_TRIES = 5
/** A server that hangs does not say goodbye. */
const END_TIMEOUT_MS = 2_000

/** The one connection over which a hub writes. One that breaks while nobody uses it is made anew for the next who asks. */
export class WriterConnection {
  readonly #url: string
  readonly #name: string
  readonly #lock: string
  #client: Client | undefined

  constructor(url: string, name: string, isShared = false) {
    this.#url = url
    this.#name = name
    this.#lock = isShared ? SHARE_LOCK : TAKE_LOCK
  }

  /** Nobody else writes the database from here on. */
  async open(): Promise<void> {
    for (let tries = 1; this.#client === undefined; tries++) {
      try {
        await this.get()
      } catch (error) {
        if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error
        if (tries === OPEN_TRIES) throw inUse(this.#url)
      }
    }
  }

  async get(): Promise<Client> {
    if (this.#client !== undefined) return this.#client
    const client = await connectWriter(this.#url, this.#name)
    try {
      await client.query(this.#lock)
    } catch (error) {
      cutOff(client)
      throw error
    }
    const forget = () => {
      if (this.#client === client) this.#client = undefined
    }
    client.once("error", forget).once("end", forget)
    this.#client = client
    return client
  }

  /** At once, whatever is under way on it. */
  cut(): void {
    if (this.#client !== undefined) cutOff(this.#client)
    this.#client = undefined
  }

  async close(): Promise<void> {
    const client = this.#client
    if (client === undefined) return
    const late = setTimeout(() => cutOff(client), END_TIMEOUT_MS)
    await client.end()
    clearTimeout(late)
  }
}

function inUse(url: string): HubError {
  return new HubError("start/store", `another hub uses ${shownUrl(url)}: stop it, or name another database`)
}
