import type { Ask, AskAnswer } from "@signalbox/client"
import { counted, defined } from "@signalbox/protocol"
import { parseObject } from "@signalbox/protocol/envelope"
import { type CommandContext, type JsonOption } from "../base/context.ts"
import { CliError, usageError } from "../base/failure.ts"
import { findAsk } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/connect.ts"
import { printJson, tellPerson } from "../terminal/output.ts"
import { onOneLine } from "../terminal/text.ts"
import { inputExample, requiredFields } from "./ask-fields.ts"
import { questionsOf } from "./ask-text.ts"
import { chosenGrants, grantLines, grantsOf, permissionWords } from "./grants.ts"

export interface AnswerOptions extends JsonOption {
  readonly message?: string
  readonly input?: string
  readonly choose: readonly string[]
  /** True: the grant that is marked; else grants by number. */
  readonly always?: true | readonly number[]
  readonly interrupt?: boolean
}

type Verdict = "allow" | "deny"
type Json = Readonly<Record<string, unknown>>

export async function answerAsk(
  given: { readonly ask: string; readonly verdict: string },
  options: AnswerOptions,
  context: CommandContext,
): Promise<void> {
  const verdict = readVerdict(given.verdict)
  checkOptions(verdict, options)
  const input = options.input === undefined ? undefined : readInput(options.input)
  await withHub(options, context, async (hub) => {
    const ask = await findAsk(hub, given.ask)
    // The hash says what was seen: an ask that has changed since is not answered by mistake.
    const answer = { ...answerFor(ask, verdict, { ...options, input }), inputHash: ask.inputHash }
    const settled = await hub.answer(ask.id, answer).catch((error: unknown) => tellWinner(error, ask))
    if (options.json === true) return printJson(context, settled)
    tellPerson(context, `Request ${settled.state}.`)
    for (const grant of keptBy(answer)) context.stderr.write(`Kept: ${permissionWords(grant)}\n`)
  })
}

/** Standing permissions outlive this answer, so scripts are told of them too. */
function keptBy(answer: AskAnswer): readonly unknown[] {
  return "updatedPermissions" in answer ? (answer.updatedPermissions ?? []) : []
}

function readVerdict(text: string): Verdict {
  if (text === "allow" || text === "deny") return text
  throw usageError(`${text}: answer with allow or deny`)
}

function checkOptions(verdict: Verdict, { message, input, choose, always, interrupt }: AnswerOptions): void {
  if (verdict === "allow" && (message !== undefined || interrupt === true))
    throw usageError("--message and --interrupt go with deny")
  if (verdict === "deny" && (input !== undefined || always !== undefined || choose.length > 0))
    throw usageError("--input, --choose and --always go with allow")
}

/** With the input as it was read. */
type Given = Omit<AnswerOptions, "input"> & { readonly input: Json | undefined }

function answerFor(ask: Ask, verdict: Verdict, options: Given): AskAnswer {
  const { input } = options
  switch (ask.kind) {
    case "elicitation":
      if (verdict === "deny") return { action: "decline" }
      return { action: "accept", content: filledIn(ask, input) }
    case "dialog":
      return verdict === "deny" ? { cancelled: true } : { result: input ?? {} }
    case "tool":
    case "plan":
    case "question":
      return verdict === "deny" ? denial(options) : permission(ask, options)
  }
}

/** A form is not sent without its required fields: the server would take it for an answer. */
function filledIn(ask: Ask, input: Json = {}): Json {
  const required = requiredFields(ask)
  const missing = required.filter(({ name }) => input[name] === undefined).map(({ name }) => onOneLine(name))
  if (missing.length === 0) return input
  throw usageError(`the form needs ${missing.join(", ")}: give its fields, such as ${inputExample(required)}`)
}

function denial({ message, interrupt }: Given): AskAnswer {
  return { behavior: "deny", ...defined({ message, interrupt }) }
}

function permission(ask: Ask, { input, choose, always }: Given): AskAnswer {
  const updatedInput = ask.kind === "question" ? (input ?? chosen(ask, choose)) : input
  if (choose.length > 0 && ask.kind !== "question") throw usageError("--choose is for questions: leave it out")
  const updatedPermissions = always === undefined ? undefined : standing(ask, always)
  return { behavior: "allow", ...defined({ updatedInput, updatedPermissions }) }
}

/** Only the grants that were named: a suggestion may widen what the session may do far beyond this request. */
function standing(ask: Ask, always: true | readonly number[]): readonly unknown[] {
  const grants = grantsOf(ask)
  if (grants.length === 0) throw usageError("this request offers nothing to always allow: leave --always out")
  const kept = chosenGrants(grants, always === true ? [] : always)
  if (kept.length > 0) return kept
  const choices = grantLines(grants, { always: "--always" }).join("; ")
  throw usageError(`choose what to always allow, with --always and a number: ${choices}`)
}

/** The answers stand beside the questions, by their whole text. */
function chosen(ask: Ask, choices: readonly string[]): Json {
  const questions = questionsOf(ask)
  if (choices.length !== questions.length || choices.some((choice) => choice.trim() === "")) {
    const asked = questions.map((question) => `"${onOneLine(question)}"`).join(", ")
    throw usageError(
      `${counted(questions.length, "question")} to answer (${asked}): give --choose once for each, in this order`,
    )
  }
  const answers = Object.fromEntries(questions.map((question, index) => [question, choices[index]]))
  return { ...ask.input, answers }
}

function readInput(text: string): Json {
  const input = parseObject(text)
  if (input !== undefined) return input
  throw usageError(`--input must be a JSON object, such as '{"command":"ls -l"}'`)
}

function tellWinner(error: unknown, ask: Ask): never {
  const isSettled = error instanceof Error && "code" in error && error.code === "ask/settled"
  if (!isSettled) throw error
  throw new CliError("cli/failed", `${error.message}: ${ask.id} needs no answer any more`, { cause: error })
}
