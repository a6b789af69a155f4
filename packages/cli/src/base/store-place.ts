import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { CommandContext, DataDirectory } from "./context.ts"
import { usageError } from "./failure.ts"

export interface StoreOption {
  readonly store?: string
}

/** Keeps the address of the database that the hub of a data directory used last, without its password. */
const REMEMBERED = "store"

/** The address of the PostgreSQL database that a hub keeps its data in; undefined if that is the SQLite file in its data directory. */
export function postgresOf({ store }: StoreOption, data: DataDirectory, env: NodeJS.ProcessEnv): string | undefined {
  const variable = env["SIGNALBOX_STORE"]
  const named = store ?? (variable === "" ? undefined : variable) ?? remembered(data)
  if (named === undefined || named === "sqlite") return undefined
  if (isPostgresUrl(named)) return named
  // The value is not repeated: it may have a password in it.
  throw usageError("the store must be sqlite or an address such as postgres://user@host:5432/database")
}

/** The next hub on this data directory uses the same store. */
export function rememberStore(data: DataDirectory, url: string | undefined): void {
  const file = join(data.path, REMEMBERED)
  if (url === undefined) rmSync(file, { force: true })
  else writeFileSync(file, `${withoutPassword(url)}\n`, { mode: 0o600 })
}

/** For people, files and logs. */
export function withoutPassword(url: string): string {
  const shown = new URL(url)
  shown.password = ""
  shown.searchParams.delete("password")
  return shown.href
}

/** The part of an address that nobody may see. */
export function passwordIn(url: string | undefined): string {
  if (url === undefined || !isPostgresUrl(url)) return ""
  const { password, searchParams } = new URL(url)
  return decodeURIComponent(password) || (searchParams.get("password") ?? "")
}

/** A command that works on the SQLite file of a data directory says what to do instead. */
export function requireSqlite(data: DataDirectory, { env }: CommandContext, instead: string): void {
  const url = postgresOf({}, data, env)
  if (url !== undefined) throw usageError(`this hub keeps its data in PostgreSQL (${withoutPassword(url)}): ${instead}`)
}

/** A database that a hub on PostgreSQL leaves alone. */
export function hasSqlite({ path }: DataDirectory): boolean {
  return (statSync(join(path, "signalbox.db"), { throwIfNoEntry: false })?.size ?? 0) > 0
}

function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text) && URL.canParse(text)
}

/** The address that the last hub of a data directory used. */
export function remembered({ path }: DataDirectory): string | undefined {
  try {
    const text = readFileSync(join(path, REMEMBERED), "utf8").trim()
    return text === "" ? undefined : text
  } catch {
    // There is none: the hub has always used its own file.
    return undefined
  }
}
