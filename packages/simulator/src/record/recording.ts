import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Transport } from "@signalbox/transport"
import { parseJson } from "../json.ts"
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
export function recordingHead(startedAt: Date): string {
  return JSON.stringify({ signalboxRecording: VERSION, startedAt: startedAt.toISOString() })
}

/** A line as it stands in the file: as an object where that loses nothing, so that a person can read it. */
export function encodeRecorded({ at, from, line }: RecordedLine): string {
  const message = parseJson(line)
  const isExact = isObject(message) && JSON.stringify(message) === line
  return isExact ? `{"at":${at},"from":"${from}","message":${line}}` : JSON.stringify({ at, from, line })
}

export function encodeEnd(at: number, exitCode: number): string {
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

/** What a file of a recording holds. A last line that was cut off is passed over, and told of in `cutOffAt`. */
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
  /** Whose end of the connection this is: what comes in was said by the other. Left out: the host's. */
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
