import { parentPort, workerData } from "node:worker_threads"
import { Connection } from "../search/connection.js"
import { openLog } from "../search/index-file.js"
import { checkedBlocks } from "./checked-blocks.js"

/** @import { Extent, ThreadOutcome, ThreadTask } from "./in-thread.ts" */

// Copies or checks a database on a connection of its own: nobody who writes waits for it, and the thread that asked hears signals.

/** @type {ThreadTask} */
const task = workerData

/** @param {string} file @param {string} partial */
function copy(file, partial) {
  const connection = new Connection(file, "PRAGMA busy_timeout = 5000")
  try {
    // The copy of an older version's file can be shrunk. Only for those: in any other, SQLite would write this down.
    if (connection.first("PRAGMA auto_vacuum")[0] === 0) connection.exec("PRAGMA auto_vacuum = INCREMENTAL")
    connection.exec(`VACUUM INTO '${partial.replaceAll("'", "''")}'`)
  } finally {
    connection.close()
  }
}

/** @param {string} file @param {Extent} extent @returns {string | undefined} */
function problemIn(file, extent) {
  const connection = openLog(file)
  try {
    const check = extent === "pages" || extent === "lines" ? "quick_check" : "integrity_check"
    const [told] = connection.first(`PRAGMA ${check}(1)`)
    if (told !== "ok") return String(told)
    if (extent === "pages" || extent === "indexes") return undefined
    for (const { damage } of checkedBlocks((sql, values) => connection.rows(sql, values)))
      if (damage !== undefined) return damage
    return undefined
  } finally {
    connection.close()
  }
}

/** @returns {ThreadOutcome} */
function work() {
  try {
    if (task.kind === "check") return { problem: problemIn(task.file, task.extent) }
    copy(task.file, task.partial)
    return { problem: undefined }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : ""
    return { failed: { code, message: error instanceof Error ? error.message : String(error) } }
  }
}

const outcome = work()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
parentPort?.postMessage(outcome)
