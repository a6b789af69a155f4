import type { Command } from "commander"
import type { DataOption } from "./data-directory.ts"
import { oneLine, usageError } from "./failure.ts"

export interface CommandDefinition {
  /** With its arguments: `send <id> [text]`. */
  readonly name: string
  readonly summary: string
  /** Command lines that work as they are written. */
  readonly examples: readonly string[]
  /** What else one should know, for the help and the guide. */
  readonly notes?: string
}

const definitions = new WeakMap<Command, CommandDefinition>()

/** Every command has an example in its help, and takes `--data`. */
export function defineCommand(parent: Command, definition: CommandDefinition): Command {
  const command = parent.command(definition.name).description(definition.summary)
  definitions.set(command, definition)
  const title = definition.examples.length === 1 ? "Example" : "Examples"
  if (definition.notes !== undefined) command.addHelpText("after", `\n${definition.notes}`)
  command.addHelpText("after", `\n${title}:\n${definition.examples.map((line) => `  ${line}`).join("\n")}`)
  const name = `${parent.parent === null ? "" : `${parent.parent.name()} `}${parent.name()} ${command.name()}`
  command.configureOutput({ outputError: (text, write) => write(errorLine(text, name)) })
  return command.option("--data <directory>", "the data directory (default: SIGNALBOX_DATA, or ~/.signalbox)")
}

/** What the parser has to say, on one line, and where more is said. */
export function errorLine(text: string, name: string): string {
  const words = oneLine(text)
    .replace(/^error: /, "")
    .replace(/\.$/, "")
  return `signalbox: ${words} (see ${name} --help)\n`
}

export function definitionOf(command: Command): CommandDefinition | undefined {
  return definitions.get(command)
}

export interface JsonOption extends DataOption {
  readonly json?: boolean
}

export function jsonOption(command: Command, what: string): Command {
  return command.option("--json", what)
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

/** `--mode`, which is checked before anything is started: a CLI that knows no such mode would only say so when it is. */
export function modeOption(command: Command): Command {
  const words = "the permission mode: default, acceptEdits, plan, …; machine: what its settings say"
  return command.option("--mode <mode>", words).hook("preAction", async (_, called) => {
    const { mode } = called.opts<{ readonly mode?: string }>()
    const { LAUNCH_MODES } = await import("@signalbox/protocol/launch-options")
    if (mode !== undefined && !LAUNCH_MODES.includes(mode))
      throw usageError(`--mode ${mode}: give one of ${LAUNCH_MODES.join(", ")}`)
  })
}
