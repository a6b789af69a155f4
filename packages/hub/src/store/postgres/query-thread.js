import { workerData } from "node:worker_threads"
import { PostgresReader } from "./reader.js"

/**
 * @import { MessagePort } from "node:worker_threads"
 * @import { Value } from "./reader.js"
 * @import { Answer } from "./waiting-connection.js"
 */

const TIMEOUT_MS = 30_000

/** @type {{ readonly url: string, readonly port: MessagePort, readonly answered: Int32Array }} */
const { url, port, answered } = workerData
const reader = new PostgresReader(url, TIMEOUT_MS)

/** @param {string} sql @param {readonly Value[]} values @returns {Promise<Answer>} */
async function answerTo(sql, values) {
  try {
    return { rows: await reader.rows(sql, values) }
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}

/** @param {{ readonly sql: string, readonly values: readonly Value[] }} question */
async function take({ sql, values }) {
  const answer = await answerTo(sql, values)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
  port.postMessage(answer)
  // The answer is there before its waiter is told: the waiter looks for it at once.
  Atomics.store(answered, 0, 1)
  Atomics.notify(answered, 0)
}

port.on("message", (question) => void take(question))
