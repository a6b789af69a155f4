// @ts-check
// Programs that tests run and nobody ships, packages from the registry most of all: one directory per version under the user's
// cache, made once, safe for several processes at a time.

import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, dirname, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

const LOCK_REFRESH_MS = 5_000
const LOCK_STALE_MS = 60_000
const LOCK_POLL_MS = 250
const STDERR_KEPT_CHARS = 20_000

/**
 * What to put where.
 * @template T
 * @typedef {object} Place
 * @property {string} what for messages, such as "Claude Code 2.1.325"
 * @property {string} directory where it ends up
 * @property {(directory: string) => T | undefined} locate what the caller wants of a complete directory
 * @property {(found: T) => Promise<void>} [finish] last touch before it is moved into place
 * @property {string} missing what to say when it was made and `locate` finds nothing
 * @property {(text: string) => void} say
 */

/** @template T @typedef {Place<T> & { fill: (staging: string) => Promise<void> }} Filled */

/**
 * @template T
 * @typedef {Place<T> & { packages: string[], flags: string[] }} Installation packages as npm takes them, such as
 *   "zod@^4", and flags of `npm install`
 */

/** Calls in one process share the work; the lock below is for other processes. @type {Map<string, Promise<unknown>>} */
const underWay = new Map()

/**
 * The installation, made first if it is missing.
 * @template T
 * @param {Installation<T>} installation
 * @returns {Promise<T>}
 */
export function ensureInstalledPackage(installation) {
  const { directory, packages, say } = installation
  const fill = async (/** @type {string} */ staging) => {
    say(`installing ${packages.join(" ")} into ${directory} (once)`)
    // Without a package.json here npm would look for a project in the directories above.
    await writeFile(join(staging, "package.json"), '{ "private": true }\n')
    await npmInstall(installation, staging)
  }
  return ensureFilled({ ...installation, fill })
}

/**
 * The directory, filled first if it is missing or incomplete.
 * @template T
 * @param {Filled<T>} place
 * @returns {Promise<T>}
 */
export async function ensureFilled(place) {
  const { directory, locate } = place
  const present = locate(directory)
  if (present !== undefined) return present
  let work = underWay.get(directory)
  if (work === undefined) {
    work = fillLocked(place).finally(() => underWay.delete(directory))
    underWay.set(directory, work)
  }
  await work
  const made = locate(directory)
  if (made === undefined) throw new Error(place.missing)
  return made
}

/** `<cache>/signalbox/<name>`. @param {string} name */
export function cacheDirectory(name) {
  // The XDG rules say a relative path is invalid and must be ignored.
  const xdg = process.env["XDG_CACHE_HOME"]
  const base = xdg?.startsWith("/") || (process.platform === "win32" && xdg) ? xdg : join(homedir(), ".cache")
  return join(base, "signalbox", name)
}

/**
 * A tag such as "latest" would be cached under its name and never move again; a path would leave the cache.
 * @param {string} version
 * @param {{ of: string, example: string | undefined }} words
 */
export function requireExactVersion(version, { of, example }) {
  if (!/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version))
    throw new Error(`Not an exact ${of} version: "${version}". Give one such as ${example}.`)
}

/** @template T @param {Filled<T>} place */
async function fillLocked(place) {
  const { directory, locate, what, say } = place
  await mkdir(dirname(directory), { recursive: true })
  const unlock = await lock(`${directory}.lock`, { what, say })
  try {
    if (locate(directory) === undefined) await fillAnew(place)
  } finally {
    await unlock()
  }
}

/**
 * The lock only saves a second download. Correctness rests on the rename at the end of `fillAnew`, so a lock wrongly
 * taken for stale does no harm.
 * @param {string} path
 * @param {{ what: string, say: (text: string) => void }} words
 * @returns {Promise<() => Promise<void>>}
 */
async function lock(path, { what, say }) {
  let told = false
  for (;;) {
    try {
      await mkdir(path)
      break
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error
    }
    if (await isStale(path)) {
      await rm(path, { recursive: true, force: true })
      continue
    }
    if (!told) say(`${what} is being installed by another process; waiting for it`)
    told = true
    await delay(LOCK_POLL_MS)
  }
  const refresh = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => {}) // taken for stale and removed: see above
  }, LOCK_REFRESH_MS)
  refresh.unref()
  return async () => {
    clearInterval(refresh)
    await rm(path, { recursive: true, force: true })
  }
}

