import { spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream, type WriteStream } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { encodeEnd, encodeRecorded, recordingHead } from "./recording.ts"

export interface RecordCommandOptions {
  readonly command: string
  readonly args: readonly string[]
  /** Where the recording goes. */
  readonly file: string
  readonly stdin: Readable
  readonly stdout: Writable
  readonly now?: () => number
}

/**
 * Stands between a host and an agent on stdio: every byte passes as it is, in both directions, and what passed is
 * written down line by line as it does. Resolves with the agent's exit code.
 */
export async function recordCommand(options: RecordCommandOptions): Promise<number> {
  const { command, args, file, stdin, stdout, now = () => performance.now() } = options
  const out = createWriteStream(file)
  await once(out, "open")
  out.write(`${recordingHead(new Date())}\n`)
  const startedAt = now()
  const at = () => Math.round(now() - startedAt)
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
  const ended = exitCodeOf(child)
  const tap = (from: "host" | "agent") =>
    createLineSplitter((line) => void out.write(`${encodeRecorded({ at: at(), from, line })}\n`))
  const said = pass(child.stdout, stdout, tap("agent"))
  // The host may go on holding its end when the agent is gone: only the agent's end is waited for.
  void pass(stdin, child.stdin, tap("host")).then(() => child.stdin.end())
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const
  for (const signal of signals) process.on(signal, forward)
  const [exitCode] = await Promise.all([ended, said])
  for (const signal of signals) process.off(signal, forward)
  await close(out, `${encodeEnd(at(), exitCode)}\n`)
  return exitCode
}

/** Never faster than it is taken. A pipe that breaks ends it: its other end tells what happened. */
async function pass(from: Readable, to: Writable, tap: { push(chunk: Buffer): void; end(): void }): Promise<void> {
  to.on("error", () => undefined)
  try {
    for await (const chunk of from) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk))
      tap.push(bytes)
      if (to.writable && !to.write(bytes)) await Promise.race([once(to, "drain"), once(to, "close")])
    }
  } catch {
    // A stream that was torn down under us has nothing more to pass on.
  }
  tap.end()
}

function exitCodeOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", (error) => {
      process.stderr.write(`claude-sim: ${child.spawnfile} cannot be started: ${error.message}\n`)
      resolve(127)
    })
    child.once("close", (code, signal) => resolve(code ?? (signal === "SIGKILL" ? 137 : 143)))
  })
}

function close(out: WriteStream, last: string): Promise<void> {
  return new Promise((resolve) => out.end(last, () => resolve()))
}

/** A longer line passes all the same, and is left out of the recording. */
const MAX_LINE_CHARS = 256 * 1024 * 1024

/** Lines of a stream that somebody else reads. */
export function createLineSplitter(onLine: (line: string) => void): { push(chunk: Buffer): void; end(): void } {
  const decoder = new StringDecoder("utf8")
  let pieces: string[] = []
  let size = 0
  const finish = (rest: string) => {
    const line = size > MAX_LINE_CHARS ? "" : [...pieces, rest].join("")
    pieces = []
    size = 0
    if (line.trim() !== "") onLine(line)
  }
  return {
    push(chunk) {
      const parts = decoder.write(chunk).split("\n")
      const last = parts.pop() ?? ""
      for (const part of parts) finish(part)
      size += last.length
      if (size <= MAX_LINE_CHARS) pieces.push(last)
    },
    end: () => finish(decoder.end()),
  }
}
