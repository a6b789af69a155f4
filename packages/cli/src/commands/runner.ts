import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { collect, defineCommand, jsonOption } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"

export interface RunnerCommandOptions extends DataOption {
  readonly hub?: string
  readonly name?: string
  readonly label: readonly string[]
  readonly maxAgents?: number
  readonly tokenFile?: string
  readonly json?: boolean
  /** The runner of a data directory's own hub, wherever that hub is at the time. */
  readonly local?: boolean
}

export function addRunner(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "runner",
    summary: "Start agents on this machine for a hub elsewhere",
    examples: [
      "signalbox runner --hub https://signalbox.example.org --token-file ~/runner-token",
      "SIGNALBOX_TOKEN=… signalbox runner --hub http://10.0.0.5:8765 --name build-machine --max-agents 8",
    ],
  })
  command
    .option("--hub <url>", "the hub's address (the runner of this machine's own hub is started by signalbox up)")
    .option("--name <name>", "what this machine is called (default: its host name)")
    .option("--label <label>", "what it is good for, to be chosen by (repeatable)", collect, [])
    .option("--max-agents <n>", "how many agents may run at once", readCount)
    .option(
      "--token-file <file>",
      "where its token is (default: the variable SIGNALBOX_TOKEN); never on the command line",
    )
  command.addOption(command.createOption("--local").hideHelp())
  jsonOption(command, "print one line of JSON when the hub has taken it").action(
    async (options: RunnerCommandOptions) => {
      const { runRunner } = await import("../runner/run-runner.ts")
      await runRunner(options, context)
    },
  )
}

function readCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= 10_000) return count
  throw usageError(`--max-agents ${text}: give a number from 1 to 10000`)
}