/** @param {string} path */
async function isStale(path) {
  try {
    return Date.now() - (await stat(path)).mtimeMs > LOCK_STALE_MS
  } catch {
    return false // gone between the two looks: the next mkdir will tell
  }
}

/** @template T @param {Filled<T>} place */
async function fillAnew(place) {
  const { what, directory, locate, say } = place
  const started = Date.now()
  const staging = await mkdtemp(join(dirname(directory), `.${basename(directory)}-`))
  try {
    await place.fill(staging)
    const staged = locate(staging)
    if (staged === undefined) throw new Error(place.missing)
    await place.finish?.(staged)
    await moveInto(staging, place)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  say(`${what} is ready after ${Math.round((Date.now() - started) / 1000)} s`)
}

/**
 * @template T
 * @param {string} staging
 * @param {Place<T>} place
 */
async function moveInto(staging, { directory, locate }) {
  try {
    await rename(staging, directory)
  } catch (error) {
    const occupied = ["EEXIST", "ENOTEMPTY", "EPERM"].includes(codeOf(error) ?? "")
    if (!occupied) throw error
    if (locate(directory) !== undefined) return // another process was faster
    await rm(directory, { recursive: true, force: true }) // leftovers of something incomplete
    await rename(staging, directory)
  }
}

/**
 * @template T
 * @param {Installation<T>} installation
 * @param {string} cwd
 * @returns {Promise<void>}
 */
async function npmInstall(installation, cwd) {
  const npm = await npmCommand()
  const flags = ["--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--no-package-lock", ...installation.flags]
  const child = spawn(npm.command, [...npm.args, "install", ...flags, ...installation.packages], {
    cwd,
    env: npmEnvironment(),
    shell: npm.shell,
    stdio: ["ignore", "ignore", "pipe"],
  })
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
    stderr = (stderr + text).slice(-STDERR_KEPT_CHARS)
  })
  const code = await new Promise((done, failed) => {
    child.once("error", failed).once("close", done)
  }).catch((/** @type {unknown} */ cause) => {
    throw new Error("npm could not be started. It comes with Node: put it on the PATH.", { cause })
  })
  if (code !== 0) throw new Error(explain(installation, stderr))
}

/** npm's own script beside this Node, so that no shell and no PATH is needed; `npm` by name where it lies elsewhere. */
export async function npmCommand() {
  const bin = dirname(process.execPath)
  const candidates = [
    process.env["npm_execpath"],
    join(bin, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
    join(bin, "node_modules", "npm", "bin", "npm-cli.js"),
  ]
  for (const script of candidates)
    if (script?.endsWith("npm-cli.js") && existsSync(script))
      return { command: process.execPath, args: [script], shell: false }
  return { command: "npm", args: [], shell: process.platform === "win32" }
}

/**
 * Under `npm test` the outer npm passes its own settings on; those that aim at a project would misdirect this install.
 * The registry, proxy and credentials the user configured stay.
 */
export function npmEnvironment() {
  const misleading =
    /^npm_config_(?:prefix|local_prefix|global|location|workspaces?|include_workspace_root|omit|dry_run|package_lock_only|install_strategy|engine_strict)$/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !misleading.test(name)))
}

const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT|E5\d\d)\b/
const ABSENT = /\b(ETARGET|E404)\b/
const REFUSED = /\b(E401|E403)\b/

/**
 * @template T
 * @param {Installation<T>} installation
 * @param {string} stderr
 */
function explain({ what: name, directory }, stderr) {
  const what = `${name} could not be installed`
  const log = stderr
    .split("\n")
    .filter((line) => line.startsWith("npm error") && !line.includes("complete log"))
    .slice(0, 12)
    .join("\n")
  const unreachable = UNREACHABLE.exec(stderr)?.[1]
  if (unreachable !== undefined)
    return (
      `${what}: the npm registry cannot be reached (${unreachable}). Check the network, the proxy settings and ` +
      "`npm config get registry`, then run this again; or copy the directory " +
      `${directory} from a machine of the same platform that has it.\n${log}`
    )
  if (ABSENT.test(stderr)) return `${what}: the registry npm is configured for does not have that version.\n${log}`
  if (REFUSED.test(stderr))
    return `${what}: the registry refused access. Check the credentials in your npm settings.\n${log}`
  if (stderr.includes("ENOSPC")) return `${what}: the disk under ${dirname(directory)} is full.\n${log}`
  return `${what}; npm said:\n${log || stderr.trim()}`
}

/** @param {unknown} error @returns {string | undefined} */
function codeOf(error) {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined
}
