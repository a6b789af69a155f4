import { resolve } from "node:path"
import { bytesWords } from "@signalbox/protocol"
import {
  type CommandContext,
  type DataDirectory,
  dataDirectory,
  type JsonOption,
  makeDataDirectory,
  nextCommand,
  shellWord,
} from "../base/context.ts"
import { usageError } from "../base/failure.ts"
import { requireSqlite } from "../base/store-place.ts"
import { hubElsewhere } from "../hub/connect.ts"
import { rowWords } from "../terminal/amounts.ts"
import { print, printJson, tellPerson } from "../terminal/output.ts"
import { ProgressBar } from "../terminal/progress-bar.ts"
import { cleanedUp } from "./interruption.ts"

export async function backup(file: string, options: JsonOption, context: CommandContext): Promise<void> {
  const data = dataDirectory(options, context.env)
  requireHere(data, "backup", context)
  requireSqlite(data, context, 'back it up with pg_dump --format=custom --schema=signalbox --file FILE "ADDRESS"')
  const target = resolve(file)
  const { backUpData, removeUnfinished } = await import("@signalbox/hub/upkeep")
  const report = await cleanedUp(
    () => removeUnfinished({ file: target }),
    () => withBar("Backing up", context, (show) => backUpData(data.path, target, show)),
  )
  if (options.json === true) return printJson(context, report)
  await print(context.stdout, `Backed up to ${target} and checked: ${contents(report)}.\n`)
  tellPerson(context, `To restore: signalbox restore ${shellWord(target)} --data NEW_DIRECTORY`)
}

export async function restore(file: string, options: JsonOption, context: CommandContext): Promise<void> {
  const data = dataDirectory(options, context.env)
  requireSqlite(data, context, "restore a dump of it with pg_restore, or name another directory with --data")
  const source = resolve(file)
  const { restoreData, removeUnfinished } = await import("@signalbox/hub/upkeep")
  makeDataDirectory(data)
  const found = await cleanedUp(
    () => removeUnfinished({ dataDirectory: data.path }),
    () => withBar("Restoring", context, (show) => restoreData(source, data.path, show)),
  )
  const start = nextCommand("up", options, context.env)
  if (options.json === true) return printJson(context, { data: data.path, ...found, start })
  const list = nextCommand("token ls", options, context.env)
  const lines = [
    `Restored to ${data.path} and checked: ${contents(found)}.`,
    `Start it with: ${start}`,
    `Valid tokens: ${found.validTokens}, including any revoked since the backup. Once it runs, check them: ${list}`,
  ]
  await print(context.stdout, `${lines.join("\n")}\n`)
}

/** Files on another machine can't be read from here. */
export function requireHere(data: DataDirectory, command: string, { env }: CommandContext): void {
  const elsewhere = hubElsewhere(data, env)
  if (elsewhere === undefined) return
  throw usageError(
    `SIGNALBOX_URL is ${elsewhere}, and ${command} reads files: run it on that hub's machine, or name a data directory of this one with --data`,
  )
}

interface Contents {
  readonly bytes: number
  readonly rows: Readonly<Record<string, number>>
}

function contents({ bytes, rows }: Contents): string {
  return [bytesWords(bytes), ...Object.entries(rows).map(([table, count]) => rowWords(table, count))].join(", ")
}

export async function withBar<T>(
  what: string,
  { stderr }: CommandContext,
  work: (show: (done: number, total: number) => void) => Promise<T>,
  words: (amount: number) => string = bytesWords,
): Promise<T> {
  const bar = new ProgressBar(stderr, what, words)
  try {
    return await work((done, total) => bar.show(Math.min(done, total), total))
  } finally {
    bar.end()
  }
}
