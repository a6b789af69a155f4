import type { Argument, Command, Option } from "commander"
import { definitionOf } from "./base/define-command.ts"
import { createProgram, everyCommand } from "./program.ts"

const INTRODUCTION = `# The \`signalbox\` command

<!-- Generated from the definitions in packages/cli/src/commands by \`npm run generate\`; a test fails when it is stale. -->

\`signalbox up\` starts a hub and a runner on this machine; the other commands find them in the data directory. In a clone of the
repository, \`npm start\` does the same.

## For all commands

- **Hub.** Commands use the hub of the data directory (\`--data\`, else \`SIGNALBOX_DATA\`, else \`~/.signalbox\`). Without \`--data\`,
  \`SIGNALBOX_URL\` and \`SIGNALBOX_TOKEN\` name another hub, or several addresses of the same data with commas between them: the first that answers is
  used. The admin token of a data directory is sent only to its own hub. If no hub is configured, the error names one that is running on
  this machine. A hub that comes back on another port is found again.
- **Ids** may be abbreviated while they stay unique: \`signalbox log 3f2a\`.
- **Exit codes**: 0 done, 1 failed, 2 wrong usage, 3 no hub reachable, 4 not allowed. An error is one line on stderr: what happened, then
  what to do.
- **\`--json\`** prints only data on stdout; messages go to stderr. The shapes are those of [the hub's API](hub.md).
- **Colours** appear only on a terminal, and never if \`NO_COLOR\` is set. Text from agents is shown without anything a terminal would act on.
`

/** The guide to the command, as Markdown. */
export async function cliDocs(): Promise<string> {
  const { env, stdin, stdout, stderr } = process
  const program = await createProgram({ env, stdin, stdout, stderr })
  const commands = everyCommand(program).filter((command) => command !== program && isShown(command))
  const list = commands.map(
    (command) => `| [\`${nameOf(command)}\`](#${anchorOf(command)}) | ${cell(command.description())} |`,
  )
  const overview = ["", "## Commands", "", "| Command | Does |", "|---|---|", ...list, ""].join("\n")
  return `${INTRODUCTION}${overview}${commands.map(section).join("")}`
}

/** Groups of commands have no section of their own. */
function isShown(command: Command): boolean {
  const isListed = command.parent?.createHelp().visibleCommands(command.parent).includes(command) === true
  return isListed && command.name() !== "help" && command.commands.length === 0
}

function section(command: Command): string {
  const definition = definitionOf(command)
  const options = command.options.filter(({ hidden }) => !hidden)
  const rows = options.map((option) => `| \`${option.flags}\` | ${cell(optionText(option))} |`)
  const words = [
    nameOf(command),
    ...command.registeredArguments.map(argumentText),
    ...(options.length > 0 ? ["[options]"] : []),
  ]
  return [
    "",
    `## signalbox ${nameOf(command)}`,
    "",
    `${command.description()}.`,
    "",
    ...(definition?.notes === undefined ? [] : [definition.notes, ""]),
    "```text",
    `signalbox ${words.join(" ")}`,
    "```",
    "",
    "```sh",
    ...(definition?.examples ?? []),
    "```",
    "",
    "| Option | |",
    "|---|---|",
    ...rows,
    "",
  ].join("\n")
}

function nameOf(command: Command): string {
  const above = command.parent
  return above === null || above.parent === null ? command.name() : `${nameOf(above)} ${command.name()}`
}

function anchorOf(command: Command): string {
  return `signalbox-${nameOf(command).replaceAll(" ", "-")}`
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`
  return argument.required ? `<${name}>` : `[${name}]`
}

function optionText({ description, defaultValue, mandatory, argChoices }: Option): string {
  const isTold = defaultValue !== undefined && typeof defaultValue !== "boolean" && !Array.isArray(defaultValue)
  const notes = [
    ...(mandatory ? ["required"] : []),
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(", ")}`]),
    ...(isTold ? [`default: ${String(defaultValue)}`] : []),
  ]
  return notes.length === 0 ? description : `${description} (${notes.join("; ")})`
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|")
}
