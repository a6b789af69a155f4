// @ts-check
// Earlier releases of Signalbox, built from this repository's own history: one directory per commit under the user's cache.

import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { cacheDirectory, ensureFilled, npmEnvironment } from "./package-cache.mjs"
import { root } from "./setup.mjs"

/** The oldest release whose hub and runner are tried with today's. */
export const OLDEST = "7f5e718"

const runFile = promisify(execFile)
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
const BUILT = ".signalbox-built"
/** Each release knows best how it is built. */
const BUILD = 'await (await import("./scripts/setup.mjs")).ensureBuilt()'

/**
 * The whole name of a commit, tag or branch; undefined when this clone does not have it, as a shallow one may not.
 * @param {string} name
 * @returns {Promise<string | undefined>}
 */
export async function commitOf(name) {
  try {
    const { stdout } = await runFile("git", ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], { cwd: root })
    return stdout.trim()
  } catch {
    return undefined
  }
}

/** Whether what this clone lacks is in no clone of the repository. A shallow one lacks what could be fetched. */
export async function isWholeHistory() {
  const { stdout } = await runFile("git", ["rev-parse", "--is-shallow-repository"], { cwd: root }).catch(() => ({
    stdout: "",
  }))
  return stdout.trim() === "false"
}

/**
 * The directory of that release, built first if it is missing.
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function ensureRelease(name) {
  const commit = await commitOf(name)
  if (commit === undefined)
    throw new Error(`This clone has no commit ${name}: fetch the whole history (git fetch --unshallow) and try again.`)
  const short = commit.slice(0, 7)
  return ensureFilled({
    what: `Signalbox ${short}`,
    directory: join(cacheDirectory("releases"), commit),
    locate: (directory) => (existsSync(join(directory, BUILT)) ? directory : undefined),
    fill: (staging) => build(commit, staging),
    missing: `Signalbox ${short} was built, but the mark of a whole build is missing.`,
    say,
  })
}

/** @param {string} commit @param {string} directory */
async function build(commit, directory) {
  say(`building ${commit.slice(0, 7)} from the repository's history (once)`)
  const archive = join(directory, "release.tar")
  await runFile("git", ["archive", "--format=tar", `--output=${archive}`, commit], { cwd: root })
  await runFile("tar", ["-xf", archive, "-C", directory])
  await rm(archive)
  const options = { cwd: directory, env: npmEnvironment(), maxBuffer: MAX_OUTPUT_BYTES }
  await runFile(process.execPath, ["--input-type=module", "--eval", BUILD], options)
  await writeFile(join(directory, BUILT), `${commit}\n`)
}

/** @param {string} directory of a release @returns {string} its command, to be run by Node */
export function commandOf(directory) {
  return join(directory, "packages", "cli", "bin", "signalbox.mjs")
}

/** @param {string} text */
function say(text) {
  process.stderr.write(`releases: ${text}\n`)
}
