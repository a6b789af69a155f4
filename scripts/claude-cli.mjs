// @ts-check
// Official Claude Code CLIs for tests, one directory per version under the user's cache. They are never a dependency
// of the project: whoever runs the tests fetches them from the registry npm is configured for.

import { existsSync } from "node:fs"
import { access, chmod, constants } from "node:fs/promises"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { cacheDirectory, ensureInstalledPackage, requireExactVersion } from "./package-cache.mjs"

/** The versions whose wire behaviour the project is held to. */
export const PINNED = Object.freeze(["2.1.37", "2.1.120", "2.1.325"])

/** Versions on which the policy can see every tool call: the oldest that can, one that starts in mode `auto` by itself, and the newest. */
export const ENFORCED = Object.freeze(["2.1.200", "2.1.300", "2.1.325"])

const SCOPE = "@anthropic-ai"
const NAME = "claude-code"

/**
 * How to start one version: `spawn(command, [...args, ...yours])`.
 * @typedef {{ command: string, args: string[], version: string }} ClaudeCommand
 */

/**
 * The CLI of exactly this version, installed first if it is missing.
 * @param {string} version
 * @returns {Promise<ClaudeCommand>}
 */
export async function ensureClaude(version) {
  return ensureInstalledPackage({
    what: `Claude Code ${version}`,
    directory: versionDirectory(version),
    packages: [`${SCOPE}/${NAME}@${version}`],
    flags: ["--include=optional"],
    locate: (directory) => locate(directory, version),
    // Install scripts did not run, so nobody else sets the bit if the archive lacks it.
    finish: async ({ command, args }) => {
      if (args.length === 0) await access(command, constants.X_OK).catch(() => chmod(command, 0o755))
    },
    missing:
      `Claude Code ${version} was fetched but has neither ${SCOPE}/${platformPackage()} nor ${NAME}/cli.js in it. ` +
      "It may not be published for this platform, or npm is configured to omit optional dependencies.",
    say,
  })
}

/**
 * Whether `ensureClaude` would return at once.
 * @param {string} version
 */
export function isInstalled(version) {
  return locate(versionDirectory(version), version) !== undefined
}

/** @param {string} version */
function versionDirectory(version) {
  requireExactVersion(version, { of: "Claude Code", example: PINNED.at(-1) })
  return join(cacheDirectory(NAME), version)
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
