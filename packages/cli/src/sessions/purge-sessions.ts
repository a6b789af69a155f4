import type { Pruned } from "@signalbox/client"
import { bytesWords, counted, defined } from "@signalbox/protocol"
import { spanMs } from "@signalbox/protocol/hub-api"
import { type CommandContext, type JsonOption, nextCommand } from "../base/context.ts"
import { CliError, usageError } from "../base/failure.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/connect.ts"
import { TerminalLines } from "../terminal/input.ts"
import { printJson, tellPerson } from "../terminal/output.ts"
import { ago, onOneLine } from "../terminal/text.ts"

export interface RmOptions extends JsonOption {
  readonly yes?: boolean
}

export interface PruneOptions extends RmOptions {
  readonly olderThan: string
  readonly archived?: boolean
  readonly state?: "ended"
  readonly keepLast?: number
  readonly dryRun?: boolean
}

const SHOWN = 10
const SHORT_ID = 8

export async function removeSession(given: string, options: RmOptions, context: CommandContext): Promise<void> {
  await withHub(options, context, async (hub) => {
    const { id, title, state, lastSeq } = await findSession(hub, given)
    const short = id.slice(0, SHORT_ID)
    if (state !== "ended") {
      const stop = nextCommand(`stop ${short}`, options, context.env)
      throw new CliError("cli/failed", `session ${short} has not ended: stop it first with "${stop}"`)
    }
    const what = `session ${short}${title === null ? "" : ` (${onOneLine(title)})`} with ${counted(lastSeq, "event")}`
    if (!(await isSure(`Delete ${what} for good?`, options, context))) return
    await hub.session(id).purge()
    if (options.json === true) await printJson(context, { purged: id })
    else tellPerson(context, "Deleted. Decisions about its requests stay in the audit, without their inputs.")
  })
}

export async function pruneSessions(options: PruneOptions, context: CommandContext): Promise<void> {
  const { olderThan, archived, state, keepLast, dryRun } = options
  if ((spanMs(olderThan) ?? 0) === 0)
    throw usageError(`--older-than ${olderThan}: must be a length of time such as 90d, 12h or 15m`)
  const how = { olderThan, ...defined({ archived, state, keepLast }) }
  await withHub(options, context, async (hub) => {
    const found = await hub.prune({ ...how, dryRun: true })
    const isOver = dryRun === true || found.count === 0
    if (options.json !== true) context.stderr.write(listing(found, { olderThan, isOver }))
    if (isOver) return options.json === true ? printJson(context, found) : undefined
    if (!(await isSure(`Delete ${counted(found.count, "session")} for good?`, options, context))) return undefined
    await reportPruned(await hub.prune(how), options, context)
  })
}

async function reportPruned(pruned: Pruned, options: PruneOptions, context: CommandContext): Promise<void> {
  if (options.json === true) return printJson(context, pruned)
  const again = pruned.more ? ` There are more: run the command again when these are gone.` : ""
  tellPerson(context, `The hub is deleting ${counted(pruned.count, "session")} in the background.${again}`)
}

function listing({ count, sessions, bytes, more }: Pruned, how: { olderThan: string; isOver: boolean }): string {
  if (count === 0) return `No ended sessions are older than ${how.olderThan}. Nothing to delete.\n`
  const lines = sessions.slice(0, SHOWN).map(({ id, title, updatedAt }) => {
    const name = title === null ? "" : `  ${onOneLine(title)}`
    return `  ${id.slice(0, SHORT_ID)}  ${ago(updatedAt, Date.now())} ago${name}`
  })
  const rest = count > lines.length ? [`  and ${counted(count - lines.length, "other")}`] : []
  const many = `${more ? "At least " : ""}${counted(count, "session")}, about ${bytesWords(bytes)}`
  const head = how.isOver ? `Would delete: ${many}` : many
  return `${[head, ...lines, ...rest].join("\n")}\n`
}

/** Scripts say `--yes` or `--json`; without a terminal nobody can be asked. */
async function isSure(question: string, { yes, json }: RmOptions, context: CommandContext): Promise<boolean> {
  if (yes === true || json === true) return true
  const lines = new TerminalLines(context, () => undefined)
  if (!lines.hasPerson) throw usageError("can't ask for confirmation here: add --yes")
  const answer = await lines.ask(`${question} [y/N] `)
  if (answer?.trim().toLowerCase() === "y" || answer?.trim().toLowerCase() === "yes") return true
  context.stderr.write("Nothing was deleted.\n")
  return false
}
