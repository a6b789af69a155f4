import type { Hub, PolicyVersion } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol"
import { type CommandContext, type JsonOption, nextCommand } from "../base/context.ts"
import { usageError } from "../base/failure.ts"
import { withHub } from "../hub/connect.ts"
import { type Colours, coloursFor, print, printJson } from "../terminal/output.ts"
import { printTable } from "../terminal/table.ts"
import { ago, onOneLine } from "../terminal/text.ts"
import { changePolicy, type ForceOption } from "./policy-file.ts"

export interface LogOptions extends ForceOption {
  readonly restore?: number
  readonly limit: number
}

export function showPolicyLog(given: string | undefined, options: LogOptions, context: CommandContext): Promise<void> {
  if (given !== undefined && !/^[1-9]\d{0,8}$/.test(given))
    throw usageError(`${given} is no version: see "signalbox policy log"`)
  if (given !== undefined && options.restore !== undefined)
    throw usageError(`${given} and --restore ${options.restore}: give one version, to see it or to go back to it`)
  return withHub(options, context, async (hub) => {
    if (options.restore !== undefined) return restore(hub, options.restore, { options, context })
    if (given !== undefined) return showVersion(hub, Number(given), { options, context })
    const { versions, more } = await hub.policyVersions({ limit: options.limit })
    if (options.json === true) return printJson(context, { versions, more })
    if (versions.length === 0) return void context.stderr.write("No policy was ever put in force.\n")
    await printTable(context, versions, ({ bold, dim }) => [
      { title: "VERSION", text: ({ version }) => String(version), paint: bold, isRight: true },
      { title: "AGE", text: ({ at }) => ago(at, Date.now()), paint: dim, isRight: true },
      { title: "BY", text: ({ by }) => onOneLine(by ?? "unknown") },
      { title: "RULES", text: ({ rules }) => String(rules), isRight: true },
      { title: "CHANGES", text: ({ changes, forced }) => changesText(changes, forced !== undefined), isWide: true },
    ])
  })
}

interface Shown {
  readonly options: JsonOption & ForceOption
  readonly context: CommandContext
}

async function restore(hub: Hub, version: number, { options, context }: Shown): Promise<void> {
  const { policy } = await hub.policyVersion(version)
  const next = (words: string) => nextCommand(words, options, context.env)
  const again = next(`policy log --restore ${version} --force`)
  const instead = `change the rules with "${next("policy edit")}"`
  await changePolicy(hub, policy, { force: options.force === true, again, instead, options, context })
}

/** The rules that it changed, line by line. */
async function showVersion(hub: Hub, number: number, { options, context }: Shown): Promise<void> {
  const version = await hub.policyVersion(number)
  if (options.json === true) return printJson(context, version)
  const [entry] = (await hub.policyVersions({ before: number, limit: 1 })).versions
  const before = entry === undefined ? undefined : await hub.policyVersion(entry.version)
  const colours = coloursFor(context.stdout, context.env)
  const { at, by, forced } = version
  const force = forced === undefined ? "" : `, forced against ${forced} answers`
  const head = `Version ${number}, put in force at ${at} by ${onOneLine(by ?? "unknown")}${force}`
  await print(context.stdout, `${[colours.bold(head), ...differenceLines(before, version, colours)].join("\n")}\n`)
}

function differenceLines(
  before: PolicyVersion | undefined,
  after: PolicyVersion,
  { red, green, dim }: Colours,
): string[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  const removed = [...old]
    .filter(([name, text]) => now.get(name) !== text)
    .map(([name, text]) => [name, red(`- ${text}`)] as const)
  const added = [...now]
    .filter(([name, text]) => old.get(name) !== text)
    .map(([name, text]) => [name, green(`+ ${text}`)] as const)
  const names = [...new Set([...removed, ...added].map(([name]) => name))]
  const lines = names.flatMap((name) =>
    [...removed, ...added].flatMap(([other, text]) => (other === name ? [text] : [])),
  )
  return lines.length === 0 ? [dim("No rule was changed.")] : lines
}

/** Each rule by its id, each other field by its name. */
function linesOf(version: PolicyVersion | undefined): ReadonlyMap<string, string> {
  const { rules = [], ...settings } = version?.policy ?? {}
  const lines = (Array.isArray(rules) ? rules : []).map((rule: unknown, at) => {
    const id = isObject(rule) ? textOf(rule, "id") : undefined
    return [`rule ${id ?? at}`, onOneLine(JSON.stringify(rule), "decision")] as const
  })
  return new Map([
    ...lines,
    ...Object.entries(settings).map(([name, value]) => [name, onOneLine(`${name}: ${JSON.stringify(value)}`)] as const),
  ])
}

/** Rules by their ids with `+`, `-` and `~`, and the names of other fields. */
export function changesText(changes: Readonly<Record<string, unknown>> | undefined, isForced: boolean): string {
  const named = Object.entries(SIGNS).flatMap(([kind, sign]) => {
    const names = changes?.[kind]
    return Array.isArray(names) ? names.map((name) => `${sign}${String(name)}`) : []
  })
  return onOneLine([...named, ...(isForced ? ["(forced)"] : [])].join(" "))
}

const SIGNS = { added: "+", removed: "-", changed: "~", settings: "" }
