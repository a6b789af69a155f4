import { type DataOption, dataDirectory } from "./data-directory.ts"
import { CliError } from "./failure.ts"

/** A command to type next. It is of the same hub as this one: a data directory that was named is named again. */
export function nextCommand(words: string, options: DataOption, env: NodeJS.ProcessEnv): string {
  return `signalbox ${words}${dataWords(options, env)}`
}

/** The same error, with its list on the same hub; any other as it is. */
export function withNextCommand(error: unknown, options: DataOption, env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof CliError) || error.list === undefined) return error
  return new CliError(error.code, `${error.what}: see "${nextCommand(error.list, options, env)}"`, { cause: error })
}

/** Whom SIGNALBOX_URL leads to another hub must not be sent to that of the directory. */
function dataWords(options: DataOption, env: NodeJS.ProcessEnv): string {
  const isByVariable = (env["SIGNALBOX_DATA"] ?? "") !== "" && (env["SIGNALBOX_URL"] ?? "") === ""
  if (options.data === undefined && !isByVariable) return ""
  return ` --data ${shellWord(dataDirectory(options, env).path)}`
}

/** As a shell reads it as one word, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
