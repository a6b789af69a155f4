// @ts-check
// The vendor's TypeScript SDK, to run beside ours and compare. All rights reserved: it is installed into the user's
// cache by whoever runs the tests, run as a black box, and no line of it is read into this project.

import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { cacheDirectory, ensureInstalledPackage, requireExactVersion } from "./package-cache.mjs"

/** The releases ours is compared with: the three generations of the surface. */
export const OFFICIAL = Object.freeze(["0.1.77", "0.2.37", "0.3.325"])

const NAME = "@anthropic-ai/claude-agent-sdk"

/**
 * An installation: `directory` has the `node_modules` a program resolves the SDK and its peers from; `entry` is the URL
 * to import.
 * @typedef {{ directory: string, packageDirectory: string, entry: string, version: string }} OfficialSdk
 */

/**
 * The SDK of exactly this version with its peers, installed first if it is missing. The native CLI that newer ones name
 * as an optional dependency is left out: tests bring the pinned CLI themselves.
 * @param {string} version
 * @returns {Promise<OfficialSdk>}
 */
export async function ensureOfficialSdk(version) {
  requireExactVersion(version, { of: "Agent SDK", example: OFFICIAL.at(-1) })
  return ensureInstalledPackage({
    what: `the official Agent SDK ${version}`,
    directory: join(cacheDirectory("official"), version),
    packages: [`${NAME}@${version}`, ...peersOf(version)],
    flags: ["--omit=optional"],
    locate: (directory) => locate(directory, version),
    missing: `The official Agent SDK ${version} was fetched but is not where npm puts it, or lacks a peer.`,
    say,
  })
}

/** 0.1 and 0.2 name only zod as a peer, but their types need the two others to be complete. @param {string} version */
function peersOf(version) {
  return [
    version.startsWith("0.3.") ? "@anthropic-ai/sdk@>=0.93.0" : "@anthropic-ai/sdk@*",
    "@modelcontextprotocol/sdk@^1.29.0",
    "zod@^4.0.0",
  ]
}

/**
 * @param {string} directory
 * @param {string} version
 * @returns {OfficialSdk | undefined}
 */
function locate(directory, version) {
  const modules = join(directory, "node_modules")
  const wanted = [NAME, "@anthropic-ai/sdk", "@modelcontextprotocol/sdk", "zod"]
  if (!wanted.every((name) => existsSync(join(modules, name, "package.json")))) return undefined
  const packageDirectory = join(modules, NAME)
  const entry = pathToFileURL(join(packageDirectory, "sdk.mjs")).href
  return { directory, packageDirectory, entry, version }
}

/** Standard output belongs to the paths this prints as a command. @param {string} text */
function say(text) {
  process.stderr.write(`official-sdk: ${text}\n`)
}

async function main() {
  const versions = process.argv.slice(2)
  if (versions.length === 0 || versions.includes("--help")) {
    say(`usage: node scripts/official-sdk.mjs <version>…   (compared with: ${OFFICIAL.join(" ")})`)
    process.exitCode = versions.length === 0 ? 2 : 0
    return
  }
  for (const version of versions) process.stdout.write(`${(await ensureOfficialSdk(version)).packageDirectory}\n`)
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  main().catch((/** @type {unknown} */ error) => {
    say(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  })
