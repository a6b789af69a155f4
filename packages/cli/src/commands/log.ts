import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, jsonOption } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"

export interface LogOptions extends DataOption {
  readonly follow?: boolean
  readonly after: number
  readonly tail?: number
  readonly json?: boolean
}

export function addLog(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "log <id>",
    summary: "What was said in a session, from its beginning",
    examples: ["signalbox log 3f2a", "signalbox log 3f2a --tail 20 --follow", "signalbox log 3f2a --json | tail -1"],
  })
  command
    .option("--follow", "go on with what is said from now on")
    .option("--after <seq>", "only what comes after this event", readCount("--after"), 0)
    .option("--tail <n>", "only the last so many events", readCount("--tail"))
  jsonOption(command, "print the events as they are, one JSON object on each line").action(
    async (id: string, options: LogOptions) => {
      const { showLog } = await import("../sessions/show-log.ts")
      await showLog(id, options, context)
    },
  )
}

function readCount(name: string): (text: string) => number {
  return (text) => {
    const count = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count
    throw usageError(`${name} ${text}: give a whole number, 0 or more`)
  }
}
