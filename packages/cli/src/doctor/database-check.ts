import type { DataState } from "@signalbox/hub/upkeep"
import { bytesWords } from "@signalbox/protocol"
import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { type DataDirectory, type JsonOption, nextCommand } from "../base/context.ts"
import { oneLine } from "../base/failure.ts"
import { postgresOf, withoutPassword } from "../base/store-place.ts"
import { rowWords } from "../terminal/amounts.ts"
import { type Check, note, ok, wrong } from "./machine-checks.ts"

export interface DoctorOptions extends JsonOption {
  /** A large database too. */
  readonly checkAll?: boolean
}

/** Whether the database is sound, if no hub writes to it; of a damaged one, how much can be saved. */
export async function checkDatabase(
  data: DataDirectory,
  options: DoctorOptions,
  env: NodeJS.ProcessEnv,
): Promise<Check> {
  const url = postgresOf({}, data, env)
  if (url !== undefined) return checkPostgres(url)
  const next = (words: string) => nextCommand(words, options, env)
  const { checkData } = await import("@signalbox/hub/upkeep")
  let found: DataState
  try {
    found = await checkData(data.path, options.checkAll === true ? Number.POSITIVE_INFINITY : undefined)
  } catch (error) {
    const isNewer = error instanceof Error && "code" in error && error.code === "data/newer"
    const todo = isNewer ? "use the version of Signalbox that wrote it" : `check who may read and write ${data.path}`
    return wrong("database", oneLine(error), todo)
  }
  switch (found.state) {
    case "absent":
      return ok("database", "none yet")
    case "in-use":
      return ok("database", `${bytesWords(found.bytes)}, in use by the hub (${next("backup FILE")} checks it too)`)
    case "unchecked":
      return note(
        "database",
        `${bytesWords(found.bytes)}, not checked: that takes minutes`,
        `check it: ${next("doctor --check-all")}, or with a copy: ${next("backup FILE")}`,
      )
    case "sound":
      return ok("database", `${[bytesWords(found.bytes), ...wordsOf(found.rows)].join(", ")}; sound`)
    case "damaged": {
      const readable = found.readable.map(({ table, saved, lost }) =>
        lost === 0
          ? `all ${rowWords(table, saved)}`
          : `${saved.toLocaleString("en")} of ${rowWords(table, saved + lost)}`,
      )
      const savable = readable.length === 0 ? "" : `. Can be saved: ${readable.join("; ")}`
      const todo = `restore a backup (signalbox restore FILE --data NEW), or save the rest: ${next("salvage --to NEW")}`
      return wrong("database", `damaged: ${oneLine(found.why)}${savable}`, todo)
    }
  }
}

/** Whether a hub could work with its database now. */
async function checkPostgres(url: string): Promise<Check> {
  const { surveyPostgres } = await import("@signalbox/hub/upkeep")
  try {
    const { server, bytes, rows } = await surveyPostgres(url)
    const place = `${server} at ${withoutPassword(url)}`
    return ok("database", [place, bytesWords(bytes), ...wordsOf(rows)].join(", "))
  } catch (error) {
    const details = fieldOf(error, "details")
    const [found, todo] = [textOf(details, "found"), textOf(details, "todo")]
    return wrong("database", found ?? oneLine(error), todo ?? "see docs/scale.md")
  }
}

function wordsOf(rows: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(rows).map(([table, count]) => rowWords(table, count))
}
