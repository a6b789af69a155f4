// `npm run lock`: installs, then completes package-lock.json with the platform packages that the registry at hand does not
// carry. npm leaves those out of the lock, and `npm ci` then refuses the lock everywhere; with them in it, each machine
// installs the ones for its own platform.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root, run, say } from "./setup.mjs"

/** @typedef {{ version?: string, dev?: boolean, link?: boolean, optionalDependencies?: Record<string, string> }} LockEntry */

const SYSTEMS = [
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
  "wasi",
]
const PROCESSORS = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64", "wasm32"]

/** Platform packages name their platform in their name. @param {string} name */
function platformOf(name) {
  const words = name.split(/[/-]/)
  const os = SYSTEMS.filter((system) => words.includes(system))
  const cpu = PROCESSORS.filter((processor) => words.includes(processor))
  const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : []
  return {
    ...(libc.length > 0 && os.includes("linux") ? { libc } : {}),
    ...(os.length > 0 && !os.includes("wasi") ? { os } : {}),
    // A processor no machine has keeps a package off every machine when nothing else says where it belongs.
    cpu: cpu.length > 0 ? cpu : ["wasm32"],
  }
}

await run("npm", ["install", "--no-audit", "--no-fund"])
const file = join(root, "package-lock.json")
/** @type {{ packages: Record<string, LockEntry & Record<string, unknown>> }} */
const lock = JSON.parse(readFileSync(file, "utf8"))
const added = []
for (const entry of Object.values(lock.packages)) {
  for (const [name, wanted] of Object.entries(entry.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`
    if (place in lock.packages) continue
    const version = wanted.replace(/^[\^~]/, "")
    lock.packages[place] = { version, ...platformOf(name), ...(entry.dev ? { dev: true } : {}), optional: true }
    added.push(`${name}@${version}`)
  }
}
const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`)
say(`package-lock.json: ${added.length} platform packages added`)
