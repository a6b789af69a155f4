import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, jsonOption } from "../base/define-command.ts"

export interface AsksOptions extends DataOption {
  readonly watch?: boolean
  readonly session?: string
  readonly json?: boolean
}

export function addAsks(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "asks",
    summary: "What agents are waiting for an answer to",
    examples: ["signalbox asks", "signalbox asks --watch"],
  })
  command
    .option("--watch", "go on: show each as it is asked, and what becomes of it")
    .option("--session <id>", "only of this session")
  jsonOption(command, "print as JSON; with --watch, one ask on each line").action(async (options: AsksOptions) => {
    const { showAsks } = await import("../asks/show-asks.ts")
    await showAsks(options, context)
  })
}
