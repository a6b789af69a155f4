import { type CommandContext, dataDirectory } from "../base/context.ts"
import { isAlive, readCard } from "../base/process-files.ts"
import { coloursFor, print, printJson, widthOf } from "../terminal/output.ts"
import { onOneLine, wrapCells } from "../terminal/text.ts"
import { checkDatabase, type DoctorOptions } from "./database-check.ts"
import { checkHub } from "./hub-checks.ts"
import type { Check } from "./machine-checks.ts"
import { checkClaude, checkClock, checkData, checkDisk, checkNode, checkPort, checkSignIn } from "./machine-checks.ts"

/** Exits 1 if something is wrong. */
export async function doctor(options: DoctorOptions, context: CommandContext): Promise<void> {
  const checks = await examine(options, context)
  const isWell = checks.every(({ state }) => state !== "wrong")
  if (options.json === true) await printJson(context, { ok: isWell, checks })
  else await print(context.stdout, checks.map((check) => describe(check, context)).join(""))
  if (!isWell) process.exitCode = 1
}

export async function examine(options: DoctorOptions, context: CommandContext): Promise<readonly Check[]> {
  const { env } = context
  const data = dataDirectory(options, env)
  const card = readCard(data.hubCard)
  const ofHub = await checkHub(options, context)
  // Agents run where their runner does: this shell's own checks count only if no runner reports.
  const ofRunners = (name: string) => ofHub.find((check) => check.name === name)
  const checks = [
    checkNode(),
    ofRunners("claude") ?? (await checkClaude(env)),
    ofRunners("sign-in") ?? checkSignIn(env),
    await checkPort(card !== undefined && isAlive(card) ? card.url : undefined),
    await checkData(data),
    await checkDatabase(data, options, env),
    await checkDisk(data),
    checkClock(),
    ...ofHub.filter(({ name }) => name !== "claude" && name !== "sign-in"),
  ]
  return checks.map(visible)
}

/** Machines, paths and errors have the words of others in them. */
function visible({ found, todo, ...check }: Check): Check {
  return { ...check, found: onOneLine(found), ...(todo === undefined ? {} : { todo: onOneLine(todo) }) }
}

const WIDTH = 8
const INDENT = " ".repeat("wrong ".length + WIDTH + 1)
const MIN_ROOM = 20

function describe({ name, state, found, todo }: Check, { stdout, env }: CommandContext): string {
  const { green, yellow, red, bold } = coloursFor(stdout, env)
  const mark = { ok: green("ok   "), note: yellow("note "), wrong: red("wrong") }[state]
  const head = `${mark} ${bold(name.padEnd(WIDTH))} `
  // Elsewhere each check is one line, for grep.
  if (!stdout.isTTY) return `${head}${found}${todo === undefined ? "" : `. Fix: ${todo}`}\n`
  const room = Math.max(MIN_ROOM, widthOf(stdout) - INDENT.length)
  const lines = [found, ...(todo === undefined ? [] : [`Fix: ${todo}`])].flatMap((text) => wrapCells(text, room))
  return `${head}${lines.join(`\n${INDENT}`)}\n`
}
