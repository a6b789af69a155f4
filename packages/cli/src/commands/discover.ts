import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, jsonOption } from "../base/define-command.ts"

export interface DiscoverOptions extends DataOption {
  readonly watch?: boolean
  readonly json?: boolean
}

export function addDiscover(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "discover",
    summary: "Look for hubs and plain relays on ports 8765 to 8864 of this machine",
    examples: ["signalbox discover", "signalbox discover --watch", "signalbox discover --json"],
  })
  command.option("--watch", "go on: show each as it comes and goes")
  jsonOption(command, "print what was found as JSON; with --watch, one change on each line").action(
    async (options: DiscoverOptions) => {
      const { discover } = await import("../discover/discover.ts")
      await discover(options, context)
    },
  )
}
