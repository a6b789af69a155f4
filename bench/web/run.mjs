// `npm run bench:web`: the cockpit's budgets, measured in a browser on a real hub with simulated agents. A table, and a JSON
// file under bench/results. `npm run bench:web -- soak` adds half an hour of one page.
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isReached, lines } from "./budget.mjs"
import { firstLoad } from "./first-load.mjs"
import { largeRequests } from "./large-request.mjs"
import { askLatency, layoutShift, soak, streaming } from "./live-sessions.mjs"
import { longList } from "./long-list.mjs"
import { firstRows, makeLongSession, memory, scrolling } from "./long-session.mjs"
import { Scene } from "./scene.mjs"

/** @typedef {import("./budget.mjs").Budget} Budget */
/** @typedef {{ id: string, lastSeq: number }} LongSession */

/** @type {Record<string, { byDefault: boolean, run: (scene: Scene, long: () => Promise<LongSession>) => Promise<Budget[]> }>} */
const suites = {
  load: { byDefault: true, run: (scene) => firstLoad(scene) },
  rows: { byDefault: true, run: async (scene, long) => [await firstRows(scene, (await long()).id)] },
  scroll: { byDefault: true, run: async (scene, long) => [await scrolling(scene, (await long()).id)] },
  memory: { byDefault: true, run: async (scene, long) => [await memory(scene, await long())] },
  asks: { byDefault: true, run: async (scene) => [await askLatency(scene)] },
  "large-request": { byDefault: true, run: (scene) => largeRequests(scene) },
  list: { byDefault: true, run: async (scene) => [await longList(scene)] },
  shift: { byDefault: true, run: async (scene) => [await layoutShift(scene)] },
  stream: { byDefault: true, run: (scene) => streaming(scene) },
  soak: { byDefault: false, run: async (scene) => [await soak(scene)] },
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => suites[name] === undefined)
if (unknown.length > 0) {
  console.error(`no such measure: ${unknown.join(", ")}. There are: ${Object.keys(suites).join(", ")}`)
  process.exit(2)
}
const isAll = wanted.every((name) => !(suites[name]?.byDefault ?? true))
const chosen = Object.entries(suites).filter(([name, { byDefault }]) => wanted.includes(name) || (isAll && byDefault))

const scene = await Scene.open()
/** @type {Budget[]} */
const budgets = []
/** Made once, by the first that needs it. @type {Promise<LongSession> | undefined} */
let made
const long = () => {
  if (made === undefined) console.error("bench: making a session of 100,000 events …")
  made ??= makeLongSession(scene)
  return made
}
/** @type {string[]} */
const failed = []
try {
  for (const [name, { run }] of chosen) {
    console.error(`bench: ${name} …`)
    try {
      const measured = await run(scene, long)
      budgets.push(...measured)
      for (const budget of measured) console.log(lines(budget).join("\n"))
    } catch (error) {
      // One that cannot be measured does not take the others with it.
      failed.push(name)
      console.error(`bench: ${name} could not be measured: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
} finally {
  await scene.close()
}

const judged = budgets.flatMap(({ measures }) => measures).filter(({ limit }) => limit !== undefined)
console.log(`\n${judged.filter(isReached).length} of ${judged.length} budgets reached`)
const load = loadavg()[0] ?? 0
if (load > cpus().length) console.log(`The machine was busy with other things too (load ${load.toFixed(1)}).`)

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "results")
mkdirSync(folder, { recursive: true })
const machine = { node: process.version, platform: `${process.platform}-${process.arch}`, cores: cpus().length, load }
writeFileSync(
  join(folder, "web.json"),
  `${JSON.stringify({ at: new Date().toISOString(), machine, budgets }, null, 2)}\n`,
)
console.error("\nbench: written to bench/results/web.json")
if (failed.length > 0) process.exitCode = 1
