// @ts-check
// Official Claude Code CLIs for tests, one directory per version under the user's cache. They are never a dependency
// of the project: whoever runs the tests fetches them from the registry npm is configured for.

import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { access, chmod, constants, mkdir, mkdtemp, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"

/** The versions whose wire behaviour the project is held to. */
export const PINNED = Object.freeze(["2.1.37", "2.1.120", "2.1.325"])

const SCOPE = "@anthropic-ai"
const NAME = "claude-code"
const LOCK_REFRESH_MS = 5_000
const LOCK_STALE_MS = 60_000
const LOCK_POLL_MS = 250
const STDERR_KEPT_CHARS = 20_000

/**
 * How to start one version: `spawn(command, [...args, ...yours])`.
 * @typedef {{ command: string, args: string[], version: string }} ClaudeCommand
 */

/** Calls in one process share the work; the lock below is for other processes. @type {Map<string, Promise<ClaudeCommand>>} */
const underWay = new Map()

/**
 * The CLI of exactly this version, installed first if it is missing.
 * @param {string} version
 * @returns {Promise<ClaudeCommand>}
 */
export async function ensureClaude(version) {
  requireExactVersion(version)
  const present = locate(versionDirectory(version), version)
  if (present !== undefined) return present
  let install = underWay.get(version)
  if (install === undefined) {
    install = installLocked(version).finally(() => underWay.delete(version))
    underWay.set(version, install)
  }
  return install
}

/**
 * Whether `ensureClaude` would return at once.
 * @param {string} version
 */
export function isInstalled(version) {
  requireExactVersion(version)
  return locate(versionDirectory(version), version) !== undefined
}

/** @param {string} version */
function requireExactVersion(version) {
  // A tag such as "latest" would be cached under its name and never move again; a path would leave the cache.
  if (!/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version))
    throw new Error(`Not an exact Claude Code version: "${version}". Give one such as ${PINNED.at(-1)}.`)
}

function cacheRoot() {
  // The XDG rules say a relative path is invalid and must be ignored.
  const xdg = process.env["XDG_CACHE_HOME"]
  const base = xdg?.startsWith("/") || (process.platform === "win32" && xdg) ? xdg : join(homedir(), ".cache")
  return join(base, "signalbox", "claude-code")
}

/** @param {string} version */
function versionDirectory(version) {
  return join(cacheRoot(), version)
}

/**
 * The executable in an installation. Old versions are a Node script; newer ones carry a native binary in a package of
 * their own per platform.
 * @param {string} directory
 * @param {string} version
 * @returns {ClaudeCommand | undefined}
 */
function locate(directory, version) {
  const scope = join(directory, "node_modules", SCOPE)
  const native = join(scope, platformPackage(), process.platform === "win32" ? "claude.exe" : "claude")
  if (existsSync(native)) return { command: native, args: [], version }
  const script = join(scope, NAME, "cli.js")
  if (existsSync(script)) return { command: process.execPath, args: [script], version }
  return undefined
}

function platformPackage() {
  return `${NAME}-${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`
}

/** @type {boolean | undefined} */
let musl

function isMusl() {
  if (process.platform !== "linux") return false
  if (musl === undefined) {
    // The report is where Node names its C library; without glibc it is musl.
    musl = !JSON.stringify(process.report.getReport()).includes('"glibcVersionRuntime"')
  }
  return musl
}

/**
 * @param {string} version
 * @returns {Promise<ClaudeCommand>}
 */
async function installLocked(version) {
  const directory = versionDirectory(version)
  await mkdir(cacheRoot(), { recursive: true })
  const unlock = await lock(`${directory}.lock`, version)
  try {
    const present = locate(directory, version)
    if (present !== undefined) return present
    return await install(version, directory)
  } finally {
    await unlock()
  }
}

/**
 * The lock only saves a second download. Correctness rests on the rename at the end of `install`, so a lock wrongly
 * taken for stale does no harm.
 * @param {string} path
 * @param {string} version
 * @returns {Promise<() => Promise<void>>}
 */
