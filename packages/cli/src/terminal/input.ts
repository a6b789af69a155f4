import { createInterface } from "node:readline"
import { type CommandContext, type DataOption, nextCommand } from "../base/context.ts"
import { CliError, usageError } from "../base/failure.ts"

const MAX_CHARS = 8 * 1024 * 1024

/** Reads all of a pipe, up to what a hub accepts. An empty pipe is a mistake: nobody means to send an empty message. */
export async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  stream.setEncoding("utf8")
  let text = ""
  for await (const piece of stream) {
    text += String(piece)
    if (text.length > MAX_CHARS)
      throw new CliError("cli/failed", `more than ${MAX_CHARS} characters: send less at a time`)
  }
  if (text.trim() === "") throw usageError("stdin was empty: nothing to send")
  return text
}

/** A text from words on the command line, or from a pipe if there are none or only "-". */
export async function textFrom(words: readonly string[], { stdin }: CommandContext, missing: string): Promise<string> {
  if (words.length === 0 && stdin.isTTY) throw usageError(missing)
  const isPiped = words.length === 0 || (words.length === 1 && words[0] === "-")
  const text = isPiped ? await readAll(stdin) : words.join(" ")
  if (text.trim() === "") throw usageError(`the text is empty: ${missing}`)
  return text
}

interface Wanted extends DataOption {
  readonly id?: string
}

/** For a full-screen view that is steered by keys. */
export function requireTerminal({ stdin, stdout, env }: CommandContext, wanted: Wanted = {}): void {
  if (stdin.isTTY && stdout.isTTY) return
  const log = nextCommand(`log ${wanted.id ?? "ID"} --follow`, wanted, env)
  throw usageError(`attach needs a terminal. Without one, use: ${log}`)
}

/** Aborts at Ctrl-C or SIGTERM: watching without end is ended by its user, and that is no failure. */
export async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once("SIGINT", stop)
  process.once("SIGTERM", stop)
  try {
    await work(stopping.signal)
  } catch (error) {
    if (!stopping.signal.aborted) throw error
  } finally {
    process.off("SIGINT", stop)
    process.off("SIGTERM", stop)
  }
}

/** Keys typed before the question appeared are not an answer to it. */
const TYPED_AHEAD_MS = 150

export interface LineOptions {
  /** Aborts the question. */
  readonly signal?: AbortSignal
  /** A text to start from. */
  readonly prefill?: string
}

/** Asks for a line at the terminal. Undefined: the question was abandoned, by Ctrl-C, Ctrl-D or its signal. */
export class TerminalLines {
  readonly #context: CommandContext
  readonly #onInterrupt: () => void
  #waiting = ""

  constructor(context: CommandContext, onInterrupt: () => void) {
    this.#context = context
    this.#onInterrupt = onInterrupt
  }

  /** Whether somebody is there to ask. */
  get hasPerson(): boolean {
    const { stdin, stderr } = this.#context
    return stdin.isTTY && stderr.isTTY
  }

  /** Shown together with the next question. */
  write(text: string): void {
    this.#waiting += text
  }

  async ask(question: string, options: LineOptions = {}): Promise<string | undefined> {
    await this.#dropTypedAhead()
    const { stdin, stderr } = this.#context
    if (options.signal?.aborted === true) return undefined
    stderr.write(this.#waiting)
    this.#waiting = ""
    const line = createInterface({ input: stdin, output: stderr, terminal: true })
    return new Promise((resolve) => {
      const end = (answer: string | undefined) => {
        options.signal?.removeEventListener("abort", giveUp)
        resolve(answer)
        line.close()
      }
      const giveUp = () => end(undefined)
      options.signal?.addEventListener("abort", giveUp)
      line.once("close", giveUp)
      line.once("SIGINT", () => {
        end(undefined)
        this.#onInterrupt()
      })
      line.question(question, end)
      if (options.prefill !== undefined) line.write(options.prefill)
    })
  }

  async #dropTypedAhead(): Promise<void> {
    const { stdin } = this.#context
    const drop = () => undefined
    stdin.on("data", drop)
    stdin.resume()
    await new Promise((resolve) => setTimeout(resolve, TYPED_AHEAD_MS))
    stdin.off("data", drop)
    stdin.pause()
  }
}
