import { execFileSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

/** Debian keeps a server's programs out of the PATH, by version. */
const POSTGRES = "/usr/lib/postgresql"

/**
 * The path of a program that comes from the system, installed where that is possible without asking anybody. Undefined when it
 * cannot be had: the suites that need it are left out, and say so. With CI=true that is a failure.
 *
 * @param {string} program
 * @param {string} [packageName]
 * @returns {string | undefined}
 */
export function ensureSystemPackage(program, packageName = program) {
  const found = find(program) ?? (install(packageName) ? find(program) : undefined)
  if (found !== undefined) return found
  const message = `there is no ${program} on this machine: what needs it is left out (apt-get install ${packageName})`
  if (process.env["CI"] === "true") throw new Error(message)
  process.stderr.write(`\n*** ${message} ***\n\n`)
  return undefined
}

/**
 * The folder with the programs of a PostgreSQL server, of the newest version there is. Undefined as above.
 *
 * @returns {string | undefined}
 */
export function ensurePostgres() {
  return newestPostgres() ?? (ensureSystemPackage("pg_createcluster", "postgresql") && newestPostgres())
}

function newestPostgres() {
  const names = existsSync(POSTGRES) ? readdirSync(POSTGRES) : []
  const folders = names.toSorted((a, b) => Number(b) - Number(a)).map((name) => join(POSTGRES, name, "bin"))
  return folders.find((folder) => existsSync(join(folder, "initdb")))
}

/** @param {string} program */
function find(program) {
  return quietly("sh", ["-c", 'command -v "$1"', "sh", program])
}

/** @param {string} packageName */
function install(packageName) {
  if (process.getuid?.() !== 0 || find("apt-get") === undefined) return false
  process.stderr.write(`signalbox: installing ${packageName} (apt-get) …\n`)
  // Another suite may be installing something at the same time.
  const flags = ["-o", "DPkg::Lock::Timeout=300", "install", "-y", "--no-install-recommends", packageName]
  return (
    quietly("apt-get", flags) !== undefined ||
    (quietly("apt-get", ["update"]) !== undefined && quietly("apt-get", flags) !== undefined)
  )
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 */
function quietly(command, args) {
  try {
    return execFileSync(command, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      timeout: 300_000,
    }).trim()
  } catch {
    return undefined
  }
}
