import { workerData } from "node:worker_threads"
import { followLog } from "../search/search-loop.js"
import { PostgresReader } from "./reader.js"
import { PostgresTextIndex } from "./text-index.js"

/** A search that takes longer is given up by whoever asked. */
const TIMEOUT_MS = 10_000

/** @type {{ readonly url: string, readonly signal: Int32Array }} */
const { url, signal } = workerData
followLog(new PostgresTextIndex(new PostgresReader(url, TIMEOUT_MS)), signal)
