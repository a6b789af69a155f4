import type { MoveReport } from "@signalbox/hub/upkeep"
import {
  type CommandContext,
  type DataDirectory,
  dataDirectory,
  type JsonOption,
  makeDataDirectory,
  nextCommand,
} from "../base/context.ts"
import { usageError } from "../base/failure.ts"
import { postgresOf, remembered, rememberStore, withoutPassword } from "../base/store-place.ts"
import { rowWords } from "../terminal/amounts.ts"
import { print, printJson } from "../terminal/output.ts"
import { requireHere, withBar } from "./backup.ts"

export interface MoveOptions extends JsonOption {
  readonly to?: string
  readonly from?: string
}

/** Rows that people know. */
const TOLD = ["sessions", "events", "asks", "messages", "tokens", "audit"]

/** Copies a whole store between a data directory and a PostgreSQL database. What is copied stays where it is. */
export async function move(options: MoveOptions, context: CommandContext): Promise<void> {
  const data = dataDirectory(options, context.env)
  requireHere(data, "move", context)
  const { to, from } = options
  if ((to === undefined) === (from === undefined))
    throw usageError("say which way: --to postgres://user@host/database, or --from it to a new --data directory")
  const url = postgresOf({ store: to ?? from ?? "" }, data, context.env)
  if (url === undefined) throw usageError("name a PostgreSQL database: postgres://user@host/database")
  const report = await withBar("Moving", context, (show) => copied(data, { url, isTo: to !== undefined }, show), rows)
  const place = to === undefined ? data.path : withoutPassword(url)
  const start = nextCommand("up", options, context.env)
  if (options.json === true) return printJson(context, { to: place, ...report, start })
  const told = TOLD.map((table) => rowWords(table, report.rows[table] ?? 0)).join(", ")
  await print(context.stdout, `Copied to ${place} and compared: ${told}.\nStart it with: ${start}\n`)
}

interface Way {
  readonly url: string
  readonly isTo: boolean
}

async function copied(
  data: DataDirectory,
  { url, isTo }: Way,
  show: (done: number, total: number) => void,
): Promise<MoveReport> {
  const { moveToPostgres, moveToSqlite } = await import("@signalbox/hub/upkeep")
  if (!isTo) {
    makeDataDirectory(data)
    const report = await moveToSqlite(url, data.path, show)
    rememberStore(data, undefined)
    return report
  }
  const used = remembered(data)
  if (used !== undefined) throw usageError(`this hub keeps its data in PostgreSQL already (${withoutPassword(used)})`)
  const report = await moveToPostgres(data.path, url, show)
  // From here on this directory's hub uses the copy.
  rememberStore(data, url)
  return report
}

const rows = (count: number) => `${count.toLocaleString("en")} rows`
