import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import { defineCommand, type JsonOption, jsonOption } from "../base/define-command.ts"

export function addAttach(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "attach <id>",
    summary: "Watch and steer a session, full screen: transcript, asks, messages",
    examples: ["signalbox attach 3f2a"],
  })
  const words = "no screen: print each event from now on as JSON, one on each line, until the session ends"
  jsonOption(command, words).action(async (id: string, options: JsonOption) => {
    if (options.json === true) {
      const { showLog } = await import("../sessions/show-log.ts")
      return showLog(id, { ...options, follow: true, after: 0, tail: 0 }, context)
    }
    const { attach } = await import("../attach/attach.ts")
    await attach(id, options, context)
  })
}
