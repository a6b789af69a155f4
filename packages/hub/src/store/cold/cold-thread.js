import { statfsSync } from "node:fs"
import { setPriority } from "node:os"
import { dirname } from "node:path"
import { parentPort, workerData } from "node:worker_threads"
import { openLog } from "../search/index-file.js"
import { ColdSessions } from "./cold-sessions.js"

/** @import { ColdThreadData, FromColdThread, ToColdThread } from "./cold-messages.ts" */

/** To make room takes some first: with less than this nothing is compressed. */
const LEAST_FREE_BYTES = 64 * 1024 * 1024
const NICE = 10

/** @type {ColdThreadData} */
const { file, before, stop } = workerData
const log = openLog(file)
const sessions = new ColdSessions(log, before)

// Linux alone has a priority for each thread; elsewhere it would be that of the whole process.
if (process.platform === "linux") setPriority(0, NICE)

/** @param {FromColdThread} message */
function tell(message) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
  parentPort?.postMessage(message)
}

const life = { isOver: false }

function end() {
  if (life.isOver) return
  life.isOver = true
  log.close()
  parentPort?.close()
}

function hasRoom() {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize >= LEAST_FREE_BYTES
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Until the next block, or the end. */
async function work() {
  while (!life.isOver && Atomics.load(stop, 0) === 0 && hasRoom()) {
    const step = sessions.step()
    if (step.kind === "block") return tell(step)
    if (step.kind === "end") {
      tell({ kind: "done", isLeft: sessions.isLeft })
      break
    }
    await nextTurn()
  }
  end()
}

parentPort?.on("message", (/** @type {ToColdThread} */ message) => {
  if (message === "next") void work()
  else end()
})
void work()
