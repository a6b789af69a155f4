import { type ImportedEntry, importSettings, type Rule } from "@signalbox/policy"
import { type CommandContext, nextCommand, shellWord } from "../base/context.ts"
import { CliError, usageError } from "../base/failure.ts"
import { withHub } from "../hub/connect.ts"
import { type Colours, coloursFor, print, printJson, tellPerson } from "../terminal/output.ts"
import { cutCells, onOneLine } from "../terminal/text.ts"
import { type ForceOption, putPolicy } from "./policy-file.ts"
import { readSettings } from "./settings-files.ts"

export interface ImportOptions extends ForceOption {
  readonly apply?: boolean
  readonly cwd?: string
}

const LINE_CHARS = 200
/** In the line that refuses them. */
const SHOWN_DENIES = 3

/** Nothing is changed, and no hub is needed, unless the rules are to be put in force. */
export async function importPolicy(
  path: string | undefined,
  options: ImportOptions,
  context: CommandContext,
): Promise<void> {
  const { apply = false, force = false, cwd } = options
  if (force && !apply) throw usageError("--force goes with --apply")
  if (cwd?.startsWith("/") === false) throw usageError(`--cwd ${cwd}: must be a path from the root, such as /srv/app`)
  const files = (await readSettings(path, { cwd, context })).map(({ settings, ...file }) => ({
    ...file,
    ...importSettings(settings, { id: file.id, ...(file.cwd === undefined ? {} : { cwd: file.cwd }) }),
  }))
  const imported = files.flatMap(({ rules }) => rules)
  const words = ["policy import", ...(path === undefined ? [] : [shellWord(path)])]
  if (cwd !== undefined) words.push(`--cwd ${shellWord(cwd)}`)
  const left = lostDenies(files)
  const isForced = apply || left > 0
  const again = nextCommand([...words, "--apply", ...(isForced ? ["--force"] : [])].join(" "), options, context.env)
  if (!apply) {
    const added = place([], imported)
    await report({ files, ...added, policy: { rules: added.rules } }, options, context)
    const without = left === 0 ? "" : `, without ${count(left, "deny rule")},`
    const todo = added.rules.length === 0 ? "" : ` Put these rules in force${without} with: ${again}`
    if (options.json !== true) context.stderr.write(`Nothing was changed.${todo}\n`)
    return
  }
  if (left > 0 && !force) throw refusal(files, left, again)
  await withHub(options, context, async (hub) => {
    const inForce = await hub.policy()
    const { rules, added, idOf } = place(inForce.rules, imported)
    const instead = "leave out these entries"
    const policy = added.length === 0 ? inForce : await putPolicy(hub, { ...inForce, rules }, { force, again, instead })
    await report({ files, added, idOf, policy }, options, context)
    tellPerson(context, `In force: ${count(rules.length, "rule")}, ${added.length} of them new.`)
  })
}

/** To take what the settings allow and not what they deny is more than anybody allowed. */
function refusal(files: readonly File[], left: number, again: string): CliError {
  const lost = files.flatMap(({ entries }) => entries.filter(isLostDeny)).slice(0, SHOWN_DENIES)
  const named = lost.map(({ entry }) => cutCells(onOneLine(entry, "decision"), LINE_CHARS))
  if (left > named.length) named.push(`${left - named.length} more`)
  const what = `${count(left, "deny rule")} would NOT be in force: ${named.join(", ")}`
  return new CliError("cli/failed", `${what}; write rules for these yourself, or go without them with "${again}"`)
}

type Known = Readonly<Record<string, unknown>>

interface Placed {
  readonly rules: readonly Known[]
  readonly added: readonly string[]
  /** The id of each imported rule now: its own, a free one, or that of a rule that says the same. */
  readonly idOf: ReadonlyMap<Rule, string>
}

/** A rule that says what another says already is left out, whatever its id and its reason; one whose id is taken gets another. */
function place(before: readonly Known[], imported: readonly Rule[]): Placed {
  const rules = [...before]
  const ids = new Set(before.map(({ id }) => String(id)))
  const known = new Map(before.map((rule) => [contentOf(rule), String(rule["id"])]))
  const idOf = new Map<Rule, string>()
  for (const rule of imported) {
    const content = contentOf(rule)
    const id = known.get(content) ?? freeId(rule.id, ids)
    idOf.set(rule, id)
    if (known.has(content)) continue
    known.set(content, id)
    ids.add(id)
    rules.push({ ...rule, id })
  }
  return { rules, added: rules.slice(before.length).map(({ id }) => String(id)), idOf }
}

