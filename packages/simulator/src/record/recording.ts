import { spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream, type WriteStream } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { isObject, parseJson, textOf } from "@signalbox/protocol/envelope"
import { createLineSplitter } from "@signalbox/protocol/framing"
import type { Transport } from "@signalbox/transport"
import { SimulatorError } from "../simulator-error.ts"

/** A line of a conversation: who said it, and when, in milliseconds from the beginning. */
export interface RecordedLine {
  readonly at: number
  readonly from: "host" | "agent"
  readonly line: string
}

/** A conversation as it went over the wire. */
export interface Recording {
  readonly lines: readonly RecordedLine[]
  /** How the agent's process ended, where that was seen. */
  readonly exitCode?: number
  /** The line of the file that breaks off: whoever recorded was killed. */
  readonly cutOffAt?: number
}

const VERSION = 1

/** The first line of a file. */
function recordingHead(startedAt: Date): string {
  return JSON.stringify({ signalboxRecording: VERSION, startedAt: startedAt.toISOString() })
}

/** A line as it stands in the file: as an object where that loses nothing, so that a person can read it. */
export function encodeRecorded({ at, from, line }: RecordedLine): string {
  const message = parseJson(line)
  const isExact = isObject(message) && JSON.stringify(message) === line
  return isExact ? `{"at":${at},"from":"${from}","message":${line}}` : JSON.stringify({ at, from, line })
}

function encodeEnd(at: number, exitCode: number): string {
  return JSON.stringify({ at, exitCode })
}

export function encodeRecording({ lines, exitCode }: Recording, startedAt = new Date(0)): string {
  const end = exitCode === undefined ? [] : [encodeEnd(lines.at(-1)?.at ?? 0, exitCode)]
  return `${[recordingHead(startedAt), ...lines.map(encodeRecorded), ...end].join("\n")}\n`
}

export function isRecording(text: string): boolean {
  const [first = ""] = text.slice(0, 1000).split("\n", 1)
  return isObject(parseJson(first)) && first.includes('"signalboxRecording"')
}

/** Reads a file of a recording. A last line that was cut off is passed over, and told of in `cutOffAt`. */
export function decodeRecording(text: string, path: string): Recording {
  const [head = "", ...rows] = text.split("\n")
  const version: unknown = Object(parseJson(head)).signalboxRecording
  if (version !== VERSION)
    throw invalid(path, 1, `is no recording of version ${VERSION}: its first line says so in one`)
  const lines: RecordedLine[] = []
  let exitCode: number | undefined
  let cutOffAt: number | undefined
  rows.forEach((row, index) => {
    if (row === "") return
    if (index === rows.length - 1 && parseJson(row) === undefined) {
      cutOffAt = index + 2
      return
    }
    const entry = parseJson(row)
    const read = isObject(entry) ? readLine(entry) : undefined
    if (read !== undefined) lines.push(read)
    else if (isObject(entry) && typeof entry["exitCode"] === "number") exitCode = entry["exitCode"]
    else throw invalid(path, index + 2, 'must be { "at": ms, "from": "host" or "agent", "message": {…} }')
  })
  return { lines, ...(exitCode === undefined ? {} : { exitCode }), ...(cutOffAt === undefined ? {} : { cutOffAt }) }
}

function readLine(entry: Readonly<Record<string, unknown>>): RecordedLine | undefined {
  const { at, from, message } = entry
  const line = isObject(message) ? JSON.stringify(message) : textOf(entry, "line")
  if (typeof at !== "number" || line === undefined || (from !== "host" && from !== "agent")) return undefined
  return { at, from, line }
}

function invalid(path: string, line: number, message: string): SimulatorError {
  return new SimulatorError("recording/invalid", `${path}:${line}: ${message}`, { details: { path, line } })
}

export interface RecordOptions {
  /** Told of every line, in the order of the wire. */
  readonly onLine: (line: RecordedLine) => void
  /** The end of the connection that this is: what comes in was said by the other. Left out: the host's. */
  readonly end?: "host" | "agent"
  /** Milliseconds, from any beginning. */
  readonly now?: () => number
}

/**
 * The same transport, with everything that passes told to `onLine`: both directions, with times. It keeps nothing, and
 * waits for nothing: what comes of the lines is the caller's business.
 */
export function recordTransport(transport: Transport, options: RecordOptions): Transport {
  const { onLine, end = "host", now = () => performance.now() } = options
  const startedAt = now()
  const peer = end === "host" ? "agent" : "host"
  const tell = (from: "host" | "agent", line: string) => onLine({ at: Math.round(now() - startedAt), from, line })
  return {
    lines: {
      async *[Symbol.asyncIterator]() {
        for await (const line of transport.lines) {
          tell(peer, line)
          yield line
        }
      },
    },
    closed: transport.closed,
    send(line) {
      // Before it is sent: an answer must not stand before its question.
      tell(end, line)
      return transport.send(line)
    },
    close: (reason) => transport.close(reason),
  }
}

/** A file to record into, with its head in it. */
export async function openRecording(file: string): Promise<WriteStream> {
  const out = createWriteStream(file)
  await once(out, "open")
  out.write(`${recordingHead(new Date())}\n`)
  return out
}

interface RecordCommandOptions {
  readonly command: string
  readonly args: readonly string[]
  /** The file that the recording goes to. */
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
  const out = await openRecording(file)
  const startedAt = now()
  const at = () => Math.round(now() - startedAt)
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
  const ended = exitCodeOf(child)
  const tap = (from: "host" | "agent") => (lines: readonly string[]) => {
    for (const line of lines) out.write(`${encodeRecorded({ at: at(), from, line })}\n`)
  }
  const said = pass(child.stdout, stdout, tap("agent"))
  // The host may go on holding its end when the agent is gone: only the agent's end is waited for.
  void pass(stdin, child.stdin, tap("host")).then(() => child.stdin.end())
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const
  for (const signal of signals) process.on(signal, forward)
  const [exitCode] = await Promise.all([ended, said])
  for (const signal of signals) process.off(signal, forward)
  await new Promise<void>((resolve) => out.end(`${encodeEnd(at(), exitCode)}\n`, () => resolve()))
  return exitCode
}

/** A longer line passes all the same, and is left out of the recording. */
const MAX_LINE_BYTES = 256 * 1024 * 1024

/** Never faster than it is taken. A pipe that breaks ends it: its other end tells what happened. */
async function pass(from: Readable, to: Writable, tap: (lines: readonly string[]) => void): Promise<void> {
  const splitter = createLineSplitter({ maxLineBytes: MAX_LINE_BYTES })
  to.on("error", () => undefined)
  try {
    for await (const chunk of from) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk))
      tap(splitter.push(bytes))
      if (to.writable && !to.write(bytes)) await Promise.race([once(to, "drain"), once(to, "close")])
    }
  } catch {
    // A stream that was torn down under us has nothing more to pass on.
  }
  tap(splitter.end())
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
