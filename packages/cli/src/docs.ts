import type { Argument, Command, Option } from "commander"
import { definitionOf } from "./base/define-command.ts"
import { createProgram, everyCommand } from "./program.ts"

const INTRODUCTION = `# The \`signalbox\` command

<!-- Generated from the definitions in packages/cli/src/commands by \`npm run generate\`; a test fails when it is stale. -->

\`signalbox up\` starts a hub and a runner on this machine; the other commands find them in the data directory. \`npm start\` in a clone
of the repository is the same as \`signalbox up\`.

## What holds for all of them

- **Which hub.** That of the data directory (\`--data\`, on every command, else \`SIGNALBOX_DATA\`, else \`~/.signalbox\`). Without
  \`--data\`, \`SIGNALBOX_URL\` and \`SIGNALBOX_TOKEN\` name another one. The admin's token of a data directory is sent to its own hub only.
  Where none is configured, a hub that answers on this machine is named with the error. A hub that comes back at another port is found again.
- **Ids** may be abbreviated as far as they are unique: \`signalbox log 3f2a\`.
- **Exit codes**: 0 done, 1 failed, 2 wrong usage, 3 no hub reachable, 4 not allowed. An error is one line on stderr: what happened, and
  what to do.
- **\`--json\`** prints data and nothing else on stdout; all prose goes to stderr. Shapes are those of [the hub's API](hub.md).
- **Colours** only on a terminal, and none where \`NO_COLOR\` is set. What agents say is shown without anything a terminal would act on.
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

/** Groups of commands have nothing of their own to tell. */
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

function optionText({ description, defaultValue, mandatory }: Option): string {
  const isTold = defaultValue !== undefined && typeof defaultValue !== "boolean" && !Array.isArray(defaultValue)
  const notes = [...(mandatory ? ["required"] : []), ...(isTold ? [`default: ${String(defaultValue)}`] : [])]
  return notes.length === 0 ? description : `${description} (${notes.join(", ")})`
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|")
}
