import type { Command } from "commander"
import type { CommandContext } from "../command-context.ts"
import type { DataOption } from "../data-directory.ts"
import { defineCommand } from "../define-command.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/with-hub.ts"
import { tellPerson } from "../terminal/output.ts"

export function addStop(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "stop <ids...>",
    summary: "End the agents of sessions; their history stays",
    examples: ["signalbox stop 3f2a", "signalbox stop 3f2a 91c0"],
  }).action((ids: string[], options: DataOption) =>
    withHub(options, context, async (hub) => {
      // All are looked up before any is stopped: a wrong id stops nothing.
      const sessions = []
      for (const id of ids) sessions.push(await findSession(hub, id))
      for (const session of sessions) await hub.session(session.id).stop()
      tellPerson(context, "Stopped. Its history stays, and the next message brings it back.")
    }),
  )
}
