import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import { defineCommand, type JsonOption, jsonOption } from "../base/define-command.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/with-hub.ts"
import { printJson, tellPerson } from "../terminal/output.ts"

export function addInterrupt(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "interrupt <id>",
    summary: "Stop what a session's agent is doing; it stays for the next message",
    examples: ["signalbox interrupt 3f2a"],
  })
  jsonOption(command, "print which session it was as JSON").action((id: string, options: JsonOption) =>
    withHub(options, context, async (hub) => {
      const session = await findSession(hub, id)
      await hub.session(session.id).interrupt()
      if (options.json === true) await printJson(context, { session: session.id, interrupted: true })
      else tellPerson(context, "Interrupted. It stays for the next message.")
    }),
  )
}
