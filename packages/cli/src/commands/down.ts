import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, jsonOption } from "../base/define-command.ts"

export interface DownOptions extends DataOption {
  readonly agents?: boolean
  readonly json?: boolean
}

export function addDown(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "down",
    summary: "Stop the hub of this machine, and its runner when no agent lives on it",
    examples: ["signalbox down", "signalbox down --agents"],
  }).option("--agents", "stop the agents too, and the runner they live on")
  jsonOption(command, "print what was stopped as JSON").action(async (options: DownOptions) => {
    const { down } = await import("../up/down.ts")
    await down(options, context)
  })
}
