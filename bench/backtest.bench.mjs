// A policy held against 100,000 past requests of cold sessions, half of them tool calls that nobody was asked about: how long it
// takes, and how long the hub's own thread is held meanwhile.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { RecordedRequests } from "../packages/hub/dist/store/backtest/recorded-requests.js"
import { openStore } from "../packages/hub/dist/store/open-store.js"
import { openLog } from "../packages/hub/dist/store/search/index-file.js"
import { figureOf } from "./measure.mjs"

const REQUESTS = 100_000
const SESSIONS = 500
const AT_ONCE = 2_000
const ROUNDS = 5
const BOUND_MS = 10_000
const BOUND_TURN_MS = 50
const START = Date.UTC(2030, 0, 1)

/** Half of what agents ask they asked before. @param {number} n */
function commandOf(n) {
  const again = n % 2 === 0 ? n % 50 : n
  return [
    `npm test -- part-${again}`,
    `git commit -m "change ${again}"`,
    `rm -rf build/${again}`,
    `make x${again} | tee out`,
  ][n % 4]
}

/** @typedef {{ session: string, seq: number, at: string, input: Readonly<Record<string, string | undefined>> }} Place */
/** @typedef {import("../packages/hub/dist/store/open-store.js").Store} Store */

/** Half were judged before they ran, and a tenth of these became requests. @param {Store} store @param {number} n */
function recorded(store, n) {
  const place = {
    session: `session-${n % SESSIONS}`,
    seq: 2 * Math.floor(n / SESSIONS) + 1,
    at: new Date(START + n * 1_000).toISOString(),
    input: { command: commandOf(n), description: `Step ${n}` },
  }
  const isSeen = n % 8 < 4
  const isAsked = !isSeen || n % 40 < 4
  const told = isAsked ? asked(store, n, place) : [called(store, n, place)]
  return [...told, ...(isSeen ? [seen(store, n, place)] : []), answered(store, n, place)]
}

/** The tool's output: a policy does not look at it. @param {Store} store @param {number} n @param {Place} place */
function answered({ log }, n, { session, at }) {
  const content = [{ type: "tool_result", tool_use_id: `toolu-${n}`, content: `line ${n} of its output\n`.repeat(20) }]
  const line = JSON.stringify({ type: "user", message: { role: "user", content } })
  return log.append(session, [{ at: Date.parse(at), from: "agent", key: `result-${n}`, line }])
}

/** The agent's message with the call. @param {Store} store @param {number} n @param {Place} place */
function called({ log }, n, { session, at, input }) {
  const content = [{ type: "tool_use", id: `toolu-${n}`, name: "Bash", input }]
  const line = JSON.stringify({ type: "assistant", message: { role: "assistant", content } })
  return log.append(session, [{ at: Date.parse(at), from: "agent", key: `message-${n}`, line }])
}

/** @param {Store} store @param {number} n @param {Place} place */
function seen({ directory }, n, { session: sessionId, seq, at }) {
  const verdict = { effect: /** @type {const} */ ("allow"), mode: "acceptEdits", cwd: "/srv/app/src" }
  return directory.addSeenCall({ sessionId, toolUseId: `toolu-${n}`, seq, at, tool: "Bash", ...verdict })
}

/** @param {Store} store @param {number} n @param {Place} place */
function asked({ directory, log }, n, { session, seq, at, input }) {
  const request = { subtype: "can_use_tool", tool_name: "Bash", input, tool_use_id: `toolu-${n}` }
  const line = JSON.stringify({ type: "control_request", request_id: `request-${n}`, request })
  const isDenied = n % 20 === 0
  const ask = {
    id: `ask_${n}`,
    sessionId: session,
    seq,
    kind: /** @type {const} */ ("tool"),
    state: isDenied ? /** @type {const} */ ("denied") : /** @type {const} */ ("allowed"),
    requestId: `request-${n}`,
    toolUseId: `toolu-${n}`,
    inputHash: "0".repeat(64),
    toolName: "Bash",
    askedAt: at,
    settledAt: at,
    settledBy: "ada",
    via: /** @type {const} */ ("person"),
    answer: { behavior: isDenied ? "deny" : "allow" },
    deliveredAt: at,
    incarnation: "process",
    judgedIn: { cwd: "/srv/app", mode: "default" },
  }
  return [
    log.append(session, [{ at: Date.parse(at), from: "agent", key: `request-${n}`, line }]),
    directory.addAsk(ask),
  ]
}

/** @param {number} n */
const rule = (n) => ({
  id: `rule-${n}`,
  effect: /** @type {const} */ (["allow", "deny", "ask"])[n % 3] ?? "ask",
  tool: "Bash",
  input: { command: [`tool-${n}`, `tool-${n} *`] },
})

const COMMON = Array.from({ length: 50 }, (_, n) => rule(n))
const inForce = { rules: COMMON, relayAutoApproval: false }
const changed = [
  { id: "tests", effect: "allow", tool: "Bash", input: { command: "npm test *" } },
  { id: "pushes", effect: "deny", tool: "Bash", input: { command: "git push *" } },
  { id: "deploys", effect: "ask", tool: "Bash", input: { command: "deploy *" } },
]
const proposed = { ...inForce, rules: [...COMMON, ...changed] }

/** @param {import("../packages/hub/dist/store/open-store.js").Store} store */
async function testOnce(store) {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const begun = performance.now()
  let judged = 0
  for await (const step of store.backtests.run({ kind: "test", inForce, proposed, maxExamples: 20 })) {
    if ("result" in step) judged = step.result.requests
  }
  const tookMs = performance.now() - begun
  delay.disable()
  if (judged !== REQUESTS) throw new Error(`${judged} requests were judged, not ${REQUESTS}`)
  return { tookMs, turnMs: delay.max / 1e6 }
}

/** The least there is to do: reading what was asked. @param {string} file */
function readOnce(file) {
  const log = openLog(file)
  const begun = performance.now()
  let count = 0
  for (const { request } of new RecordedRequests(log).newestFirst()) if (request !== undefined) count++
  log.close()
  if (count !== REQUESTS) throw new Error(`${count} requests were read, not ${REQUESTS}`)
  return performance.now() - begun
}

export async function figures() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
  const file = join(folder, "signalbox.db")
  const store = openStore({ file })
  try {
    for (let begin = 0; begin < REQUESTS; begin += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => recorded(store, begin + n)).flat())
    }
    await store.compression.compressAll()
    /** @type {{ tookMs: number, turnMs: number, readMs: number }[]} */
    const samples = []
    for (let round = 0; round < ROUNDS; round++) samples.push({ ...(await testOnce(store)), readMs: readOnce(file) })
    /** @param {"tookMs" | "turnMs" | "readMs"} name */
    const least = (name) => Math.min(...samples.map((sample) => sample[name]))
    const what = `${REQUESTS} recorded requests, asked or seen, ${COMMON.length} rules and ${changed.length} more`
    return [
      figureOf({
        title: `backtest: ${what}`,
        unit: "ms",
        atMost: 1,
        rows: [
          { name: "test", value: least("tookMs") },
          { name: "reading them alone (floor)", value: least("readMs") },
          { name: "the bound", value: BOUND_MS },
        ],
      }),
      figureOf({
        title: `backtest: the longest turn of the hub's thread during a test of ${what}`,
        unit: "ms",
        atMost: 1,
        rows: [
          { name: "longest turn", value: least("turnMs") },
          { name: "the bound", value: BOUND_TURN_MS },
        ],
      }),
    ]
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
