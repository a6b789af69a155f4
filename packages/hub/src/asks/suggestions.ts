import { textOf } from "@signalbox/protocol"

type Fields = Readonly<Record<string, unknown>>

/** The field of a tool's input that a rule of the CLI's can name, and how. */
const NAMED: Readonly<Record<string, (input: Fields) => string | undefined>> = {
  Bash: (input) => oneLine(textOf(input, "command")),
  Read: (input) => absolute(textOf(input, "file_path")),
  Edit: (input) => absolute(textOf(input, "file_path")),
  Write: (input) => absolute(textOf(input, "file_path")),
  NotebookEdit: (input) => absolute(textOf(input, "notebook_path")),
}
const MAX_CHARS = 500

/**
 * "Always allow" as narrow as what was asked: this command, this file, or else this tool. Undefined where a rule would have to
 * be wider than that.
 */
export function suggestionsFor(request: Fields): readonly Fields[] | undefined {
  const toolName = textOf(request, "tool_name")
  const { input } = request
  if (toolName === undefined) return undefined
  const isNamed = Object.hasOwn(NAMED, toolName)
  const ruleContent = isNamed && typeof input === "object" ? NAMED[toolName]?.({ ...input }) : undefined
  if (isNamed && ruleContent === undefined) return undefined
  const rule = ruleContent === undefined ? { toolName } : { toolName, ruleContent }
  return [{ type: "addRules", rules: [rule], behavior: "allow", destination: "session" }]
}

function oneLine(command: string | undefined): string | undefined {
  return command === undefined || /[\n*]/.test(command) || command.length > MAX_CHARS ? undefined : command
}

/** The CLI writes a path from the root with two slashes. */
function absolute(path: string | undefined): string | undefined {
  return path?.startsWith("/") === true && !/[*?[\]{}!\\]/.test(path) ? `/${path}` : undefined
}
