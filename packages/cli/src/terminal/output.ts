import type { CommandContext } from "../base/command-context.ts"

/** One line of JSON, for programs. */
export function printJson({ stdout }: CommandContext, value: unknown): Promise<void> {
  return print(stdout, `${JSON.stringify(value)}\n`)
}

/** Resolves when the reader has room for more: what is printed without end waits for it. */
export function print(stream: NodeJS.WriteStream, text: string): Promise<void> {
  if (stream.destroyed || stream.write(text)) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done)
      stream.off("close", done)
      resolve()
    }
    stream.on("drain", done)
    stream.on("close", done)
  })
}

/**
 * A reader that goes away (`signalbox ls | head -1`) has seen enough: that is no failure. A disk that is full is one. What is said
 * beside it, to a reader that is gone, is lost and harms nothing.
 */
export function endWithReader({ stdout, stderr }: Pick<CommandContext, "stdout" | "stderr">): void {
  stderr.on("error", () => undefined)
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") process.exit(process.exitCode ?? 0)
    stderr.write(`signalbox: what it prints cannot be written: ${wordsOf(error)}; make room, or print it elsewhere\n`)
    process.exit(1)
  })
}

function wordsOf({ code, message }: NodeJS.ErrnoException): string {
  return code === "ENOSPC" ? "no space is left there" : message
}

/** What was done, for whoever sits there; scripts see it by the exit code. */
export function tellPerson({ stderr }: CommandContext, text: string): void {
  if (stderr.isTTY) stderr.write(`${text}\n`)
}

/** The terminal's width; without one, wide enough for everything. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? (stream.columns ?? 80) : Number.POSITIVE_INFINITY
}
