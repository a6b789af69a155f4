import { isatty } from "node:tty"
import { fieldOf, isObject, replaceUnseen, textOf } from "@signalbox/protocol"
import { type DestinationStream, destination, type Logger, pino } from "pino"
import { SECRET_PATTERN } from "../auth/tokens.ts"

export type HubLogger = Logger

export interface LoggerOptions {
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "silent"
  /** By default stderr: stdout is for what programs read. */
  readonly stream?: DestinationStream
}

const STDERR = 2
const LEVEL_NAMES: Readonly<Record<number, string>> = { 40: "warning: ", 50: "error: ", 60: "error: " }
const MAX_WAITING_BYTES = 1024 * 1024
const CENSORED = "[redacted]"
const SECRET_FIELDS = ["token", "secret", "authorization", "cookie", "set-cookie", "credential"]

/** One line of JSON per thing that happened, or of plain words where a person reads along at a terminal, with `session` where it is about one. No secret is ever in one. */
export function createLogger({ level = "info", stream }: LoggerOptions = {}): HubLogger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRET_FIELDS.flatMap(atEveryDepth), censor: CENSORED },
    // The fields above are where secrets are expected; this is for where they are not: inside of messages and URLs.
    hooks: { streamWrite: censor },
  }
  return pino(options, stream ?? (isatty(STDERR) ? plainLines(standardError()) : standardError()))
}

/** For people: when, what and why, on one line. Stacks and fields are in the JSON that a file or a pipe gets. */
export function plainLines(stream: DestinationStream): DestinationStream {
  return { write: (line) => stream.write(plainLine(line)) }
}

function plainLine(line: string): string {
  const entry: unknown = JSON.parse(line)
  const time = textOf(entry, "time")?.slice(11, 19) ?? ""
  const level = isObject(entry) ? (LEVEL_NAMES[Number(entry["level"])] ?? "") : ""
  const cause = textOf(fieldOf(entry, "err"), "message")
  const words = `${level}${textOf(entry, "msg") ?? ""}${cause === undefined ? "" : `: ${cause}`}`
  // Agents and clients may have had a say in it: nothing in it is for the terminal to act on.
  return `${time} ${replaceUnseen(words.replaceAll(/[\t\r\n]+/g, " "), "prose", () => " ")}\n`
}

/** A log that cannot be written (the disk is full, the terminal closed) must end nobody: what waits is written when it can be, up to a bound. */
function standardError(): DestinationStream {
  const out = destination({ dest: STDERR, sync: true, maxLength: MAX_WAITING_BYTES })
  out.on("error", () => undefined)
  return out
}

/** Paths name a depth each: as deep as what we log goes. */
function atEveryDepth(field: string): string[] {
  const last = /^\w+$/.test(field) ? `.${field}` : `["${field}"]`
  return [last.replace(/^\./, ""), `*${last}`, `*.*${last}`]
}

/** The line without our tokens, and without whatever else is sent as a credential. */
export function censor(line: string): string {
  return line.replace(SECRET_PATTERN, CENSORED).replace(/\b(Bearer|Basic)(\s+)[\w.~+/=-]{8,}/gi, `$1$2${CENSORED}`)
}
