import type { Client } from "pg"
import { HubError } from "../../errors.ts"
import { isOwnFault, isRefusal, sqlState } from "./connection.ts"
import { type AppendJob, EventBatch } from "./event-batch.ts"
import type { Fence, Fences } from "./fences.ts"
import { type Statement, send, type Written } from "./statement.ts"

/** A write of one statement. `result` is filled in when it is written, anew with every try. */
interface StatementJob {
  readonly kind: "statement"
  readonly statement: Statement
  /** Events that were appended before are written before it. */
  readonly isAfterEvents: boolean
  /** As of an append. */
  readonly fence?: Fence | undefined
  result: Written
}

export type Job = AppendJob | StatementJob

/** Jobs that failed for reasons of their own. */
export type Failures = ReadonlyMap<Job, unknown>

/** Without an answer to the commit nobody knows whether it is in: its mark tells, once the database can be asked. */
export type Outcome =
  | { readonly kind: "committed"; readonly failures: Failures }
  | { readonly kind: "unknown"; readonly failures: Failures; readonly error: unknown }

export interface Work {
  readonly jobs: readonly Job[]
  /** Where hubs share the database. */
  readonly fences?: Fences | undefined
}

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
const IN_FAILED_TRANSACTION = "25P02"
const NONE: Failures = new Map()

/**
 * One transaction for all jobs, with the mark by which it is known again. A job that fails for reasons of its own fails alone. Throws when
 * nothing was committed; the connection is of no use then.
 */
export async function transact(client: Client, mark: Statement, work: Work): Promise<Outcome> {
  // Some job failed, which is rare: once more, each behind a savepoint of its own.
  const failures = (await runAll(client, mark, work)) ?? (await runEach(client, mark, work))
  // Only now, when every result is here: a commit that is in, and was not answered, needs nothing more.
  try {
    const { command } = await client.query("COMMIT")
    if (command !== "COMMIT") throw new HubError("store/failed", "The database did not commit.")
    return { kind: "committed", failures }
  } catch (error) {
    if (error instanceof HubError || isRefusal(error)) throw error
    return { kind: "unknown", failures, error }
  }
}

/** Everything is sent at once and answered together. Undefined: a job failed, and nothing was written. */
async function runAll(client: Client, mark: Statement, work: Work): Promise<Failures | undefined> {
  const begun = [client.query(BEGIN), send(client, mark)]
  const outcomes = await Promise.allSettled([...begun, ...stepsOf(work).map((step) => step(client))])
  const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []))
  if (errors.length === 0) return NONE
  const first: unknown = errors.find((error) => sqlState(error) !== IN_FAILED_TRANSACTION) ?? errors[0]
  if (!isOwn(first)) throw first
  await client.query("ROLLBACK")
  return undefined
}

async function runEach(client: Client, mark: Statement, { jobs, fences }: Work): Promise<Failures> {
  const failures = new Map<Job, unknown>()
  await client.query(BEGIN)
  await send(client, mark)
  for (const job of jobs) {
    await client.query("SAVEPOINT job")
    try {
      for (const step of stepsOf({ jobs: [job], fences })) await step(client)
    } catch (error) {
      if (!isOwn(error)) throw error
      await client.query("ROLLBACK TO job")
      failures.set(job, error)
    }
    await client.query("RELEASE job")
  }
  return failures
}

type Step = (client: Client) => Promise<void>

/** Other hubs' sessions fail first. All events are written together, after the other jobs or before one that must see them. */
function stepsOf({ jobs, fences }: Work): readonly Step[] {
  const held = jobs.flatMap(({ fence }) => fence ?? [])
  const steps: Step[] =
    fences === undefined || held.length === 0 ? [] : [(client: Client) => fences.check(client, held)]
  let appends: AppendJob[] = []
  const flush = () => {
    if (appends.length === 0) return
    const batch = new EventBatch(appends)
    appends = []
    steps.push((client) => batch.run(client))
  }
  for (const job of jobs) {
    if (job.kind === "append") {
      appends.push(job)
      continue
    }
    if (job.isAfterEvents) flush()
    steps.push(async (client) => {
      job.result = await send(client, job.statement)
    })
  }
  flush()
  return steps
}

/** Values that cannot be written out fail here already. */
function isOwn(error: unknown): boolean {
  return error instanceof HubError || error instanceof TypeError || error instanceof RangeError || isOwnFault(error)
}
