import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import { parsePolicy } from "@signalbox/policy/schemas"
import { POSTGRES } from "../postgres/recorded-sql.js"
import { WaitingConnection } from "../postgres/waiting-connection.js"
import { openLog } from "../search/index-file.js"
import { Comparison } from "./comparison.js"
import { RecordedRequests } from "./recorded-requests.js"
import { suggest } from "./suggest.js"

/** @import { BacktestThreadData, FromBacktestThread } from "./backtest-messages.ts" */

const PROGRESS_MS = 250
const NICE = 10

/** @type {BacktestThreadData} */
const { store, job, stop, timeoutMs } = workerData
const endsAt = performance.now() + timeoutMs
let toldAt = 0
let judged = 0
let total = 0

// Linux alone has a priority for each thread; elsewhere it would be that of the whole process. Somebody waits for their change to be put in force.
if (process.platform === "linux" && job.kind !== "denied") setPriority(0, NICE)

/** @param {FromBacktestThread} message */
function tell(message) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
  parentPort?.postMessage(message)
}

function tellProgress() {
  toldAt = performance.now()
  tell({ kind: "progress", judged: Math.min(judged, total), total })
}

/** Called for each request: whether to go on. */
function goesOn() {
  judged++
  if (performance.now() - toldAt > PROGRESS_MS) tellProgress()
  return Atomics.load(stop, 0) === 0 && performance.now() < endsAt
}

/** @param {RecordedRequests} requests @returns {FromBacktestThread} */
function work(requests) {
  const { kind, inForce, since } = job
  if (kind === "suggest") {
    total = 2 * requests.count(since)
    return { kind: "done", result: suggest(requests, { inForce, since, goesOn }) }
  }
  const parsed = parsePolicy(job.proposed)
  if (!parsed.ok) return { kind: "invalid", problems: parsed.problems }
  total = kind === "test" ? requests.count(since) : 0
  tellProgress()
  const comparison = new Comparison({ inForce, proposed: parsed.policy, maxExamples: job.maxExamples })
  for (const recorded of requests.newestFirst({ since, ...(kind === "denied" ? { only: kind } : {}) })) {
    if (!goesOn()) return { kind: "done", result: comparison.result(false) }
    comparison.take(recorded)
  }
  return { kind: "done", result: comparison.result(true) }
}

function run() {
  const isPostgres = /^postgres(?:ql)?:/i.test(store)
  const log = isPostgres ? new WaitingConnection(store, stop) : openLog(store)
  try {
    return work(isPostgres ? new RecordedRequests(log, POSTGRES) : new RecordedRequests(log))
  } finally {
    log.close()
  }
}

try {
  tell(run())
} catch (error) {
  tell({ kind: "failed", reason: error instanceof Error ? error.message : String(error) })
}
