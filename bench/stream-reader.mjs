// One measurement in a process of its own: `node stream-reader.mjs <floor|URL of an SDK> <messages> [slow]` reads all
// messages of the stream writer and prints what that took. Only this process is counted, not the writer.
import { spawn } from "node:child_process"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"

const [how = "floor", count = "200000", pace = "fast"] = process.argv.slice(2)
const writer = fileURLToPath(new URL("./stream-writer.mjs", import.meta.url))
const env = { PATH: process.env["PATH"] ?? "", BENCH_MESSAGES: count }
const user = { type: "user", session_id: "", message: { role: "user", content: "go" }, parent_tool_use_id: null }
/** A slow reader rests for a millisecond after this many messages. */
const SLOW_EVERY = 400
const MEMORY_EVERY = 10_000

/** What anybody would write first: split at newlines and parse. */
async function readPlainly() {
  const child = spawn(process.execPath, [writer], { env, stdio: ["pipe", "pipe", "inherit"] })
  child.stdin.write(`${JSON.stringify(user)}\n`)
  let seen = 0
  let rest = ""
  for await (const text of child.stdout.setEncoding("utf8")) {
    const lines = (rest + text).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const message = JSON.parse(line)
      if (message.type === "stream_event") seen++
      if (message.type === "result") child.stdin.end()
    }
  }
  return { seen, memory: [] }
}

/** @param {(typeof import("@signalbox/sdk"))["query"]} query */
async function readWith(query) {
  const options = { pathToClaudeCodeExecutable: writer, env, includePartialMessages: true }
  let seen = 0
  /** @type {number[]} */
  const memory = []
  for await (const message of query({ prompt: "go", options })) {
    if (message.type === "stream_event") seen++
    if (pace === "slow" && seen % SLOW_EVERY === 0) await delay(1)
    if (pace === "slow" && seen % MEMORY_EVERY === 0) memory.push(process.memoryUsage().rss)
  }
  return { seen, memory }
}

const query = how === "floor" ? undefined : (await import(how)).query
const startCpu = process.cpuUsage()
const start = performance.now()
const { seen, memory } = query === undefined ? await readPlainly() : await readWith(query)
const wallMs = performance.now() - start
const { user: userTime, system } = process.cpuUsage(startCpu)
if (seen !== Number(count)) throw new Error(`${seen} of ${count} messages came`)
process.stdout.write(JSON.stringify({ wallMs, cpuMs: (userTime + system) / 1000, memory }))
