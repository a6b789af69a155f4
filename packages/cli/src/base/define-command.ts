import { type Command, Option } from "commander"
import { oneLine, usageError } from "./failure.ts"

export interface CommandDefinition {
  /** With its arguments: `send <id> [text]`. */
  readonly name: string
  readonly summary: string
  /** Command lines that work as they are written. */
  readonly examples: readonly string[]
  /** Notes for the help and the guide. */
  readonly notes?: string
  /** The meaning of `--json`, which every command has. */
  readonly json: string
  /** Adds the options of this command alone. */
  readonly options?: (command: Command) => Command
}

const definitions = new WeakMap<Command, CommandDefinition>()

/** Every command has an example in its help, and takes `--json` and `--data`. */
export function defineCommand(parent: Command, definition: CommandDefinition): Command {
  const { name, summary, examples, notes, json, options } = definition
  const command = parent.command(name).description(summary)
  definitions.set(command, definition)
  if (notes !== undefined) command.addHelpText("after", `\n${notes}`)
  const title = examples.length === 1 ? "Example" : "Examples"
  command.addHelpText("after", `\n${title}:\n${examples.map((line) => `  ${line}`).join("\n")}`)
  const path = `${parent.parent === null ? "" : `${parent.parent.name()} `}${parent.name()} ${command.name()}`
  command.configureOutput({ outputError: (text, write) => write(errorLine(text, path)) })
  options?.(command)
  return command
    .option("--json", json)
    .option("--data <directory>", "the data directory (default: SIGNALBOX_DATA, or ~/.signalbox)")
}

/** A message of the parser as one line, with a pointer to the help. */
export function errorLine(text: string, name: string): string {
  const words = oneLine(text)
    .replace(/^error: /, "")
    .replace(/\.$/, "")
  return `signalbox: ${words} (see ${name} --help)\n`
}

export function definitionOf(command: Command): CommandDefinition | undefined {
  return definitions.get(command)
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

/** An option with a few values, which the help and completion list. */
export function choice(flags: string, words: string, choices: readonly string[]): Option {
  const option = new Option(flags, words).choices(choices)
  return option.argParser((value: string) => {
    if (choices.includes(value)) return value
    throw notOneOf(`${option.long} ${value}`, choices)
  })
}

export function notOneOf(given: string, choices: readonly string[]) {
  return usageError(`${given}: choose one of ${choices.join(", ")}`)
}

/** Reads the value of an option that is a whole number. */
export function wholeNumber(name: string, least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= least && number <= most) return number
    const range = most === Number.MAX_SAFE_INTEGER ? `a whole number, ${least} or more` : `from ${least} to ${most}`
    throw usageError(`${name} ${text}: must be ${range}`)
  }
}

/** `--mode` is checked before anything starts: a CLI would reject an unknown mode only after it started. */
export function modeOption(command: Command): Command {
  const words = "permission mode: default, acceptEdits, plan, …; machine uses the machine's own settings"
  return command.option("--mode <mode>", words).hook("preAction", async (_, called) => {
    const { mode } = called.opts<{ readonly mode?: string }>()
    const { LAUNCH_MODES } = await import("@signalbox/protocol/launch-options")
    if (mode !== undefined && !LAUNCH_MODES.includes(mode)) throw notOneOf(`--mode ${mode}`, LAUNCH_MODES)
  })
}
