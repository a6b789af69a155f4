import { CliError, usageError } from "../base/failure.ts"

const MAX_CHARS = 8 * 1024 * 1024

/** All of a pipe, up to what a hub would take. One that brought nothing was not meant: nobody sends an empty message. */
export async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  stream.setEncoding("utf8")
  let text = ""
  for await (const piece of stream) {
    text += String(piece)
    if (text.length > MAX_CHARS)
      throw new CliError("cli/failed", `more than ${MAX_CHARS} characters: send less at once`)
  }
  if (text.trim() === "") throw usageError("nothing came from stdin: the message is empty")
  return text
}
