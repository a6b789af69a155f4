// The cockpit's build: files for a browser, from the sources of five rooms. Done again only when one of them changed.
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root, run, say, tool } from "./setup.mjs"

const web = join(root, "packages", "web")
const SOURCES = ["web/src", "web/public", "protocol/src", "transcript/src", "client/src", "policy/src"]
const FILES = [
  "web/index.html",
  "web/vite.config.ts",
  "web/package.json",
  "protocol/package.json",
  "transcript/package.json",
  "client/package.json",
  "policy/package.json",
]

function fingerprint() {
  const hash = createHash("sha256")
  const inFolders = SOURCES.flatMap((folder) =>
    readdirSync(join(root, "packages", folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  for (const file of [
    ...FILES.map((name) => join(root, "packages", name)),
    ...inFolders.toSorted((a, b) => (a < b ? -1 : 1)),
  ]) {
    hash.update(file.slice(root.length)).update(readFileSync(file))
  }
  return hash.digest("hex")
}

/** @param {{ force?: boolean }} [options] */
export async function buildWeb({ force = false } = {}) {
  const stamp = join(web, "dist", ".fingerprint")
  const wanted = fingerprint()
  if (!force && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return
  say("building the cockpit (vite build) …")
  await run(tool("vite"), ["build", "--logLevel", "warn"], { cwd: web })
  writeFileSync(stamp, wanted)
}
