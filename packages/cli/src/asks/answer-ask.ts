import type { Ask, AskAnswer } from "@signalbox/client"
import type { CommandContext } from "../base/command-context.ts"
import { CliError, usageError } from "../base/failure.ts"
import type { AnswerOptions } from "../commands/answer.ts"
import { findAsk } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/with-hub.ts"
import { printJson, tellPerson } from "../terminal/output.ts"
import { onOneLine } from "../terminal/plain-text.ts"
import { inputExample, requiredFields } from "./answer-example.ts"
import { questionsOf } from "./ask-text.ts"
import { permissionWords } from "./permission-words.ts"
import { chosenGrants, grantLines, grantsOf } from "./standing-grants.ts"

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
    if (options.json === true) await printJson(context, settled)
    else tellPerson(context, outcomeOf(settled, answer))
  })
}

function outcomeOf({ state }: Ask, answer: AskAnswer): string {
  const kept = "updatedPermissions" in answer ? (answer.updatedPermissions ?? []) : []
  return [`It is ${state}.`, ...kept.map((grant) => `Kept: ${permissionWords(grant)}.`)].join(" ")
}

function readVerdict(text: string): Verdict {
  if (text === "allow" || text === "deny") return text
  throw usageError(`${text}: the verdict is allow or deny`)
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

/** A form that wants something is not sent without it: whoever asked would take it for an answer. */
function filledIn(ask: Ask, input: Json = {}): Json {
  const required = requiredFields(ask)
  const missing = required.filter(({ name }) => input[name] === undefined).map(({ name }) => onOneLine(name))
  if (missing.length === 0) return input
  const verb = missing.length === 1 ? "is" : "are"
  throw usageError(
    `it is a form, of which ${missing.join(", ")} ${verb} missing: give its fields, like ${inputExample(required)}`,
  )
}

function denial({ message, interrupt }: Given): AskAnswer {
  return {
    behavior: "deny",
    ...(message === undefined ? {} : { message }),
    ...(interrupt === true ? { interrupt } : {}),
  }
}

function permission(ask: Ask, { input, choose, always }: Given): AskAnswer {
  const updatedInput = ask.kind === "question" ? (input ?? chosen(ask, choose)) : input
  if (choose.length > 0 && ask.kind !== "question") throw usageError("--choose answers a question; this ask is none")
  return {
    behavior: "allow",
    ...(updatedInput === undefined ? {} : { updatedInput }),
    ...(always === undefined ? {} : { updatedPermissions: standing(ask, always) }),
  }
}

/** Only the grants that were named: a suggestion may widen what the session may do far beyond this request. */
function standing(ask: Ask, always: true | readonly number[]): readonly unknown[] {
  const grants = grantsOf(ask)
  if (grants.length === 0) throw usageError("this request offers no standing permission: leave --always out")
  const kept = chosenGrants(grants, always === true ? [] : always)
  if (kept.length > 0) return kept
  const choices = grantLines(grants, { always: "--always" }).join("; ")
  throw usageError(`say which standing permission: --always with a number of ${choices}`)
}

/** The answers stand beside the questions, by their whole text. */
function chosen(ask: Ask, choices: readonly string[]): Json {
  const questions = questionsOf(ask)
  if (choices.length !== questions.length || choices.some((choice) => choice.trim() === "")) {
    const asked = questions.map((question) => `"${onOneLine(question)}"`).join(", ")
    throw usageError(`it asks ${questions.length} (${asked}): give --choose once for each, in this order`)
  }
  const answers = Object.fromEntries(questions.map((question, index) => [question, choices[index]]))
  return { ...ask.input, answers }
}

function readInput(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Told below.
  }
  throw usageError(`--input is no JSON object: write it like '{"command":"ls -l"}'`)
}

function tellWinner(error: unknown, ask: Ask): never {
  const isSettled = error instanceof Error && "code" in error && error.code === "ask/settled"
  if (!isSettled) throw error
  throw new CliError("cli/failed", `${error.message}: ask ${ask.id} needs no answer any more`, {
    cause: error,
  })
}
