import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import { defineCommand, type JsonOption, jsonOption } from "../base/define-command.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/with-hub.ts"
import { printJson, tellPerson } from "../terminal/output.ts"

export function addStop(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "stop <ids...>",
    summary: "End the agents of sessions; their history stays",
    examples: ["signalbox stop 3f2a", "signalbox stop 3f2a 91c0"],
  })
  jsonOption(command, "print which sessions were stopped as JSON").action((ids: string[], options: JsonOption) =>
    withHub(options, context, async (hub) => {
      // All are looked up before any is stopped: a wrong id stops nothing.
      const sessions = []
      for (const id of ids) sessions.push(await findSession(hub, id))
      for (const session of sessions) await hub.session(session.id).stop()
      if (options.json === true) return printJson(context, { stopped: sessions.map((session) => session.id) })
      const words = sessions.length === 1 ? "Its history stays" : "Their history stays"
      tellPerson(
        context,
        `Stopped. ${words}, and the next message brings ${sessions.length === 1 ? "it" : "each"} back.`,
      )
    }),
  )
}
