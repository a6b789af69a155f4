import type { Client } from "pg"
import { movedError } from "../store-failure.ts"
import { intArray, textArray } from "./binary-array.ts"
import { sqlState } from "./connection.ts"
import { send } from "./statement.ts"
import { toStored } from "./stored-text.js"

/** By which a write of a session is known to be its owner's. A later claim, of another hub or of the same, has a higher epoch. */
export interface Fence {
  readonly session: string
  readonly epoch: number
  /** Its row is made with its first write: nobody else can know of it before. */
  isNew: boolean
}

const FIRST_EPOCH = 1
const DIVISION_BY_ZERO = "22012"
const MAKE = `
  INSERT INTO logs (name, epoch, owner)
  SELECT name, ${FIRST_EPOCH}, $2::uuid FROM unnest($1::text[]) AS given (name)
  WHERE NOT EXISTS (SELECT FROM logs WHERE logs.name = given.name)
  ON CONFLICT (name) DO NOTHING`
/** Holds the rows until the transaction ends, so that nobody claims a session in the middle of it. Fails unless every epoch is still the one that was given. */
const HOLD = `
  SELECT 1 / (count(*) = cardinality($1::text[]))::int FROM (
    SELECT logs.number FROM unnest($1::text[], $2::int[]) AS given (name, epoch)
    JOIN logs ON logs.name = given.name AND logs.epoch = given.epoch AND logs.owner = $3::uuid
    ORDER BY logs.name FOR NO KEY UPDATE OF logs
  ) AS held`

/** The sessions that this hub writes, where hubs share a database. */
export class Fences {
  readonly hub: string
  readonly #held = new Map<string, Fence>()
  #round: Fence[] = []

  constructor(hub: string) {
    this.hub = hub
  }

  /** A session that is new. */
  begin(session: string): void {
    this.#held.set(session, { session, epoch: FIRST_EPOCH, isNew: true })
  }

  hold(session: string, epoch: number): void {
    this.#held.set(session, { session, epoch, isNew: false })
  }

  drop(session: string): void {
    this.#held.delete(session)
  }

  epochOf(session: string): number | undefined {
    return this.#held.get(session)?.epoch
  }

  /** Some of those whose rows are there, others at the next call, until all had their turn. */
  next(most: number): readonly Fence[] {
    if (this.#round.length === 0) this.#round = [...this.#held.values()]
    return this.#round.splice(0, most).filter((fence) => !fence.isNew && this.#held.get(fence.session) === fence)
  }

  /** For a write that is made now. Another hub's session is not written. */
  of(session: string): Fence {
    const fence = this.#held.get(session)
    if (fence === undefined) throw movedError(session)
    return fence
  }

  /** The first step of a transaction with writes of these sessions. */
  async check(client: Client, fences: readonly Fence[]): Promise<void> {
    const byName = new Map<string, Fence>()
    for (const fence of fences) {
      const other = byName.get(fence.session)
      // Written before it was lost, and again after it was claimed anew.
      if (other !== undefined && other.epoch !== fence.epoch) throw movedError(fence.session)
      byName.set(fence.session, fence)
    }
    const all = [...byName.values()]
    const made = all.filter(({ isNew }) => isNew).map(({ session }) => toStored(session))
    const names = all.map(({ session }) => toStored(session))
    const making = made.length === 0 ? undefined : send(client, { text: MAKE, values: [textArray(made), this.hub] })
    const values = [textArray(names), intArray(all.map(({ epoch }) => epoch)), this.hub]
    try {
      await Promise.all([making, send(client, { text: HOLD, values })])
    } catch (error) {
      throw sqlState(error) === DIVISION_BY_ZERO ? movedError(all[0]?.session ?? "") : error
    }
  }
}
