// @ts-check
// `node scripts/make-data-fixture.mjs NAME`: a small data directory as the release NAME (a commit or tag) leaves it, for the
// test that later releases open it. Two of them: of a hub that was killed and of one that was stopped. Beside each lies what
// must be found in it. Tokens in there are of a hub that nobody runs.

import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir, hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { brotliCompressSync, constants } from "node:zlib"
import { statesOf, takeStock } from "./data-stock.mjs"
import { live, SCENARIO, until, WORDS } from "./fixture-life.mjs"
import { commandOf, ensureRelease } from "./releases.mjs"
import { root } from "./setup.mjs"

/** @typedef {Record<string, any>} Json */

const FOLDER = join(root, "test", "fixtures", "data")
const MAX_PACKED_BYTES = 100 * 1024
const MAX_DATA_BYTES = 64 * 1024 * 1024
/** The machine's name is nobody's business: every process of the release is told another one. */
const NAMELESS = `import os from "node:os"; import { syncBuiltinESMExports } from "node:module"; os.hostname = () => "fixture"; syncBuiltinESMExports()`

const [name] = process.argv.slice(2)
if (name === undefined) {
  process.stderr.write("Say which release: node scripts/make-data-fixture.mjs 7f5e718\n")
  process.exit(2)
}
const command = commandOf(await ensureRelease(name))
mkdirSync(FOLDER, { recursive: true })
for (const end of /** @type {const} */ (["killed", "stopped"])) await makeFixture(name, end)

/** @param {string} release @param {"killed" | "stopped"} end */
async function makeFixture(release, end) {
  const base = mkdtempSync(join(tmpdir(), "signalbox-fixture-"))
  try {
    for (const folder of ["home", "project", "data", "kept"]) mkdirSync(join(base, folder))
    writeFileSync(join(base, "scenario.json"), JSON.stringify(SCENARIO))
    const hub = await startHub(base)
    const runner = await startRunner(base, hub)
    const { secrets, leave } = await live(hub.call, join(base, "project"))
    const stock = await settledStock(hub)
    await hub.end(end === "killed" ? "SIGKILL" : "SIGTERM")
    leave()
    await runner.end("SIGTERM")
    cpSync(join(base, "data"), join(base, "kept"), { recursive: true })
    // The release itself says what it finds when it comes back to this.
    const back = await startHub(base)
    const manifest = {
      release,
      end,
      words: WORDS,
      secrets: { ...secrets, admin: hub.token },
      stock,
      states: await statesOf(back),
    }
    await back.end("SIGTERM")
    await pack(join(base, "kept"), join(FOLDER, `${release}-${end}`), manifest)
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** When two looks in a row find the same: the search index follows the log. @param {{ url: string, token: string }} hub */
async function settledStock(hub) {
  let stock = await takeStock(hub, WORDS)
  await until(async () => {
    await pause(1_000)
    const before = JSON.stringify(stock)
    stock = await takeStock(hub, WORDS)
    const isFound = WORDS.every((word) => stock["search"][word].length > 0)
    return isFound && JSON.stringify(stock) === before
  })
  return stock
}

/** @param {string} base */
async function startHub(base) {
  const child = start(base, ["up", "--json", "--no-open", "--no-runner", "--port", "0", "--data", join(base, "data")])
  /** @type {Json} */
  const { url, token } = JSON.parse(await firstLine(child))
  /** @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<Json>} */
  const call = async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const reply = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
    return text === "" ? {} : JSON.parse(text)
  }
  return { url, token, call, end: ending(child) }
}

/** In a data directory of its own: what is in it names processes, which nobody but this runner should end. @param {string} base @param {Json} hub */
async function startRunner(base, hub) {
  const { token } = await hub["call"]("POST", "/api/tokens", { role: "runner", name: "its runner" })
  const child = start(base, ["runner", "--hub", hub["url"], "--name", "fixture", "--data", join(base, "runner")], {
    SIGNALBOX_TOKEN: token,
    SIGNALBOX_SIM_SCENARIO: join(base, "scenario.json"),
  })
  return { end: ending(child) }
}

/** @param {string} base @param {string[]} args @param {Record<string, string>} [env] */
function start(base, args, env = {}) {
  const child = spawn(process.execPath, [command, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      HOME: join(base, "home"),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NAMELESS)}`,
      ...env,
    },
  })
  return child
}

/** @param {ReturnType<typeof start>} child */
async function firstLine(child) {
  if (child.stdout !== null) for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error("the hub did not start")
}

/** @param {ReturnType<typeof start>} child */
function ending(child) {
  const exited = once(child, "exit")
  return async (/** @type {NodeJS.Signals} */ signal) => {
    child.kill(signal)
    await exited
  }
}

/** @param {string} data @param {string} file without its ending @param {Json} manifest */
async function pack(data, file, manifest) {
  const hidden = [hostname(), homedir()].filter((text) => text.length > 4)
  for (const entry of readdirSync(data)) {
    const text = readFileSync(join(data, entry)).toString("latin1")
    const found = hidden.find((secret) => text.includes(secret))
    if (found !== undefined) throw new Error(`${entry} names this machine (${found}): nothing was written`)
  }
  const files = readdirSync(data).filter((entry) => entry !== "hub.json")
  const tar = execFileSync("tar", ["-cf", "-", "-C", data, ...files], { maxBuffer: MAX_DATA_BYTES })
  // A write-ahead log has the same pages again and again, farther apart than gzip looks back.
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }
  const packed = brotliCompressSync(tar, { params })
  if (packed.length > MAX_PACKED_BYTES) throw new Error(`${file} would take ${packed.length} bytes: too large to keep`)
  writeFileSync(`${file}.tar.br`, packed)
  writeFileSync(`${file}.json`, `${JSON.stringify(manifest, null, 1)}\n`)
  const count = Object.keys(manifest["states"]).length
  process.stderr.write(`fixture: ${file}.tar.br, ${packed.length} bytes, ${count} sessions\n`)
}
