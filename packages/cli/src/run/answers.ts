import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isObject, textOf } from "@signalbox/protocol"
import type { CanUseToolOptions, ElicitationRequest, ElicitationResult, PermissionResult } from "@signalbox/sdk"
import { visibleText } from "@signalbox/transcript"
import { type AskField, chosen, type FieldValue, formFields, questionFields, readValue } from "../asks/ask-fields.ts"
import { toolAsked } from "../asks/ask-text.ts"
import { chosenGrants, grantLines, offeredGrants } from "../asks/grants.ts"
import { oneLine } from "../base/failure.ts"
import type { TerminalLines } from "../terminal/input.ts"
import type { Colours } from "../terminal/output.ts"

export interface Asking {
  readonly lines: TerminalLines
  readonly colours: Colours
  readonly env: NodeJS.ProcessEnv
  /** Says something that needs no answer. */
  readonly tell: (text: string) => void
  /** The folder that the agent works in. */
  readonly cwd: string
  /** The plan in the call of a tool, where it has one. */
  readonly planOf: (toolUseId: string) => string | undefined
}

type Input = Readonly<Record<string, unknown>>

interface About {
  readonly facts: CanUseToolOptions
  readonly asking: Asking
}

const NOBODY = "Nobody is at the terminal to allow this. Start it with a permission mode or rule that allows it."
const UNANSWERED: PermissionResult = { behavior: "deny", message: "The user did not answer." }
const YES = /^y(es)?$/i

/** Asks the person at the terminal whether a tool may run. Without one, denies. */
export async function answerTool(
  tool: string,
  input: Record<string, unknown>,
  { facts, asking }: { facts: CanUseToolOptions; asking: Asking },
): Promise<PermissionResult> {
  if (!asking.lines.hasPerson) {
    asking.tell(`${tool} was denied: nobody is at the terminal to allow it (see --mode)`)
    return { behavior: "deny", message: NOBODY }
  }
  switch (tool) {
    case "AskUserQuestion":
      return answerQuestions(input, { facts, asking })
    case "ExitPlanMode":
      return answerPlan(input, { facts, asking })
    default:
      return answerUse(tool, input, { facts, asking })
  }
}

async function answerUse(tool: string, input: Record<string, unknown>, about: About): Promise<PermissionResult> {
  const { facts, asking } = about
  const { lines, colours } = asking
  lines.write(toolAsked(tool, input, { facts, colours, cwd: asking.cwd }))
  const grants = offeredGrants(facts.suggestions, facts.suppressAlwaysAllowRule === true)
  for (const line of grantLines(grants, { always: "a" })) lines.write(colours.dim(`  ${line}\n`))
  const choices = ["y", "n [reason]", "e(dit)", ...(grants.length === 0 ? [] : ["a(lways) [numbers]"])].join(" / ")
  // Bounded: somebody who types this much else does not mean to answer.
  for (let turn = 0; turn < 20; turn++) {
    const answer = (await lines.ask(colours.bold(`  Allow? ${choices}: `), { signal: facts.signal }))?.trim()
    if (answer === undefined) return UNANSWERED
    if (YES.test(answer)) return { behavior: "allow", updatedInput: input }
    const always = /^a(?:lways)?((?:[\s,]*\d{1,4})*)$/i.exec(answer)
    if (always !== null) {
      const updatedPermissions = chosenGrants(grants, (always[1]?.match(/\d+/g) ?? []).map(Number))
      if (updatedPermissions.length > 0) return { behavior: "allow", updatedInput: input, updatedPermissions }
      lines.write(colours.dim("  Choose one by its number, such as: a 2\n"))
      continue
    }
    const why = /^n(?:o)?(?:\s+(.*))?$/i.exec(answer)
    if (why !== null) return { behavior: "deny", message: why[1] ?? "The user said no." }
    if (/^e(dit)?$/i.test(answer)) {
      const edited = await edit(input, about)
      if (edited !== undefined) return edited
    }
  }
  return UNANSWERED
}

/** Shows the edited input before it is allowed: an edit is not yet a yes. */
async function edit(input: Input, { facts, asking }: About): Promise<PermissionResult | undefined> {
  const changed = await editInput(input, { lines: asking.lines, env: asking.env, signal: facts.signal })
  if (changed === undefined) return undefined
  asking.lines.write(`${visibleText(JSON.stringify(changed, null, 2), "decision").replaceAll(/^/gm, "  ")}\n`)
  const answer = await asking.lines.ask(asking.colours.bold("  Allow this? y / n: "), { signal: facts.signal })
  return answer !== undefined && YES.test(answer.trim())
    ? { behavior: "allow", updatedInput: { ...changed } }
    : undefined
}

async function answerPlan(input: Input, { facts, asking }: About): Promise<PermissionResult> {
  const { lines, colours } = asking
  const plan = textOf(input, "plan") ?? asking.planOf(facts.toolUseID) ?? "(empty plan)"
  lines.write(`\n${colours.yellow("? The plan:")}\n${visibleText(plan)}\n\n`)
  const answer = await lines.ask(colours.bold("  Approve? y / n / what to change: "), { signal: facts.signal })
  const text = answer?.trim()
  if (text === undefined || text === "") return UNANSWERED
  if (YES.test(text)) return { behavior: "allow", updatedInput: { ...input } }
  return { behavior: "deny", message: /^no?$/i.test(text) ? "The user wants to keep planning." : text }
}

