import { workerData } from "node:worker_threads"
import { followLog } from "./search-loop.js"
import { TextIndex } from "./text-index.js"

/** @import { SearchThreadData } from "./search-messages.ts" */

/** @type {SearchThreadData} */
const { logFile, indexFile, signal } = workerData
followLog(new TextIndex(logFile, indexFile), signal)
