import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import { COMMITS, IS_ASLEEP } from "./search-signal.js"
import { TextIndex } from "./text-index.js"

/** @import { FromSearchThread, SearchThreadData, ToSearchThread } from "./search-messages.ts" */

/** A commit within this time: there is traffic, which goes first. */
const TRAFFIC_MS = 50
/** While there is, it rests after each step for so many times what the step took, and no less than that. */
const REST = { times: 9, atLeastMs: 20 }
/** The index cannot be written: the disk, most likely. */
const TROUBLE_MS = 5000
const NICE = 10

/** @type {SearchThreadData} */
const { logFile, indexFile, signal } = workerData
const index = new TextIndex(logFile, indexFile)
const life = { isClosed: false }
/** Those who wait until it has come so far. @type {{ readonly id: number, readonly upTo: number }[]} */
let waiters = []
let endRest = () => {}

// Only there is the priority one of the thread and not of the whole process.
if (process.platform === "linux") setPriority(0, NICE)

/** @param {FromSearchThread} message */
function tell(message) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
  parentPort?.postMessage(message)
}

/** @param {ToSearchThread} message */
function take(message) {
  switch (message.kind) {
    case "search":
      answer(message.id, () => ({ kind: "found", id: message.id, reply: index.search(message.query) }))
      break
    case "catch-up":
      answer(message.id, () => {
        waiters.push({ id: message.id, upTo: index.logEnd })
      })
      endRest()
      break
    case "wake":
      endRest()
      break
    case "close":
      life.isClosed = true
      endRest()
      break
  }
}

/** @param {number} id @param {() => FromSearchThread | void} work */
function answer(id, work) {
  try {
    const message = work()
    if (message !== undefined) tell(message)
  } catch (error) {
    tell({ kind: "failed", id, reason: error instanceof Error ? error.message : String(error) })
  }
}

/** @param {number | undefined} ms without it until it is woken */
function rest(ms) {
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
    endRest = () => {
      clearTimeout(timer)
      resolve(undefined)
    }
  })
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function tellCaughtUp() {
  const { indexedTo } = index
  for (const { id, upTo } of waiters) if (upTo <= indexedTo) tell({ kind: "caught-up", id })
  waiters = waiters.filter(({ upTo }) => upTo > indexedTo)
}

async function sleep() {
  Atomics.store(signal, IS_ASLEEP, 1)
  // Something may have been committed just before that, and nobody would say so.
  if (index.logEnd === index.indexedTo && !life.isClosed) await rest(undefined)
  Atomics.store(signal, IS_ASLEEP, 0)
  // Whoever commits once commits again: the first step takes it all.
  if (waiters.length === 0 && !life.isClosed) await rest(TRAFFIC_MS)
}

async function work() {
  let commits = Atomics.load(signal, COMMITS)
  let busyAt = 0
  while (!life.isClosed) {
    const startedAt = performance.now()
    const hasWorked = index.step()
    tellCaughtUp()
    const now = performance.now()
    const committed = Atomics.load(signal, COMMITS)
    if (committed !== commits) busyAt = now
    commits = committed
    if (!hasWorked) await sleep()
    else if (waiters.length === 0 && now - busyAt < TRAFFIC_MS)
      await rest(Math.max(REST.atLeastMs, REST.times * (now - startedAt)))
    else await nextTurn()
  }
}

async function workOn() {
  while (!life.isClosed) {
    try {
      await work()
    } catch (error) {
      // An index can be made up for: it goes on when the disk is well again. Whoever waits is told.
      const reason = error instanceof Error ? error.message : String(error)
      for (const { id } of waiters.splice(0)) tell({ kind: "failed", id, reason })
      if (!life.isClosed) await rest(TROUBLE_MS)
    }
  }
  index.close()
  parentPort?.close()
}

parentPort?.on("message", take)
void workOn()
