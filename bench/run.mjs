// `npm run bench`: every benchmark beside its peer and its floor; a table, and a JSON file under bench/results.
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as backtest from "./backtest.bench.mjs"
import * as cold from "./cold.bench.mjs"
import * as enforce from "./enforce.bench.mjs"
import * as flood from "./flood.bench.mjs"
import * as hub from "./hub.bench.mjs"
import * as policy from "./policy.bench.mjs"
import * as postgres from "./postgres.bench.mjs"
import * as protocol from "./protocol.bench.mjs"
import * as runner from "./runner.bench.mjs"
import * as sdk from "./sdk.bench.mjs"
import * as simulator from "./simulator.bench.mjs"

const suites = { protocol, policy, backtest, cold, sdk, simulator, hub, flood, runner, enforce, postgres }

const wanted = process.argv.slice(2)
const chosen = Object.entries(suites).filter(([name]) => wanted.length === 0 || wanted.includes(name))
if (chosen.length === 0) {
  console.error(`no such benchmark. There are: ${Object.keys(suites).join(", ")}`)
  process.exit(2)
}

/** @type {import("./measure.mjs").Figure[]} */
const figures = []
for (const [name, suite] of chosen) {
  console.error(`bench: ${name} …`)
  figures.push(...(await suite.figures()))
}

for (const { title, unit, must, ratio, reached, rows } of figures) {
  console.log(`\n${title}`)
  for (const { name, value } of rows) console.log(`  ${name.padEnd(36)} ${value.toFixed(1).padStart(9)} ${unit}`)
  console.log(
    `  ${"ratio".padEnd(36)} ${`${ratio.toFixed(2)}×`.padStart(9)}   must be ${must}: ${reached ? "reached" : "MISSED"}`,
  )
}

const count = figures.filter(({ reached }) => reached).length
console.log(`\n${count} of ${figures.length} figures reached`)
if (count < figures.length) process.exitCode = 1

const folder = join(dirname(fileURLToPath(import.meta.url)), "results")
mkdirSync(folder, { recursive: true })
const file = join(folder, "latest.json")
const machine = { node: process.version, platform: `${process.platform}-${process.arch}`, cores: cpus().length }
writeFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), machine, figures }, null, 2)}\n`)
console.error(`\nbench: written to bench/results/latest.json`)
