import { isObject, textOf } from "@signalbox/protocol"
import type { CanUseToolOptions, PermissionResult } from "@signalbox/sdk"
import { visibleText } from "@signalbox/transcript"
import { chosenGrants, grantLines, offeredGrants } from "../asks/standing-grants.ts"
import { toolAsked } from "../asks/tool-asked.ts"
import type { Colours } from "../terminal/colours.ts"
import type { TerminalLines } from "../terminal/terminal-lines.ts"
import { editInput, type Input } from "./edit-input.ts"

export interface Asking {
  readonly lines: TerminalLines
  readonly colours: Colours
  readonly env: NodeJS.ProcessEnv
  /** Says something that nobody answers. */
  readonly tell: (text: string) => void
  /** The folder that the agent works in. */
  readonly cwd: string
  /** The plan in the call of a tool, where it has one. */
  readonly planOf: (toolUseId: string) => string | undefined
}

/** Asks the person at the terminal whether a tool may run. Nobody there means no. */
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

const NOBODY = "Nobody is at the terminal to allow this. Start it with a permission mode or rule that allows it."
const GIVEN_UP: PermissionResult = { behavior: "deny", message: "The user did not answer." }

interface About {
  readonly facts: CanUseToolOptions
  readonly asking: Asking
}

async function answerUse(tool: string, input: Record<string, unknown>, about: About): Promise<PermissionResult> {
  const { facts, asking } = about
  const { lines, colours } = asking
  lines.write(toolAsked(tool, input, { facts, colours, cwd: asking.cwd }))
  const grants = offeredGrants(facts.suggestions, facts.suppressAlwaysAllowRule === true)
  for (const line of grantLines(grants, { always: "a" })) lines.write(colours.dim(`  ${line}\n`))
  const choices = ["y", "n [why]", "e(dit)", ...(grants.length === 0 ? [] : ["a(lways) [numbers]"])].join(" / ")
  // Bounded: whoever types this much else does not mean to answer.
  for (let turn = 0; turn < 20; turn++) {
    const answer = (await lines.ask(colours.bold(`  Allow? ${choices}: `), { signal: facts.signal }))?.trim()
    if (answer === undefined) return GIVEN_UP
    if (/^y(es)?$/i.test(answer)) return { behavior: "allow", updatedInput: input }
    const always = /^a(?:lways)?((?:[\s,]*\d{1,4})*)$/i.exec(answer)
    if (always !== null) {
      const updatedPermissions = chosenGrants(grants, (always[1]?.match(/\d+/g) ?? []).map(Number))
      if (updatedPermissions.length > 0) return { behavior: "allow", updatedInput: input, updatedPermissions }
      lines.write(colours.dim("  Say which by its number, as in: a 2\n"))
      continue
    }
    const why = /^n(?:o)?(?:\s+(.*))?$/i.exec(answer)
    if (why !== null) return { behavior: "deny", message: why[1] ?? "The user said no." }
    if (/^e(dit)?$/i.test(answer)) {
      const edited = await edit(input, about)
      if (edited !== undefined) return edited
    }
  }
  return GIVEN_UP
}

/** What runs is shown once more: an edit is not yet a yes. */
async function edit(input: Input, { facts, asking }: About): Promise<PermissionResult | undefined> {
  const changed = await editInput(input, { lines: asking.lines, env: asking.env, signal: facts.signal })
  if (changed === undefined) return undefined
  asking.lines.write(`${visibleText(JSON.stringify(changed, null, 2), "decision").replaceAll(/^/gm, "  ")}\n`)
  const answer = await asking.lines.ask(asking.colours.bold("  Allow this? y / n: "), { signal: facts.signal })
  if (answer === undefined || !/^y(es)?$/i.test(answer.trim())) return undefined
  return { behavior: "allow", updatedInput: { ...changed } }
}

async function answerPlan(input: Input, { facts, asking }: About): Promise<PermissionResult> {
  const { lines, colours } = asking
  lines.write(
    `\n${colours.yellow("? The plan:")}\n${visibleText(textOf(input, "plan") ?? asking.planOf(facts.toolUseID) ?? "(no plan was written)")}\n\n`,
  )
  const answer = await lines.ask(colours.bold("  Go ahead? y / n / what to change: "), { signal: facts.signal })
  const text = answer?.trim()
  if (text === undefined || text === "") return GIVEN_UP
  if (/^y(es)?$/i.test(text)) return { behavior: "allow", updatedInput: { ...input } }
  return { behavior: "deny", message: /^no?$/i.test(text) ? "The user wants to keep planning." : text }
}

async function answerQuestions(input: Input, { facts, asking }: About): Promise<PermissionResult> {
  const questions = input["questions"]
  const answers: Record<string, string> = {}
  for (const question of Array.isArray(questions) ? questions : []) {
    if (!isObject(question)) continue
    const answer = await answerQuestion(question, { facts, asking })
    if (answer === undefined) return GIVEN_UP
    answers[textOf(question, "question") ?? ""] = answer
  }
  return { behavior: "allow", updatedInput: { ...input, answers } }
}

async function answerQuestion(question: Input, { facts, asking }: About): Promise<string | undefined> {
  const { lines, colours } = asking
  const options = Array.isArray(question["options"]) ? question["options"].filter(isObject) : []
  lines.write(`\n${colours.yellow(`? ${visibleText(textOf(question, "question") ?? "")}`)}\n`)
  for (const [index, option] of options.entries()) {
    const description = textOf(option, "description")
    const more = description === undefined ? "" : colours.dim(`  ${visibleText(description)}`)
    lines.write(`  ${index + 1}. ${visibleText(textOf(option, "label") ?? "")}${more}\n`)
  }
  const isMany = question["multiSelect"] === true
  const how = isMany ? "numbers, or your own words: " : "a number, or your own words: "
  const answer = (await lines.ask(colours.bold(`  ${how}`), { signal: facts.signal }))?.trim()
  return answer === undefined || answer === "" ? undefined : chosen(answer, options, isMany)
}

/** Numbers are options; anything else is an answer of its own. */
export function chosen(answer: string, options: readonly Input[], isMany: boolean): string {
  const numbers = answer.split(/[\s,]+/).map(Number)
  const labels = numbers.map((number) => textOf(options[number - 1], "label"))
  const isChoice = labels.every((label) => label !== undefined) && (isMany || labels.length === 1)
  return isChoice ? labels.join(", ") : answer
}
