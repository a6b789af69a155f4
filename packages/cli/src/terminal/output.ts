import { styleText } from "node:util"
import type { CommandContext } from "../base/context.ts"

/** One line of JSON, for programs. */
export function printJson({ stdout }: CommandContext, value: unknown): Promise<void> {
  return print(stdout, `${JSON.stringify(value)}\n`)
}

/** Resolves when the reader has room for more, so that endless output waits for a slow reader. */
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

/** A reader that goes away (`signalbox ls | head -1`) has seen enough: that is no failure. A full disk is one. */
export function endWithReader({ stdout, stderr }: Pick<CommandContext, "stdout" | "stderr">): void {
  stderr.on("error", () => undefined)
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") process.exit(process.exitCode ?? 0)
    stderr.write(`signalbox: can't write the output: ${error.code === "ENOSPC" ? "no space left" : error.message}\n`)
    process.exit(1)
  })
}

/** Tells a person what was done; scripts see it by the exit code. */
export function tellPerson({ stderr }: CommandContext, text: string): void {
  if (stderr.isTTY) stderr.write(`${text}\n`)
}

/** The terminal's width; without one, wide enough for everything. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? (stream.columns ?? 80) : Number.POSITIVE_INFINITY
}

export type Colours = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", (text: string) => string>>

/** Colours on a terminal only, and never where NO_COLOR is set. */
export function coloursFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Colours {
  const isPainted = stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb"
  return paints((name) => (isPainted ? (text) => styleText(name, text, { validateStream: false }) : (text) => text))
}

/** Paints nothing. */
export const PLAIN: Colours = paints(() => (text) => text)

function paints(paint: (name: keyof Colours) => (text: string) => string): Colours {
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    green: paint("green"),
    yellow: paint("yellow"),
    cyan: paint("cyan"),
  }
}
