import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, jsonOption, modeOption } from "../base/define-command.ts"

export interface RunOptions extends DataOption {
  readonly cwd?: string
  readonly model?: string
  readonly mode?: string
  readonly resume?: string
  readonly sim?: boolean
  readonly json?: boolean
}

export function addRun(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "run [prompt...]",
    summary: "One turn of an agent here in the terminal; needs no hub",
    examples: [
      'signalbox run "What is in this folder?"',
      "git diff | signalbox run - --model haiku > review.md",
      'signalbox run --sim "permission please"',
    ],
  })
  command
    .option("--cwd <directory>", "the folder it works in (default: this one)")
    .option("--model <model>", "the model to use")
    .option("--resume <id>", "go on with a conversation: the CLI's own session id")
    .option("--sim", "the simulator in the place of claude: no account needed")
  modeOption(command)
  jsonOption(command, "print what the agent says as it says it, one JSON object on each line").action(
    async (words: string[], options: RunOptions) => {
      const { run } = await import("../run/run.ts")
      await run(words, options, context)
    },
  )
}
