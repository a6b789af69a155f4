// A cold session against the same one while it is warm: what it takes on disk, how long its end takes to open, and how long the
// hub's thread is held for a block.
import { randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { openDatabase } from "../packages/hub/dist/store/database.js"
import { openStore } from "../packages/hub/dist/store/open-store.js"
import { best, figureOf, median, samplesInTurns } from "./measure.mjs"

const fixture = join(
  dirname(dirname(fileURLToPath(import.meta.url))),
  "packages/protocol/test/fixtures/2.1.325/three-turns.stdio.ndjson",
)
const SESSIONS = 100
const REPETITIONS = 60
/** The page that the cockpit asks for when it opens a session. */
const TAIL_EVENTS = 200
const BOUND_COMMIT_MS = 5

/** Three turns as the real CLI said them, again and again, each message with an id of its own. */
function turns() {
  const lines = readFileSync(fixture, "utf8").trim().split("\n").slice(1)
  return Array.from({ length: REPETITIONS }, () => lines)
    .flat()
    .map((line, at) => {
      const key = randomUUID()
      return { at, from: /** @type {const} */ ("agent"), key, line: line.replace(/"uuid":"[^"]+"/, `"uuid":"${key}"`) }
    })
}

/** Pages that hold something. @param {string} file */
function bytesIn(file) {
  const database = openDatabase(file)
  const [pages = 0, free = 0, size = 0] = ["page_count", "freelist_count", "page_size"].map((name) =>
    Number(database.get(`PRAGMA ${name}`, [])?.[0]),
  )
  database.close()
  return (pages - free) * size
}

/** Each session once, so that no block is there from before. @param {string} file */
async function openEnds(file) {
  const store = openStore({ file })
  const before = REPETITIONS * 9 + 1
  await store.log.read("session-0", { before, limit: TAIL_EVENTS })
  const begun = performance.now()
  for (let n = 1; n < SESSIONS; n++) {
    const events = await store.log.read(`session-${n}`, { before, limit: TAIL_EVENTS })
    if (events.length !== TAIL_EVENTS) throw new Error(`${events.length} events were read, not ${TAIL_EVENTS}`)
  }
  const openMs = (performance.now() - begun) / (SESSIONS - 1)
  await store.close()
  return { openMs }
}

export async function figures() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
  const files = { warm: join(folder, "warm", "signalbox.db"), cold: join(folder, "cold", "signalbox.db") }
  /** @type {{ ms: number }[]} */
  const commits = []
  try {
    for (const file of Object.values(files)) {
      mkdirSync(dirname(file))
      let isCompressing = false
      const onCommitted = (/** @type {{ durationMs: number }} */ { durationMs: ms }) => {
        if (isCompressing) commits.push({ ms })
      }
      const store = openStore({ file, onCommitted })
      for (let n = 0; n < SESSIONS; n++) await store.log.append(`session-${n}`, turns())
      await store.search.caughtUp()
      isCompressing = file === files.cold
      if (isCompressing) await store.compression.compressAll()
      await store.close()
    }
    const [warm = [], cold = []] = await samplesInTurns([files.warm, files.cold].map((file) => () => openEnds(file)))
    const megabytes = (/** @type {string} */ file) => bytesIn(file) / 1024 / 1024
    return [
      figureOf({
        title: `a session of ordinary turns, compressed: ${SESSIONS} of them`,
        unit: "MB",
        atMost: 1 / 3,
        rows: [
          { name: "cold", value: megabytes(files.cold) },
          { name: "warm", value: megabytes(files.warm) },
        ],
      }),
      figureOf({
        title: `the last ${TAIL_EVENTS} events of a session`,
        unit: "ms",
        atMost: 2,
        rows: [
          { name: "cold", value: best(cold, "openMs") },
          { name: "warm (floor)", value: best(warm, "openMs") },
        ],
      }),
      figureOf({
        title: "the hub's thread, while a block is committed",
        unit: "ms",
        atMost: 1,
        rows: [
          { name: "median", value: median(commits, "ms") },
          { name: "the bound", value: BOUND_COMMIT_MS },
        ],
      }),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
