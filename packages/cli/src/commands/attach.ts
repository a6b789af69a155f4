import type { Command } from "commander"
import type { CommandContext } from "../command-context.ts"
import type { DataOption } from "../data-directory.ts"
import { defineCommand } from "../define-command.ts"

export function addAttach(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "attach <id>",
    summary: "Watch and steer a session, full screen: transcript, asks, messages",
    examples: ["signalbox attach 3f2a"],
  })
  command.action(async (id: string, options: DataOption) => {
    const { attach } = await import("../attach/attach.ts")
    await attach(id, options, context)
  })
}
