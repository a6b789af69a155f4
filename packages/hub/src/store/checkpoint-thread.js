import { parentPort, workerData } from "node:worker_threads"
import Database from "libsql"

// Moves the write-ahead log into the file whenever it is told to, on a connection of its own.

/** @type {{ readonly file: string }} */
const { file } = workerData
const connection = new Database(file)
connection.exec("PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL")

parentPort?.on("message", (message) => {
  if (message === "close") {
    connection.close()
    parentPort?.close()
    return
  }
  try {
    connection.prepare("PRAGMA wal_checkpoint(PASSIVE)").raw().all([])
  } catch {
    // Pages that were not moved now are moved the next time.
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
  parentPort?.postMessage("done")
})
