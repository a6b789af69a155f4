import type { AuditRecord, Hub } from "@signalbox/client"
import { defined, fieldOf, textOf } from "@signalbox/protocol"
import { AUDIT_CSV_HEAD, AUDIT_OUTCOMES, auditCsvLine } from "@signalbox/protocol/hub-api"
import type { CommandContext, JsonOption } from "../base/context.ts"
import { notOneOf } from "../base/define-command.ts"
import { CliError, usageError } from "../base/failure.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/connect.ts"
import { type Colours, print } from "../terminal/output.ts"
import { type Column, printTable } from "../terminal/table.ts"
import { onOneLine } from "../terminal/text.ts"
import { whyText } from "../terminal/why-text.ts"
import { changesText } from "./policy-log.ts"

export interface AuditOptions extends JsonOption {
  readonly since?: string
  readonly by?: string
  readonly rule?: string
  readonly session?: string
  readonly machine?: string
  readonly tool?: string
  readonly what?: string
  readonly limit?: number
  readonly csv?: boolean
}

const SHOWN = 50
const SHORT_ID = 8

export function showAudit(options: AuditOptions, context: CommandContext): Promise<void> {
  if (options.json === true && options.csv === true) throw usageError("--json and --csv: choose one")
  return withHub(options, context, async (hub) => {
    const { since, by, rule, tool, what, limit } = options
    if (what !== undefined) await requireOutcome(hub, what)
    const session = options.session === undefined ? undefined : (await findSession(hub, options.session)).id
    const runner = options.machine === undefined ? undefined : await runnerNamed(hub, options.machine)
    const filter = defined({ since, by, rule, tool, what, session, runner })
    if (options.json === true)
      return exportAll(hub, filter, { limit, context, line: (record) => `${JSON.stringify(record)}\n` })
    if (options.csv === true) {
      await print(context.stdout, AUDIT_CSV_HEAD)
      return exportAll(hub, filter, { limit, context, line: auditCsvLine })
    }
    const newest: AuditRecord[] = []
    for await (const record of hub.auditRecords({ ...filter, order: "newest", limit: Math.min(limit ?? SHOWN, 500) })) {
      newest.push(record)
      if (newest.length >= (limit ?? SHOWN)) break
    }
    if (newest.length === 0) return void context.stderr.write("No audit records match.\n")
    const columnsFor = ({ bold, dim }: Colours): Column<AuditRecord>[] => [
      { title: "AT", text: ({ at }) => at.replace("T", " ").slice(0, 19), paint: dim },
      { title: "WHAT", text: (record) => onOneLine(record.what), paint: bold },
      { title: "BY", text: (record) => onOneLine(record.by ?? record.via ?? "") },
      { title: "SESSION", text: ({ sessionId }) => (sessionId ?? "").slice(0, SHORT_ID) },
      { title: "ABOUT", text: aboutText, isWide: true },
    ]
    await printTable(context, newest.toReversed(), columnsFor, ({ details }, colours) =>
      whyText(details, colours).map(colours.dim),
    )
  })
}

type AuditQuery = Parameters<Hub["auditRecords"]>[0]

interface Export {
  readonly limit: number | undefined
  readonly context: CommandContext
  readonly line: (record: AuditRecord) => string
}

async function exportAll(
  hub: Hub,
  filter: AuditQuery,
  { limit = Number.POSITIVE_INFINITY, context, line }: Export,
): Promise<void> {
  let count = 0
  for await (const record of hub.auditRecords(filter)) {
    await print(context.stdout, line(record))
    if (++count >= limit) return
  }
}

/** A newer hub may have others, and any request to an agent may be in the audit. */
async function requireOutcome(hub: Hub, what: string): Promise<void> {
  if (what.startsWith("control/") || AUDIT_OUTCOMES.some((outcome) => outcome === what)) return
  const { records } = await hub.audit({ what, limit: 1 })
  if (records.length === 0) throw notOneOf(`--what ${what}`, [...AUDIT_OUTCOMES, "control/…"])
}

/** By its name or its id. */
export async function runnerNamed(hub: Hub, given: string): Promise<string> {
  const runners = await hub.runners.list()
  const found = runners.find(({ id }) => id === given) ?? runners.find(({ name }) => name === given)
  if (found === undefined) throw new CliError("cli/failed", `no machine is called ${given}`, { list: "doctor" })
  return found.id
}

function aboutText({ what, details }: AuditRecord): string {
  const parts = what === "policy/changed" ? [policyText(details)] : LAUNCHES.has(what) ? LAUNCH : ASK
  const texts = parts.flatMap((part) => (typeof part === "string" ? part : wordsOf(details, part)))
  return onOneLine(texts.length > 0 ? texts.join(", ") : JSON.stringify(details), "decision")
}

type Part = readonly [field: string, words: string]

const ASK: readonly Part[] = [
  ["toolName", ""],
  ["rule", "rule "],
]
const LAUNCHES: ReadonlySet<string> = new Set(["session/launched", "session/resumed"])
const LAUNCH: readonly Part[] = [
  ["agent", ""],
  ["cwd", "in "],
  ["model", "model "],
  ["permissionMode", "mode "],
  ["enforce", "enforce "],
]

function wordsOf(details: AuditRecord["details"], [field, words]: Part): readonly string[] {
  const text = textOf(details, field)
  return text === undefined ? [] : [`${words}${text}`]
}

function policyText(details: AuditRecord["details"]): string {
  return `version ${String(details["version"])}: ${changesText(fieldOf(details, "changes"), "forced" in details)}`
}
