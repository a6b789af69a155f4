// What every task needs first: the dependencies installed and the sources built, each only when something changed.
// Plain Node, no dependencies: this runs on a clone that has none yet.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { completePackages } from "./commonjs.mjs"
import { npmEnvironment } from "./package-cache.mjs"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** @param {string} text */
export function say(text) {
  process.stderr.write(`signalbox: ${text}\n`)
}

/**
 * Runs a program with our terminal; rejects when it fails, so that a chain of steps stops at the first failure.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string }} [options] `env` is the whole environment
 * @returns {Promise<void>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      stdio: "inherit",
      env: options.env ?? process.env,
      shell: process.platform === "win32" && command === "npm",
    })
    child.on("error", reject)
    child.on("exit", (code, signal) => {
      if (code === 0) resolve()
      else
        reject(new StepFailed(`${command} ${args.join(" ")} ${signal ? `ended by ${signal}` : `exited with ${code}`}`))
    })
  })
}

/** A step that already said on the terminal what was wrong. */
export class StepFailed extends Error {}

/** A tool installed in node_modules/.bin. @param {string} name */
export function tool(name) {
  return join(root, "node_modules", ".bin", process.platform === "win32" ? `${name}.cmd` : name)
}

function installFingerprint() {
  const hash = createHash("sha256").update(process.version)
  const packages = readdirSync(join(root, "packages"), { withFileTypes: true })
  const manifests = packages
    .filter((entry) => entry.isDirectory())
    .map((entry) => `packages/${entry.name}/package.json`)
  for (const file of ["package.json", "package-lock.json", ...manifests.sort()]) {
    const path = join(root, file)
    if (existsSync(path)) hash.update(file).update(readFileSync(path))
  }
  return hash.digest("hex")
}

export async function ensureInstalled() {
  checkNode()
  const stamp = join(root, "node_modules", ".signalbox-installed")
  const wanted = installFingerprint()
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return
  say("installing dependencies (npm ci) …")
  // Under `npm pack --workspaces` the outer npm would have this one leave out the root's own dependencies.
  await run("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { env: npmEnvironment() })
  writeFileSync(stamp, wanted)
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  throw new Error(`Node ${process.versions.node} is too old: Signalbox needs 20.19 or newer.`)
}

/** `tsc -b` looks at its own build info and compiles only what is stale. */
export async function ensureBuilt() {
  await ensureInstalled()
  say("building what is stale (tsc -b) …")
  await run(tool("tsc"), ["-b"])
  completePackages(root)
}
