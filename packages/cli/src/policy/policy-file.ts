import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Hub, PolicyInForce } from "@signalbox/client"
import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import { type CommandContext, type JsonOption, nextCommand, shellWord } from "../base/context.ts"
import { CliError, oneLine, usageError } from "../base/failure.ts"
import { withHub } from "../hub/connect.ts"
import { readAll } from "../terminal/input.ts"
import { print, printJson, tellPerson } from "../terminal/output.ts"
import { cutCells, onOneLine } from "../terminal/text.ts"

export interface ForceOption extends JsonOption {
  readonly force?: boolean
}

type Policy = Readonly<Record<string, unknown>>

const SHOWN_EXAMPLES = 3
const EXAMPLE_CHARS = 80

export async function getPolicy(options: JsonOption, context: CommandContext): Promise<void> {
  const policy = await withHub(options, context, (hub) => hub.policy())
  if (options.json === true) return printJson(context, policy)
  await print(context.stdout, fileText(policy))
}

export async function setPolicy(path: string, options: ForceOption, context: CommandContext): Promise<void> {
  const policy = await readPolicyFile(path, context)
  await withHub(options, context, async (hub) => {
    const again = nextCommand(`policy set ${shellWord(path)} --force`, options, context.env)
    await tellPut(await putPolicy(hub, policy, { force: options.force === true, again }), options, context)
  })
}

/** The text is kept when the hub refuses it: nobody writes it twice. */
export async function editPolicy(options: ForceOption, context: CommandContext): Promise<void> {
  const editor = [context.env["VISUAL"], context.env["EDITOR"]].find((name) => name !== undefined && name !== "")
  if (editor === undefined && !context.stdin.isTTY)
    throw usageError("policy edit needs a terminal or EDITOR. Without them, use policy get and policy set")
  await withHub(options, context, async (hub) => {
    const before = fileText(await hub.policy())
    const folder = mkdtempSync(join(tmpdir(), "signalbox-policy-"))
    const path = join(folder, "policy.json")
    writeFileSync(path, before, { mode: 0o600 })
    const set = nextCommand(`policy set ${shellWord(path)}`, options, context.env)
    try {
      await openEditor(editor ?? "vi", path, context.env)
      const isChanged = readFileSync(path, "utf8") !== before
      if (isChanged) {
        const policy = await readPolicyFile(path, context)
        await tellPut(
          await putPolicy(hub, policy, { force: options.force === true, again: `${set} --force` }),
          options,
          context,
        )
      } else context.stderr.write("No changes.\n")
    } catch (error) {
      context.stderr.write(`Your text is kept in ${path}. To try again: ${set}\n`)
      throw error
    }
    rmSync(folder, { recursive: true, force: true })
  })
}

export async function readPolicyFile(path: string, context: CommandContext): Promise<Policy> {
  const text = path === "-" ? await readAll(context.stdin) : readText(path)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CliError("cli/failed", `${path} is not JSON: ${oneLine(error)}`)
  }
  if (isObject(value)) return value
  throw new CliError("cli/failed", `${path} is no policy: it must be an object with rules, such as {"rules":[]}`)
}

interface Putting {
  readonly force: boolean
  /** The command that forces it. */
  readonly again: string
  /** Another way out, for whoever is refused. */
  readonly instead?: string
}

export async function putPolicy(
  hub: Hub,
  policy: Policy,
  { force, again, instead = 'see them with "signalbox policy test"' }: Putting,
): Promise<PolicyInForce> {
  try {
    return await hub.setPolicy(policy, force ? { force } : {})
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

export async function tellPut(policy: PolicyInForce, options: JsonOption, context: CommandContext): Promise<void> {
  if (options.json === true) return printJson(context, policy)
  const count = policy.rules.length
  tellPerson(context, `In force: ${count} ${count === 1 ? "rule" : "rules"}.`)
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new CliError("cli/failed", `can't read ${path}: ${oneLine(error)}`)
  }
}

/** As somebody would write it: what the policy sees is the hub's to say. */
function fileText({ sees: _sees, ...policy }: PolicyInForce): string {
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
