import { type Command, InvalidArgumentError } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { collect, defineCommand, jsonOption } from "../base/define-command.ts"

export interface AnswerOptions extends DataOption {
  readonly message?: string
  readonly input?: string
  readonly choose: readonly string[]
  /** True: the grant that is marked; else grants by number. */
  readonly always?: true | readonly number[]
  readonly interrupt?: boolean
  readonly json?: boolean
}

export function addAnswer(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "answer <ask> <verdict>",
    summary: "Answer an ask: allow or deny. The first valid answer wins",
    examples: [
      "signalbox answer ask_8c11 allow",
      'signalbox answer ask_8c11 deny --message "Use the staging server"',
      'signalbox answer ask_8c11 allow --choose "PostgreSQL"',
      `signalbox answer ask_8c11 allow --input '{"name":"staging"}'`,
      "signalbox answer ask_8c11 allow --always",
      "signalbox answer ask_8c11 allow --always 1 --always 2",
    ],
  })
  command
    .option("--message <text>", "with deny: what the agent is told")
    .option("--input <json>", "with allow: the input to use instead; of an elicitation or a dialog, what is answered")
    .option("--choose <answer>", "of a question: the answer, one for each question in their order", collect, [])
    .option(
      "--always [number]",
      "with allow: also keep the standing permission that signalbox asks marks, or the one with this number (repeatable)",
      numbers,
    )
    .option("--interrupt", "with deny: stop the turn too")
  jsonOption(command, "print the settled ask as JSON").action(
    async (ask: string, verdict: string, options: AnswerOptions) => {
      const { answerAsk } = await import("../asks/answer-ask.ts")
      await answerAsk({ ask, verdict }, options, context)
    },
  )
}

function numbers(value: string, before: AnswerOptions["always"]): readonly number[] {
  if (!/^[1-9]\d{0,3}$/.test(value))
    throw new InvalidArgumentError("Give the number of a permission, or put --always last.")
  return [...(Array.isArray(before) ? before : []), Number(value)]
}