function contentOf({ id: _id, reason: _reason, ...rule }: Known): string {
  return JSON.stringify(Object.entries(rule).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  let id = wanted
  for (let number = 2; taken.has(id); number++) id = `${wanted}-${number}`
  return id
}

interface File {
  readonly path: string
  readonly cwd: string | undefined
  readonly rules: readonly Rule[]
  readonly entries: readonly ImportedEntry[]
  readonly notes: readonly string[]
  readonly deniesLeftOut: number
}

interface Report extends Pick<Placed, "added" | "idOf"> {
  readonly files: readonly File[]
  readonly policy: { readonly rules: readonly Known[] }
}

async function report(told: Report, { json, apply }: ImportOptions, context: CommandContext): Promise<void> {
  const { files, policy, added, idOf } = told
  const read = files.map((file) => ({ ...file, entries: file.entries.map((entry) => placedEntry(entry, file, idOf)) }))
  if (json === true) {
    const all = read.flatMap(({ path, entries }) => entries.map((entry) => ({ file: path, ...entry })))
    return printJson(context, {
      files: files.map(({ path, cwd }) => ({ path, cwd: cwd ?? null })),
      taken: all.filter(isTaken).map(({ notes: _notes, ...entry }) => entry),
      deniesLeftOut: lostDenies(files),
      skipped: all.filter((entry) => !isTaken(entry)).map(({ rules: _none, ...entry }) => entry),
      weaker: all.filter(isWeaker),
      notes: files.flatMap(({ path, notes }) => notes.map((note) => ({ file: path, note }))),
      added,
      policy,
    })
  }
  const colours = coloursFor(context.stdout, context.env)
  const rules = policy.rules.filter(({ id }) => added.includes(String(id)))
  const lines = rules.map((rule) => onOneLine(JSON.stringify(rule), "decision"))
  const title = colours.bold(apply === true ? "New rules" : "Rules")
  const list = lines.length === 0 ? "" : `\n${[title, ...lines].join("\n")}\n`
  await print(context.stdout, `${read.map((file) => fileText(file, colours)).join("\n")}${list}`)
}

function placedEntry(entry: ImportedEntry, { rules }: File, idOf: Placed["idOf"]): ImportedEntry {
  const own = new Set(entry.rules)
  const ids = rules.filter(({ id }) => own.has(id)).map((rule) => idOf.get(rule) ?? rule.id)
  return { ...entry, rules: [...new Set(ids)] }
}

const isTaken = ({ rules }: ImportedEntry) => rules.length > 0
const lostDenies = (files: readonly File[]) => files.reduce((sum, { deniesLeftOut }) => sum + deniesLeftOut, 0)
const isLostDeny = (entry: ImportedEntry) => entry.effect === "deny" && !isTaken(entry)
const isWeaker = (entry: ImportedEntry) => isTaken(entry) && entry.notes.length > 0

function fileText({ path, cwd, entries, notes, deniesLeftOut: left }: File, { bold, dim }: Colours): string {
  const taken = entries.filter(isTaken)
  const place = cwd === undefined ? "" : `, for sessions in ${onOneLine(cwd)}`
  const head = `${bold(onOneLine(path))}: ${taken.length} of ${count(entries.length, "entry", "entries")} taken${place}`
  const group = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [`  ${bold(title)}`, ...lines])
  const explained = ({ effect, entry, rules, notes: why }: ImportedEntry) => {
    const became = rules.length === 0 ? "" : ` ${dim(`→ ${rules.join(", ")}`)}`
    const line = `    ${effect} ${cutCells(onOneLine(entry, "decision"), LINE_CHARS)}${became}`
    return [line, ...why.map((note) => `      ${noteText(note)}`)]
  }
  const rest = entries.filter((entry) => !isTaken(entry) && !isLostDeny(entry))
  const lines = [
    head,
    ...(left === 0 ? [] : [`  ${bold(`${count(left, "deny rule")} NOT in force here`)}`]),
    ...entries.filter(isLostDeny).flatMap(explained),
    ...group("Taken", taken.flatMap(explained)),
    ...group("Left out", rest.flatMap(explained)),
    ...group(
      "Other settings",
      notes.map((note) => `    ${noteText(note)}`),
    ),
  ]
  return `${lines.join("\n")}\n`
}

/** A note quotes its entry. */
function noteText(note: string): string {
  return cutCells(onOneLine(note, "decision"), 2 * LINE_CHARS)
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