async function answerQuestions(input: Input, about: About): Promise<PermissionResult> {
  const answers: Record<string, string> = {}
  for (const question of questionFields(input["questions"])) {
    const answer = await answerQuestion(question, about)
    if (answer === undefined) return UNANSWERED
    answers[question.name] = answer
  }
  return { behavior: "allow", updatedInput: { ...input, answers } }
}

async function answerQuestion(question: AskField, { facts, asking }: About): Promise<string | undefined> {
  const { lines, colours } = asking
  lines.write(`\n${colours.yellow(`? ${question.words}`)}\n`)
  for (const [index, { label, description }] of question.options.entries()) {
    const more = description === undefined ? "" : colours.dim(`  ${visibleText(description)}`)
    lines.write(`  ${index + 1}. ${visibleText(label)}${more}\n`)
  }
  const how = question.isMany ? "Numbers, or your own answer: " : "A number, or your own answer: "
  const answer = (await lines.ask(colours.bold(`  ${how}`), { signal: facts.signal }))?.trim()
  return answer === undefined || answer === "" ? undefined : chosen(answer, question)
}

/** A form of an MCP server, field by field. */
export async function answerForm(
  request: ElicitationRequest,
  { asking, signal }: { asking: Asking; signal: AbortSignal },
): Promise<ElicitationResult> {
  const { lines, colours } = asking
  if (!lines.hasPerson) return { action: "decline" }
  lines.write(
    `\n${colours.yellow(`? ${visibleText(request.serverName)} (an MCP server) asks:`)} ${visibleText(request.message)}\n`,
  )
  if (request.mode === "url") lines.write(`  ${visibleText(request.url ?? "")}\n`)
  const ready = request.mode === "url" ? "  Done there? y / n: " : "  Answer? y / n: "
  const begin = (await lines.ask(colours.bold(ready), { signal }))?.trim()
  if (begin === undefined) return { action: "cancel" }
  if (!YES.test(begin)) return { action: "decline" }
  if (request.mode === "url") return { action: "accept" }
  const content: Record<string, FieldValue> = {}
  for (const field of formFields(request.requestedSchema)) {
    const value = await answerField(field, { asking, signal })
    if (value === GIVEN_UP) return { action: "cancel" }
    if (value !== undefined) content[field.name] = value
  }
  return { action: "accept", content }
}

const GIVEN_UP: unique symbol = Symbol("given up")
const TRIES = 10

async function answerField(
  field: AskField,
  { asking, signal }: { readonly asking: Asking; readonly signal: AbortSignal },
): Promise<FieldValue | undefined | typeof GIVEN_UP> {
  const { lines, colours } = asking
  const hint = hintOf(field)
  for (let turn = 0; turn < TRIES; turn++) {
    const answer = await lines.ask(`  ${field.words}${colours.dim(hint)}: `, { signal })
    if (answer === undefined) return GIVEN_UP
    if (answer.trim() === "" && !field.isRequired) return undefined
    const value = readValue(answer.trim(), field.schema)
    if (value !== undefined) return value
    lines.write(colours.red(`  not valid here${hint}\n`))
  }
  return GIVEN_UP
}

function hintOf({ options, schema, isRequired }: AskField): string {
  const labels = options.map(({ label }) => label).join(", ")
  return ` (${visibleText(labels || (textOf(schema, "type") ?? "text"))}${isRequired ? "" : ", optional"})`
}

/** The input as a person changed it; undefined if they gave up. In an editor if one is set, else on the line. */
async function editInput(
  input: Input,
  { lines, env, signal }: { lines: TerminalLines; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<Input | undefined> {
  const editor = env["VISUAL"] ?? env["EDITOR"]
  if (editor !== undefined && editor !== "") return inEditor(input, editor, lines)
  const command = input["command"]
  if (typeof command === "string" && !command.includes("\n")) {
    const changed = await lines.ask("  command: ", { prefill: command, signal })
    return changed === undefined ? undefined : { ...input, command: changed }
  }
  const text = await lines.ask("  input as JSON: ", { prefill: JSON.stringify(input), signal })
  return text === undefined ? undefined : readInput(text, lines)
}

async function inEditor(input: Input, editor: string, lines: TerminalLines): Promise<Input | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-edit-"))
  try {
    const file = join(folder, "input.json")
    await writeFile(file, `${JSON.stringify(input, null, 2)}\n`, { mode: 0o600 })
    // An editor may be a command line ("code --wait"), as git takes it.
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" })
    const [code] = await once(child, "exit")
    if (code === 0) return readInput(await readFile(file, "utf8"), lines)
    lines.write(`  ${editor} exited with code ${String(code)}: input unchanged\n`)
    return undefined
  } catch (error) {
    lines.write(`  can't use ${editor}: ${oneLine(error)}\n`)
    return undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function readInput(text: string, lines: TerminalLines): Input | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
    lines.write("  not a JSON object: input unchanged\n")
  } catch (error) {
    lines.write(`  not valid JSON: ${oneLine(error)}\n`)
  }
  return undefined
}
