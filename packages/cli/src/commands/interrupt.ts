import type { Command } from "commander"
import type { CommandContext } from "../command-context.ts"
import type { DataOption } from "../data-directory.ts"
import { defineCommand } from "../define-command.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/with-hub.ts"
import { tellPerson } from "../terminal/output.ts"

export function addInterrupt(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "interrupt <id>",
    summary: "Stop what a session's agent is doing; it stays for the next message",
    examples: ["signalbox interrupt 3f2a"],
  }).action((id: string, options: DataOption) =>
    withHub(options, context, async (hub) => {
      const session = await findSession(hub, id)
      await hub.session(session.id).interrupt()
      tellPerson(context, "Interrupted. It stays for the next message.")
    }),
  )
}
