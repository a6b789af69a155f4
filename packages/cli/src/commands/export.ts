import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, jsonOption } from "../base/define-command.ts"

export interface ExportOptions extends DataOption {
  readonly html?: string
  readonly ndjson?: string
  readonly json?: boolean
}

export function addExport(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "export <id>",
    summary: "Write a session to a file: a page to read, its events, or both",
    examples: ["signalbox export 3f2a --html session.html", "signalbox export 3f2a --ndjson - | wc -l"],
  })
  command
    .option("--html <file>", "one page that needs nothing else, to read or to send to somebody (- is stdout)")
    .option("--ndjson <file>", "the events as they are, one JSON object on each line (- is stdout)")
  jsonOption(command, "print where it was written as JSON").action(async (id: string, options: ExportOptions) => {
    const { exportSession } = await import("../sessions/export-session.ts")
    await exportSession(id, options, context)
  })
}
