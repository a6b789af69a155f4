// What was ever done must not weigh on a hub: 20,000 sessions that have ended, against one.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openStore } from "../packages/hub/dist/store/open-store.js"
import { call, residentKb, startHub } from "./hub-process.mjs"
import { best, figureOf, samplesInTurns } from "./measure.mjs"

const MANY = 20_000
const AT_ONCE = 500
const PAGES = 20
const REPLY = {
  commands: Array.from({ length: 40 }, (_, n) => ({ name: `command-${n}`, description: "x".repeat(80) })),
}
const TOKENS = { input: 1_000, output: 100, cacheRead: 0, cacheCreation: 0 }

/** A data directory with so many sessions that have ended, each with what an agent that was started by hand leaves. @param {number} count */
export async function history(count) {
  const data = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
  const { stop } = await startHub(data)
  await stop()
  const store = openStore({ file: join(data, "signalbox.db") })
  for (let begin = 0; begin < count; begin += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - begin) }, (_, n) => begin + n)
    await Promise.all(numbers.flatMap((number) => endedSession(store, number)))
  }
  await store.close()
  return data
}

/** @param {import("../packages/hub/dist/store/open-store.js").Store} store @param {number} number */
function endedSession({ directory, log }, number) {
  const id = `session-${number}`
  const at = new Date(Date.UTC(2030, 0, 1) + number * 60_000).toISOString()
  const events = Array.from({ length: 3 }, (_, n) => ({
    at: Date.parse(at) + n,
    from: /** @type {const} */ ("agent"),
    key: `${id}-${n}`,
    line: JSON.stringify({
      type: "assistant",
      uuid: `${id}-${n}`,
      message: { content: [{ type: "text", text: "Done." }] },
    }),
  }))
  const record = {
    id,
    title: `Session ${number}`,
    state: /** @type {const} */ ("ended"),
    agentSessionId: `agent-${number}`,
    cwd: "/home/somebody/project",
    model: "a model",
    permissionMode: "default",
    cliVersion: "2.1.325",
    transport: null,
    runner: null,
    archived: false,
    pinned: false,
    createdAt: at,
    updatedAt: at,
    lastSeq: events.length,
    lastLine: "Done.",
    exit: { reason: "stopped", at },
    turns: 1,
    costUsd: 0.01,
    tokens: TOKENS,
  }
  const own = {
    incarnation: `process-${number}`,
    lastAgentUuid: `${id}-2`,
    costBase: 0,
    initializeReply: REPLY,
    hooks: [],
    requestKey: `key-${number}`,
    agent: "external",
  }
  const token = {
    id: `token-${number}`,
    role: /** @type {const} */ ("agent"),
    name: `agent of ${id}`,
    hash: `hash-${number}`,
  }
  return [
    log.append(id, events),
    directory.saveSession({ record, own }, { isAtRest: true }),
    directory.addToken({ ...token, sessionId: id, createdAt: at, expiresAt: null, revokedAt: at }),
  ]
}

/** @param {string} data */
async function measure(data) {
  const begun = performance.now()
  const hub = await startHub(data)
  const readyMs = performance.now() - begun
  await call(hub, "/api/sessions")
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const memoryMb = residentKb(hub.pid) / 1024
  const listing = performance.now()
  for (let page = 0; page < PAGES; page += 1) await call(hub, "/api/sessions?limit=100")
  const listMs = (performance.now() - listing) / PAGES
  await hub.stop()
  return { readyMs, memoryMb, listMs }
}

export async function hubHistory() {
  // The first page of 100 against one that is as full: it is the history behind it that differs.
  const folders = [await history(MANY), await history(100), await history(1)]
  const [many = [], page = [], one = []] = await samplesInTurns(folders.map((data) => () => measure(data)))
  for (const data of folders) rmSync(data, { recursive: true })
  const long = (/** @type {string} */ key) => ({ name: `${MANY} ended sessions`, value: best(many, key) })
  const ready = [long("readyMs"), { name: "one", value: best(one, "readyMs") }]
  const memory = [long("memoryMb"), { name: "one, and 30 MB", value: best(one, "memoryMb") + 30 }]
  const list = [long("listMs"), { name: "100", value: best(page, "listMs") }]
  return [
    figureOf({ title: "hub ready, with a long history", unit: "ms", atMost: 1.5, rows: ready }),
    figureOf({ title: "hub memory, with a long history", unit: "MB", atMost: 1, rows: memory }),
    figureOf({ title: "first page of the sessions, with a long history", unit: "ms", atMost: 2, rows: list }),
  ]
}
