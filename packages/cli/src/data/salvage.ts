import type { SalvageReport } from "@signalbox/hub/upkeep"
import { counted } from "@signalbox/protocol"
import { type CommandContext, dataDirectory, type JsonOption, makeDataDirectory, shellWord } from "../base/context.ts"
import { usageError } from "../base/failure.ts"
import { requireSqlite } from "../base/store-place.ts"
import { rowWords } from "../terminal/amounts.ts"
import { print, printJson } from "../terminal/output.ts"
import { requireHere, withBar } from "./backup.ts"
import { cleanedUp } from "./interruption.ts"

export interface SalvageOptions extends JsonOption {
  readonly to: string
}

export async function salvage(options: SalvageOptions, context: CommandContext): Promise<void> {
  const from = dataDirectory(options, context.env)
  requireHere(from, "salvage", context)
  requireSqlite(from, context, "restore a dump of it with pg_restore")
  const to = dataDirectory({ data: options.to }, context.env)
  if (to.path === from.path) throw usageError("--to must be another directory: the damaged one is left as it is")
  const { removeUnfinished, salvageData } = await import("@signalbox/hub/upkeep")
  makeDataDirectory(to)
  const report = await cleanedUp(
    () => removeUnfinished({ dataDirectory: to.path }),
    () => withBar("Saving", context, (show) => salvageData(from.path, to.path, show), tables),
  )
  const start = `signalbox up --data ${shellWord(to.path)}`
  if (options.json === true) return printJson(context, { data: to.path, ...report, start })
  await print(context.stdout, `${describe(report, to.path)}\nStart it with: ${start}\n`)
}

const tables = (count: number) => counted(count, "table")
const marked = (count: number) =>
  counted(count, "lost event is marked in its session", "lost events are marked in their sessions")
const bare = (count: number) => counted(count, "session lost its", "sessions lost their")

function describe(
  { tables, notedEvents, madeSessions, unreadableBytes, walDamagedAt }: SalvageReport,
  to: string,
): string {
  const known = (table: string) => rowWords(table, 1) !== `1 row of ${table}`
  const lines = tables
    .filter(({ table, lost }) => known(table) || lost > 0)
    .map(({ table, saved, lost }) => `  ${rowWords(table, saved)}${lost === 0 ? "" : `; ${lost} could not be read`}`)
  const notes = [
    ...(notedEvents === 0 ? [] : [`${marked(notedEvents)}.`]),
    ...(madeSessions === 0 ? [] : [`${bare(madeSessions)} title and settings.`]),
    ...(walDamagedAt === undefined ? [] : [`The write-ahead log was used up to byte ${walDamagedAt}.`]),
    ...(unreadableBytes === 0 ? [] : [`The disk could not read ${counted(unreadableBytes, "byte")}.`]),
  ]
  return [`Saved to ${to}:`, ...lines, ...notes].join("\n")
}
