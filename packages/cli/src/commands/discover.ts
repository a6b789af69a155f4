import type { Command } from "commander"
import type { CommandContext } from "../command-context.ts"
import type { DataOption } from "../data-directory.ts"
import { defineCommand, jsonOption } from "../define-command.ts"

export interface DiscoverOptions extends DataOption {
  readonly json?: boolean
}

export function addDiscover(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "discover",
    summary: "Look for hubs and plain relays on ports 8765 to 8774 of this machine",
    examples: ["signalbox discover", "signalbox discover --json"],
  })
  jsonOption(command, "print what was found as JSON").action(async (options: DiscoverOptions) => {
    const { discover } = await import("../discover/discover.ts")
    await discover(options, context)
  })
}
