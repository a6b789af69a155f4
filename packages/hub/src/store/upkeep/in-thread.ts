import { Worker } from "node:worker_threads"
import { reasonOf } from "../../errors.ts"
import { isUnreadableSchema } from "./database-file.ts"

/**
 * How far a check goes. `pages`: SQLite reads every page. `indexes`: it also compares every index with its table. `lines` and `whole`:
 * every compressed block is unpacked too.
 */
export type Extent = "pages" | "indexes" | "lines" | "whole"

export type ThreadTask =
  | { readonly kind: "copy"; readonly file: string; readonly partial: string }
  | { readonly kind: "check"; readonly file: string; readonly extent: Extent }

export type ThreadOutcome =
  | { readonly problem: string | undefined }
  | { readonly failed: { readonly code: string; readonly message: string } }

export async function copyInThread(file: string, partial: string): Promise<void> {
  await inThread({ kind: "copy", file, partial })
}

/** Why a database is not sound. Undefined: it is. */
export async function problemOf(file: string, extent: Extent): Promise<string | undefined> {
  try {
    return await inThread({ kind: "check", file, extent })
  } catch (error) {
    if (!isUnreadableSchema(error)) throw error
    return reasonOf(error)
  }
}

/**
 * SQLite holds up the thread it runs in, for minutes with a large file: a signal would not be heard. Settles when the thread has ended,
 * and with it everything it had open.
 */
function inThread(task: ThreadTask): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./upkeep-thread.js", import.meta.url), { workerData: task, execArgv: [] })
    let outcome: ThreadOutcome = { failed: { code: "", message: "the thread that reads the database ended early" } }
    worker.on("message", (message: ThreadOutcome) => {
      outcome = message
    })
    worker.on("error", reject)
    worker.on("exit", () => {
      if ("problem" in outcome) resolve(outcome.problem)
      else reject(Object.assign(new Error(outcome.failed.message), { code: outcome.failed.code }))
    })
  })
}
