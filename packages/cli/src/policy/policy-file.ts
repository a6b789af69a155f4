import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Hub, PolicyInForce } from "@signalbox/client"
import { defined, fieldOf, isObject, jsonFaultWords, textOf } from "@signalbox/protocol"
import { type CommandContext, type JsonOption, nextCommand, shellWord } from "../base/context.ts"
import { CliError, oneLine, usageError } from "../base/failure.ts"
import { withHub } from "../hub/connect.ts"
import { readAll } from "../terminal/input.ts"
import { print, printJson, tellPerson } from "../terminal/output.ts"
import { cutCells, onOneLine } from "../terminal/text.ts"

export interface ForceOption extends JsonOption {
  readonly force?: boolean
}

export interface SetOptions extends ForceOption {
  readonly replaces?: number
}

type Policy = Readonly<Record<string, unknown>>

const SHOWN_EXAMPLES = 3
const EXAMPLE_CHARS = 80

export async function getPolicy(options: JsonOption, context: CommandContext): Promise<void> {
  const policy = await withHub(options, context, (hub) => hub.policy())
  if (options.json === true) return printJson(context, policy)
  await print(context.stdout, fileText(policy))
}

export async function setPolicy(path: string, options: SetOptions, context: CommandContext): Promise<void> {
  const policy = await readPolicyFile(path, context)
  await withHub(options, context, (hub) => putFile(hub, policy, { path, options, context }))
}

/** The text is kept when the hub refuses it: nobody writes it twice. What somebody else changed meanwhile is kept, too. */
export async function editPolicy(options: ForceOption, context: CommandContext): Promise<void> {
  const editor = [context.env["VISUAL"], context.env["EDITOR"]].find((name) => name !== undefined && name !== "")
  if (editor === undefined && !context.stdin.isTTY)
    throw usageError("policy edit needs a terminal or EDITOR. Without them, use policy get and policy set")
  await withHub(options, context, async (hub) => {
    const inForce = await hub.policy()
    const before = fileText(inForce)
    const folder = mkdtempSync(join(tmpdir(), "signalbox-policy-"))
    const path = join(folder, "policy.json")
    writeFileSync(path, before, { mode: 0o600 })
    const isChanged = () => readText(path) !== before
    let isKept = false
    try {
      await openEditor(editor ?? "vi", path, context.env)
      if (!isChanged()) return void context.stderr.write("No changes.\n")
      const how = { path, options: { ...options, replaces: inForce.version }, context }
      await putFile(hub, await readPolicyFile(path, context), how)
    } catch (error) {
      isKept = isChanged()
      const again = nextCommand(setWords(path, changedTo(error) ?? inForce.version), options, context.env)
      if (isKept) context.stderr.write(`Your text is kept in ${path}. To try again: ${again}\n`)
      throw error
    } finally {
      if (!isKept) rmSync(folder, { recursive: true, force: true })
    }
  })
}

interface FilePut {
  readonly path: string
  readonly options: SetOptions
  readonly context: CommandContext
}

async function putFile(hub: Hub, policy: Policy, { path, options, context }: FilePut): Promise<void> {
  const { force = false, replaces } = options
  const next = (words: string) => nextCommand(words, options, context.env)
  const again = next(`${setWords(path, replaces)} --force`)
  const instead = `see them with "${next(`policy test ${shellWord(path)}`)}"`
  try {
    await changePolicy(hub, policy, { force, again, instead, replaces, options, context })
  } catch (error) {
    const version = changedTo(error)
    if (version === undefined) throw error
    const todo = `see what changed with "${next("policy log")}", add it to your text, and give --replaces ${version}`
    const what = `somebody changed the policy meanwhile, and version ${version} is in force`
    throw new CliError("cli/failed", `${what}: ${todo}`, { cause: error })
  }
}

function setWords(path: string, replaces: number | undefined): string {
  return `policy set ${shellWord(path)}${replaces === undefined ? "" : ` --replaces ${replaces}`}`
}

