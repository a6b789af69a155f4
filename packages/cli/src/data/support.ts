import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from "node:fs"
import { availableParallelism, release, totalmem } from "node:os"
import { join, resolve } from "node:path"
import { bytesWords } from "@signalbox/protocol"
import { listedAddresses } from "@signalbox/protocol/hub-addresses"
import { type CommandContext, type DataDirectory, dataDirectory, type JsonOption } from "../base/context.ts"
import { CliError, oneLine, usageError } from "../base/failure.ts"
import { claudeAtHand } from "../base/installed.ts"
import { passwordIn, postgresOf } from "../base/store-place.ts"
import { examine } from "../doctor/doctor.ts"
import { findHub, hubElsewhere, withHub } from "../hub/connect.ts"
import { print, printJson } from "../terminal/output.ts"
import { inLines } from "../terminal/text.ts"
import { hostOf, logLineForOthers, machineHider, NAMED_VARIABLE, type Placeholders, scrubber } from "./redaction.ts"

const HEAD = `A Signalbox support file. It has no prompts, tool inputs, file contents, tokens or keys: read it before you send it.
`
const LOG_BYTES = 256 * 1024
const LOG_LINES = 300
const METRICS_MS = 10_000

/** One text file that a person can read before it is sent. A part that cannot be had says why. */
export async function support(file: string, options: JsonOption, context: CommandContext): Promise<void> {
  const target = resolve(file)
  const data = dataDirectory(options, context.env)
  const parts: Readonly<Record<string, () => Promise<string>>> = {
    versions,
    checks: () => checks(options, context),
    settings: () => settings(options, context),
    "data directory": async () => files(data),
    store: () => store(data, context),
    metrics: () => metrics(options, context),
    "runner.log": async () => logTail(data.runnerLog),
    "hub.log": async () => logTail(join(data.path, "hub.log")),
  }
  const sections: string[] = []
  for (const [name, part] of Object.entries(parts)) {
    const text = await part().catch((error: unknown) => `not available: ${oneLine(error)}`)
    sections.push(`\n== ${name}\n\n${text}\n`)
  }
  const secrets = [...[data.adminToken, data.runnerToken].map(textIn), passwordIn(context.env["SIGNALBOX_STORE"])]
  const scrub = scrubber(context.env, secrets, placesOf(data, options, context))
  await write(target, HEAD + inLines(scrub(sections.join(""))))
  if (options.json === true) return printJson(context, { file: target, sections: Object.keys(parts) })
  await print(context.stdout, `Written: ${target}. Read it before you send it.\n`)
}

/** The data directory if it was named, and the hosts of hub and database: whose they are is nobody's business. */
function placesOf(data: DataDirectory, options: JsonOption, context: CommandContext): Placeholders {
  const named = [...(data.isNamed ? [[data.path, "[data]"] as const] : []), ...placesOfStore(data, context)]
  try {
    return new Map([...named, ...hostOf(findHub(options, context).url)])
  } catch {
    return new Map(named)
  }
}

/** Also where the directory remembers the database, and no variable names it. */
function placesOfStore(data: DataDirectory, { env }: CommandContext): readonly (readonly [string, string])[] {
  try {
    const url = postgresOf({}, data, env) ?? ""
    const hidden = hostOf(url)
    if (hidden.length === 0) return []
    const { host, pathname } = new URL(url)
    return [[`${host}${pathname}`, "[store]"], [decodeURIComponent(pathname.slice(1)), "[database]"], ...hidden]
  } catch {
    return []
  }
}

async function write(target: string, text: string): Promise<void> {
  try {
    writeFileSync(target, text, { mode: 0o600, flag: "wx" })
  } catch (error) {
    const { taken } = await import("@signalbox/hub/upkeep")
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw usageError(taken(target, "choose another name").message)
    throw new CliError("cli/failed", `can't write ${target}: ${oneLine(error)}`, { cause: error })
  }
}

/** Checks that tell what runners say about themselves. */
const OF_RUNNERS: ReadonlySet<string> = new Set(["runner", "claude", "sign-in"])

