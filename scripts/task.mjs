// The commands of package.json. Each does its own set-up, so that it works on a fresh clone with no command before it.

import { spawn } from "node:child_process"
import { ensureNode, environmentOf, OTHER_NODES } from "./node-versions.mjs"
import { ensureBuilt, ensureInstalled, root, run, StepFailed, say, tool } from "./setup.mjs"
import { ensureSystemPackage } from "./system-package.mjs"
import { buildWeb } from "./web-build.mjs"

/** @type {Record<string, (args: string[]) => Promise<void>>} */
const tasks = {
  async start(args) {
    await ensureBuilt()
    await buildWeb()
    process.exitCode = await runToItsEnd("packages/cli/bin/signalbox.mjs", ["up", ...args])
  },
  async build() {
    await ensureBuilt()
    await buildWeb({ force: true })
  },
  /** npm runs this before it packs a package; a build that failed must not be packed. */
  async prepack() {
    await ensureBuilt()
    await buildWeb()
  },
  async check() {
    await ensureBuilt()
    await buildWeb()
    await check()
  },
  async test(args) {
    await tests("gate", args)
  },
  async "test:full"(args) {
    await tests("full", args)
    if (args.length === 0) await testsOnOtherNodes()
  },
  async bench(args) {
    await ensureBuilt()
    await buildWeb()
    await run(process.execPath, ["--expose-gc", "bench/run.mjs", ...args])
  },
  async "bench:web"(args) {
    await ensureBuilt()
    await buildWeb()
    ensureSystemPackage("chromium")
    await run(process.execPath, ["bench/web/run.mjs", ...args])
  },
  /**
   * A scripted year of a hub, the hub's suites on PostgreSQL, and several hubs with one fault after the other: longer than test:full may
   * take. `suites` is the second alone, `faults` the third.
   */
  async soak(args) {
    await ensureBuilt()
    await buildWeb()
    const [part, ...more] = args
    if (part === "suites") return hubSuitesOnPostgres(more)
    if (part === "faults") return clusterFaults(more)
    await run(process.execPath, ["soak/year.mjs", ...args])
    if (args.length > 0) return
    await hubSuitesOnPostgres([])
    await clusterFaults([])
  },
  /** README's pictures, taken anew of a hub with simulated agents. */
  async pictures() {
    await ensureBuilt()
    await buildWeb()
    const env = { ...process.env, SIGNALBOX_TESTS: "full", SIGNALBOX_PICTURES: "docs" }
    await run(tool("vitest"), ["run", "test/web/pictures.test.ts"], { env })
  },
  async format() {
    await ensureInstalled()
    await run(tool("biome"), ["check", "--write", "."])
  },
  async generate() {
    await ensureBuilt()
    await run(process.execPath, ["scripts/generate-known.mjs"])
    await run(process.execPath, ["scripts/generate-scenarios.mjs"])
    await run(process.execPath, ["scripts/generate-cli-docs.mjs"])
    await run(process.execPath, ["scripts/trace-request.mjs", "--write"])
    const files = ["schema/scenario.schema.json", "gallery/gallery.json"].map((file) => `packages/simulator/${file}`)
    await run(tool("biome"), ["check", "--write", "packages/protocol/src/known.generated.ts", ...files])
  },
  async lock() {
    await run(process.execPath, ["scripts/complete-lock.mjs"])
  },
  async drift(args) {
    await ensureBuilt()
    await run(process.execPath, ["scripts/drift.mjs", ...args])
  },
}

async function check() {
  say("types of tests, scripts and benchmarks …")
  await run(tool("tsc"), ["-p", "tsconfig.tests.json"])
  say("types of the cockpit …")
  await run(tool("tsc"), ["-p", "packages/web"])
  say("lint …")
  await run(tool("oxlint"), ["--type-aware", "--deny-warnings"])
  say("format …")
  await run(tool("biome"), ["ci", "--colors=off", "."])
  say("unused code …")
  await run(tool("knip"), ["--no-progress"])
}

/**
 * Runs one of our commands for as long as it likes: whoever stops us stops it, and we wait until it has ended.
 * @param {string} script
 * @param {string[]} args
 * @returns {Promise<number>} its exit code
 */
function runToItsEnd(script, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: "inherit" })
    /** @type {NodeJS.Signals[]} */
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"]
    for (const signal of signals) process.on(signal, () => void child.kill(signal === "SIGHUP" ? "SIGTERM" : signal))
    child.on("error", reject)
    child.on("exit", (code) => resolve(code ?? 1))
  })
}

/**
 * @param {"gate" | "full"} extent what test/gate.ts makes of it is said there, in that one place
 * @param {string[]} args
 */
async function tests(extent, args) {
  // Downloads wait for the network, the build and the checks for the processor: they run side by side.
  const peers = run(process.execPath, ["scripts/fetch-peers.mjs", ...(extent === "full" ? ["--full"] : [])])
  peers.catch(() => {}) // awaited below; a build that fails first must not leave this one unhandled
  await ensureBuilt()
  await buildWeb()
  await check()
  await peers
  say(`tests (${extent}) …`)
  await run(tool("vitest"), ["run", ...args], { env: { ...process.env, SIGNALBOX_TESTS: extent } })
}

/** Suites that depend on Node itself: units, store, hub, runner and command. The rest ran on the Node of this process. */
const NODE_SUITES = [
  ...["protocol", "transcript", "policy", "transport", "client", "sdk", "hub", "runner", "cli"].map(
    (room) => `packages/${room}/`,
  ),
  "test/runner/",
]

/** What hubs are, whatever their store. test/gate.ts names what is about SQLite's own files. */
const HUB_SUITES = ["packages/hub/", "test/hub/"]

/** @param {string[]} args */
async function hubSuitesOnPostgres(args) {
  await run(process.execPath, ["scripts/fetch-peers.mjs", "--full"])
  say("the hub's suites on PostgreSQL …")
  const env = { ...process.env, SIGNALBOX_TESTS: "full", SIGNALBOX_TEST_STORE: "postgres" }
  await run(tool("vitest"), ["run", ...(args.length > 0 ? args : HUB_SUITES)], { env })
}

/** @param {string[]} args how many, and the seed */
async function clusterFaults([count = "200", seed]) {
  const how = { SIGNALBOX_TESTS: "full", SIGNALBOX_FAULTS: count, ...(seed && { SIGNALBOX_SEED: seed }) }
  await run(tool("vitest"), ["run", "test/postgres/faults/"], { env: { ...process.env, ...how } })
}

async function testsOnOtherNodes() {
  for (const version of OTHER_NODES) {
    const binary = await ensureNode(version)
    say(`tests on Node ${version} …`)
    await run(binary, ["node_modules/vitest/vitest.mjs", "run", ...NODE_SUITES], {
      env: { ...environmentOf(binary), SIGNALBOX_TESTS: "other-node" },
    })
  }
}

const [name = "", ...args] = process.argv.slice(2)
const task = tasks[name]
if (task === undefined) {
  say(`unknown task "${name}". There are: ${Object.keys(tasks).join(", ")}.`)
  process.exit(2)
}
process.chdir(root)
try {
  await task(args)
} catch (error) {
  say(
    error instanceof StepFailed
      ? `${name} failed: ${error.message}`
      : `${name} failed: ${error instanceof Error ? error.message : String(error)}`,
  )
  process.exit(1)
}