async function lock(path, version) {
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
    if (!told) say(`Claude Code ${version} is being installed by another process; waiting for it`)
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

/**
 * @param {string} version
 * @param {string} directory
 * @returns {Promise<ClaudeCommand>}
 */
async function install(version, directory) {
  const started = Date.now()
  say(`installing ${SCOPE}/${NAME}@${version} into ${directory} (once; a native build is some 70 to 100 MB to fetch)`)
  const staging = await mkdtemp(join(cacheRoot(), `.${version}-`))
  try {
    // Without a package.json here npm would look for a project in the directories above.
    await writeFile(join(staging, "package.json"), '{ "private": true }\n')
    await npmInstall(version, staging)
    const staged = locate(staging, version)
    if (staged === undefined) throw new Error(noExecutable(version))
    if (staged.args.length === 0) await makeExecutable(staged.command)
    await moveInto(staging, directory, version)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  const installed = locate(directory, version)
  if (installed === undefined) throw new Error(noExecutable(version))
  say(`Claude Code ${version} is ready after ${Math.round((Date.now() - started) / 1000)} s`)
  return installed
}

/** @param {string} version */
function noExecutable(version) {
  return (
    `Claude Code ${version} was fetched but has neither ${SCOPE}/${platformPackage()} nor ${NAME}/cli.js in it. ` +
    "It may not be published for this platform, or npm is configured to omit optional dependencies."
  )
}

/** Install scripts did not run, so nobody else sets the bit if the archive lacks it. @param {string} file */
async function makeExecutable(file) {
  await access(file, constants.X_OK).catch(() => chmod(file, 0o755))
}

/**
 * @param {string} staging
 * @param {string} directory
 * @param {string} version
 */
async function moveInto(staging, directory, version) {
  try {
    await rename(staging, directory)
  } catch (error) {
    const occupied = ["EEXIST", "ENOTEMPTY", "EPERM"].includes(codeOf(error) ?? "")
    if (!occupied) throw error
    if (locate(directory, version) !== undefined) return // another process was faster
    await rm(directory, { recursive: true, force: true }) // leftovers without an executable
    await rename(staging, directory)
  }
}

/**
 * @param {string} version
 * @param {string} cwd
 * @returns {Promise<void>}
 */
async function npmInstall(version, cwd) {
  const npm = await npmCommand()
  const flags = ["--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--no-package-lock", "--include=optional"]
  const child = spawn(npm.command, [...npm.args, "install", ...flags, `${SCOPE}/${NAME}@${version}`], {
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
  if (code !== 0) throw new Error(explain(version, stderr))
}

/** npm's own script beside this Node, so that no shell and no PATH is needed; `npm` by name where it lies elsewhere. */
async function npmCommand() {
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
function npmEnvironment() {
  const misleading =
    /^npm_config_(?:prefix|local_prefix|global|location|workspaces?|include_workspace_root|omit|dry_run|package_lock_only|install_strategy|engine_strict)$/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !misleading.test(name)))
}

const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT|E5\d\d)\b/
const ABSENT = /\b(ETARGET|E404)\b/
const REFUSED = /\b(E401|E403)\b/

/**
 * @param {string} version
 * @param {string} stderr
 */
function explain(version, stderr) {
  const what = `Claude Code ${version} could not be installed`
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
      `${versionDirectory(version)} from a machine of the same platform that has it.\n${log}`
    )
  if (ABSENT.test(stderr)) return `${what}: the registry npm is configured for does not have that version.\n${log}`
  if (REFUSED.test(stderr))
    return `${what}: the registry refused access. Check the credentials in your npm settings.\n${log}`
  if (stderr.includes("ENOSPC")) return `${what}: the disk under ${cacheRoot()} is full.\n${log}`
  return `${what}; npm said:\n${log || stderr.trim()}`
}

/** @param {unknown} error @returns {string | undefined} */
function codeOf(error) {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined
}

/** Standard output belongs to the path this prints as a command. @param {string} text */
function say(text) {
  process.stderr.write(`claude-cli: ${text}\n`)
}

async function main() {
  const versions = process.argv.slice(2)
  if (versions.length === 0 || versions.includes("--help")) {
    say(`usage: node scripts/claude-cli.mjs <version>…   (pinned: ${PINNED.join(" ")})`)
    process.exitCode = versions.length === 0 ? 2 : 0
    return
  }
  for (const version of versions) {
    const { command, args } = await ensureClaude(version)
    process.stdout.write(`${args[0] ?? command}\n`)
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  main().catch((/** @type {unknown} */ error) => {
    say(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  })
