import { type Command, InvalidArgumentError } from "commander"
import type { AnswerOptions } from "../asks/answer-ask.ts"
import type { AsksOptions } from "../asks/show-asks.ts"
import type { CommandContext } from "../base/context.ts"
import { collect, defineCommand } from "../base/define-command.ts"

export function addAsks(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "asks",
    summary: "List the requests that wait for an answer",
    examples: ["signalbox asks", "signalbox asks --watch"],
    json: "print as JSON; with --watch, one request per line",
    options: (command) =>
      command
        .option("--watch", "keep watching: show each request as it comes, and its outcome")
        .option("--session <id>", "only requests of this session"),
  }).action(async (options: AsksOptions) => (await import("../asks/show-asks.ts")).showAsks(options, context))
}

export function addAnswer(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "answer <ask> <verdict>",
    summary: "Answer a request: allow or deny. The first valid answer wins",
    examples: [
      "signalbox answer ask_8c11 allow",
      'signalbox answer ask_8c11 deny --message "Use the staging server"',
      'signalbox answer ask_8c11 allow --choose "PostgreSQL"',
      `signalbox answer ask_8c11 allow --input '{"name":"staging"}'`,
      "signalbox answer ask_8c11 allow --always",
      "signalbox answer ask_8c11 allow --always 1 --always 2",
    ],
    json: "print the settled request as JSON",
    options: (command) =>
      command
        .option("--message <text>", "with deny: a reason for the agent")
        .option("--input <json>", "with allow: the input to use instead; for a form or a dialog, the answer")
        .option("--choose <answer>", "for a question: the answer; repeat for each question, in order", collect, [])
        .option(
          "--always [number]",
          "with allow: always allow from now on; a number from signalbox asks picks which rule to keep (repeatable)",
          numbers,
        )
        .option("--interrupt", "with deny: interrupt the turn too"),
  }).action(async (ask: string, verdict: string, options: AnswerOptions) =>
    (await import("../asks/answer-ask.ts")).answerAsk({ ask, verdict }, options, context),
  )
}

function numbers(value: string, before: AnswerOptions["always"]): readonly number[] {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError("Give a rule's number, or put --always last.")
  return [...(Array.isArray(before) ? before : []), Number(value)]
}
