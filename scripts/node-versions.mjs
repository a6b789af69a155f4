// @ts-check
// Other versions of Node for tests, from the npm registry, one directory per version under the user's cache.

import { existsSync } from "node:fs"
import { access, chmod, constants } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { cacheDirectory, ensureInstalledPackage, requireExactVersion } from "./package-cache.mjs"

/** The versions that `test:full` runs on besides the Node it was started with: the one most people run, and the newest. */
export const OTHER_NODES = Object.freeze(["24.21.0", "26.10.0"])

/**
 * The executable of exactly this version, installed first if it is missing.
 * @param {string} version
 * @returns {Promise<string>}
 */
export async function ensureNode(version) {
  requireExactVersion(version, { of: "Node", example: OTHER_NODES.at(-1) })
  const windows = process.platform === "win32"
  const name = `node-${windows ? "win" : process.platform}-${process.arch}`
  return ensureInstalledPackage({
    what: `Node ${version}`,
    directory: join(cacheDirectory("node"), version),
    packages: [`${name}@${version}`],
    flags: [],
    locate: (directory) => {
      const binary = join(directory, "node_modules", name, "bin", windows ? "node.exe" : "node")
      return existsSync(binary) ? binary : undefined
    },
    finish: (binary) => access(binary, constants.X_OK).catch(() => chmod(binary, 0o755)),
    missing: `Node ${version} was fetched but has no ${name}/bin/node in it. It may not be published for this platform.`,
    say,
  })
}

/** An environment in which `node`, also behind `#!/usr/bin/env node`, is this one. @param {string} binary */
export function environmentOf(binary) {
  return { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env["PATH"] ?? ""}` }
}

/** @param {string} text */
function say(text) {
  process.stderr.write(`node-versions: ${text}\n`)
}
