import type { Command } from "commander"
import type { CommandContext } from "../command-context.ts"
import type { DataOption } from "../data-directory.ts"
import { collect, defineCommand, jsonOption } from "../define-command.ts"

export interface AnswerOptions extends DataOption {
  readonly message?: string
  readonly input?: string
  readonly choose: readonly string[]
  readonly always?: boolean
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
    ],
  })
  command
    .option("--message <text>", "with deny: what the agent is told")
    .option("--input <json>", "with allow: the input to use instead; of an elicitation or a dialog, what is answered")
    .option("--choose <answer>", "of a question: the answer, one for each question in their order", collect, [])
    .option("--always", "with allow: also the standing permissions that the agent suggests")
    .option("--interrupt", "with deny: stop the turn too")
  jsonOption(command, "print the settled ask as JSON").action(
    async (ask: string, verdict: string, options: AnswerOptions) => {
      const { answerAsk } = await import("../hub/answer-ask.ts")
      await answerAsk({ ask, verdict }, options, context)
    },
  )
}