async function checks(options: JsonOption, context: CommandContext): Promise<string> {
  const machines = await withHub(options, context, (hub) => hub.runners.list()).catch(() => [])
  const hide = machineHider(machines)
  const words = (await examine(options, context)).map(
    ({ name, state, found }) => `${state.padEnd(5)} ${name}: ${OF_RUNNERS.has(name) ? hide(found) : found}`,
  )
  return words.join("\n")
}

async function versions(): Promise<string> {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  )
  const claude = (await claudeAtHand()()) ?? "not found"
  return [
    `signalbox ${manifest.version}`,
    `node ${process.versions.node}`,
    `claude ${claude}`,
    `${process.platform} ${release()} ${process.arch}, ${availableParallelism()} cores, ${bytesWords(totalmem())} memory`,
  ].join("\n")
}

/** Names of variables without their values; of the hub's settings those that are a number or a switch. */
async function settings(options: JsonOption, context: CommandContext): Promise<string> {
  const names = Object.keys(context.env).filter((name) => NAMED_VARIABLE.test(name))
  const ofHub = await withHub(options, context, async (hub) => {
    const [set, policy] = [await hub.settings(), await hub.policy()]
    const plain = Object.entries(set).filter(([, value]) => typeof value === "number" || typeof value === "boolean")
    return [
      ...plain.map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
      `rules in the policy: ${policy.rules.length}`,
    ]
  }).catch((error: unknown) => [`hub: ${oneLine(error)}`])
  return [`variables that are set: ${names.toSorted().join(", ") || "none"}`, ...ofHub].join("\n")
}

/** Files of ours. Others may have any name. */
const OWN_FILE =
  /^(?:(?:signalbox|search)\.db(?:-wal|-shm|-journal)?|(?:hub|runner)\.log(?:\.1)?|(?:hub|runner-reply|runner-ended)\.json|(?:admin|runner)-token|last-backup|lock|runner|store)$/

function files({ path }: DataDirectory): string {
  const names = readdirSync(path).toSorted()
  const own = names.filter((name) => OWN_FILE.test(name))
  const rows = own.map((name) => {
    const { mode, size } = lstatSync(join(path, name))
    return `${(mode & 0o777).toString(8)} ${String(size).padStart(14)} ${name}`
  })
  return [...rows, `(other files: ${names.length - own.length})`].join("\n")
}

async function store(data: DataDirectory, { env }: CommandContext): Promise<string> {
  if (hubElsewhere(data, env) !== undefined) return "on the hub's own machine"
  const { surveyData, surveyPostgres } = await import("@signalbox/hub/upkeep")
  const url = postgresOf({}, data, env)
  const found = url === undefined ? { server: "SQLite", ...surveyData(data.path) } : await surveyPostgres(url)
  const { server, schema, bytes, rows } = found
  return [
    `${server}, schema ${schema}, ${bytes} bytes in use`,
    ...Object.entries(rows).map(([table, count]) => `${table}: ${count}`),
  ].join("\n")
}

async function metrics(options: JsonOption, context: CommandContext): Promise<string> {
  const { url, token } = findHub(options, context)
  let failure: unknown
  for (const at of listedAddresses(url)) {
    try {
      const reply = await fetch(`${at}/metrics`, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(METRICS_MS),
      })
      if (!reply.ok) throw new Error(`the hub answered ${reply.status}`)
      return (await reply.text()).trim()
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function logTail(file: string): string {
  if (!existsSync(file)) return "none"
  const descriptor = openSync(file, "r")
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, LOG_BYTES))
    readSync(descriptor, buffer, 0, buffer.length, size - buffer.length)
    const lines = buffer.toString("utf8").split("\n").slice(-LOG_LINES)
    const kept = lines.map(logLineForOthers)
    const left = kept.filter((line, index) => line === undefined && lines[index] !== "").length
    return [
      ...kept.filter((line) => line !== undefined),
      `(lines left out because they may hold anything: ${left})`,
    ].join("\n")
  } finally {
    closeSync(descriptor)
  }
}

function textIn(file: string): string {
  try {
    return readFileSync(file, "utf8").trim()
  } catch {
    return ""
  }
}