/** The version in force, if that is not the one that was to be replaced. */
function changedTo(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if (!("code" in error) || error.code !== "policy/changed") return changedTo(error.cause)
  const version = "details" in error && isObject(error.details) ? error.details["version"] : undefined
  return typeof version === "number" ? version : undefined
}

export async function readPolicyFile(path: string, context: CommandContext): Promise<Policy> {
  const text = (path === "-" ? await readAll(context.stdin) : readText(path)).replace(/^\uFEFF/, "")
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const format = /^\s*[[{]/.test(text) ? "" : ". A policy is JSON, not YAML"
    throw new CliError("cli/failed", `${path} is not JSON${jsonFaultWords(text)}${format}`)
  }
  if (isObject(value)) return value
  throw new CliError("cli/failed", `${path} is no policy: it must be an object with rules, such as {"rules":[]}`)
}

interface Putting {
  readonly force: boolean
  /** The command that forces it. */
  readonly again: string
  /** Another way out, for whoever is refused. */
  readonly instead: string
  /** Only in place of this version. */
  readonly replaces?: number | undefined
}

export async function putPolicy(
  hub: Hub,
  policy: Policy,
  { force, again, instead, replaces }: Putting,
): Promise<PolicyInForce> {
  try {
    return await hub.setPolicy(policy, { ...(force ? { force } : {}), ...defined({ version: replaces }) })
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "policy/contradicts") throw error
    const what = oneLine(error).replace(/: change it.*$/, "")
    throw new CliError("cli/failed", `${what}: ${contradicted(error)}${instead}, or force it with "${again}"`)
  }
}

/** The newest requests that it would allow. */
function contradicted(error: Error): string {
  const contradicts = "details" in error ? fieldOf(error.details, "contradicts") : undefined
  const examples = Array.isArray(contradicts?.["examples"]) ? contradicts["examples"].slice(0, SHOWN_EXAMPLES) : []
  const texts = examples.map((each: unknown) => {
    const request = onOneLine(`${textOf(each, "tool") ?? ""} ${textOf(each, "text") ?? ""}`, "decision")
    return `${cutCells(request, EXAMPLE_CHARS)} (rule ${onOneLine(textOf(each, "rule") ?? "")})`
  })
  const more = Number(contradicts?.["count"] ?? 0) - texts.length
  if (more > 0) texts.push(`${more} more`)
  return texts.length === 0 ? "" : `${texts.join(", ")}; `
}

interface Changing extends Putting {
  readonly options: JsonOption
  readonly context: CommandContext
}

export async function changePolicy(hub: Hub, policy: Policy, how: Changing): Promise<void> {
  const { options, context, ...putting } = how
  const before = await hub.policy()
  const now = await putPolicy(hub, policy, putting)
  tellEnforce(before, now, context)
  if (options.json === true) return printJson(context, now)
  const count = now.rules.length
  tellPerson(context, `In force: ${count} ${count === 1 ? "rule" : "rules"}.`)
}

/** Told to scripts, too: a policy that leaves the field out judges less, and looks the same. */
export function tellEnforce(inForce: PolicyInForce, { enforce = "asked" }: Policy, { stderr }: CommandContext): void {
  if (inForce.enforce !== "everything" || enforce !== "asked") return
  stderr.write(
    'Enforce goes from everything to asked: new agents are judged only when they ask. To keep it, write "enforce":"everything" in the policy.\n',
  )
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new CliError("cli/failed", `can't read ${path}: ${oneLine(error)}`)
  }
}

/** As somebody would write it: what the policy sees, and its number, are the hub's to say. */
function fileText({ sees: _sees, version: _version, ...policy }: PolicyInForce): string {
  return `${JSON.stringify(policy, null, 2)}\n`
}

/** As git does it: the variable may hold options of the editor, too. */
function openEditor(editor: string, path: string, env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit", env })
    const failed = (reason: string) =>
      new CliError("cli/failed", `the editor ${editor} ${reason}: set EDITOR to one that works`)
    child.once("error", (error) => reject(failed(`can't be started (${oneLine(error)})`)))
    child.once("exit", (code) => (code === 0 ? resolve() : reject(failed(`ended with ${code ?? "a signal"}`))))
  })
}
