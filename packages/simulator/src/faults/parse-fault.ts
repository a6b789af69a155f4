import { known } from "@signalbox/protocol/known"
import { SimulatorError } from "../simulator-error.ts"

/** The place of a fault: the lines of one kind, counted from 1, as the agent would write them; 0 is before all. */
export interface Place {
  /** `line` is any line; else a message's type. */
  readonly type: string
  readonly subtype?: string
  readonly from: number
  readonly to: number
  /** From 0 to 1: of the lines that fit, how many are hit. Which ones, the seed decides. */
  readonly chance: number
  readonly after: boolean
}

/** Signals that end a process or stop it: another would be no fault. */
export const SIGNALS = [
  "SIGKILL",
  "SIGTERM",
  "SIGINT",
  "SIGHUP",
  "SIGQUIT",
  "SIGABRT",
  "SIGSEGV",
  "SIGBUS",
  "SIGILL",
  "SIGFPE",
  "SIGSTOP",
] as const
export type FaultSignal = (typeof SIGNALS)[number]

/** A mishap beside the line at which it happens. */
export type SideMishap =
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "kill"; readonly signal: FaultSignal }
  /** Nothing is written and nothing read. */
  | { readonly do: "hang"; readonly ms: number }
  /** The connection breaks off. */
  | { readonly do: "close" }
  | { readonly do: "ignore-term" }
  | { readonly do: "rubbish"; readonly bytes: number }
  | { readonly do: "long"; readonly bytes: number }
  | { readonly do: "flood"; readonly perSecond: number; readonly seconds: number }

/** A mishap of the line itself. */
export type LineMishap =
  | { readonly do: "half" }
  | { readonly do: "duplicate"; readonly copies: number }
  /** The line, and all that come after it, wait. */
  | { readonly do: "delay"; readonly ms: number }
  /** The line waits, and others overtake it. */
  | { readonly do: "late"; readonly ms: number }

export type Mishap = SideMishap | LineMishap

const OF_LINES: readonly Mishap["do"][] = ["half", "duplicate", "delay", "late"]

export function isOfLine(mishap: Mishap): mishap is LineMishap {
  return OF_LINES.includes(mishap.do)
}

export interface Fault {
  /** As it was written. */
  readonly spec: string
  readonly mishap: Mishap
  readonly at: Place
}

const MAX_BYTES = 256 * 1024 * 1024
const MAX_COPIES = 1000
const MAX_PER_SECOND = 1_000_000
const MAX_SECONDS = 600
const HOUR_MS = 60 * 60 * 1000
const MEBIBYTE = 1024 * 1024

const TIMES = "TIME is as in 500, 500ms, 2s or 1m, and at most 1h"
const SIZES = `SIZE is as in 100, 10KB or 64MB, at least 1 and at most ${MAX_BYTES / MEBIBYTE}MB`

type Read = (value: string | undefined) => Mishap | undefined

/**
 * The value after `=`, as the list of all faults shows it; what happens; what reads the value, undefined where it
 * cannot be read; and which values there are, where that is more than what may be seen.
 */
type Kind = readonly [value: string, about: string, read: Read, range?: string]

function plain(mishap: Mishap): Read {
  return (value) => (value === undefined ? mishap : undefined)
}

/** `500`, `500ms`, `2s`, `1m`, `1h`. */
function time(otherwise: string, made: (ms: number) => Mishap): Read {
  return (value = otherwise) => {
    const [, digits = "", unit = "ms"] = /^(\d{1,8})(ms|s|m|h)?$/.exec(value) ?? []
    const ms = Number(digits) * ({ ms: 1, s: 1000, m: 60_000, h: HOUR_MS }[unit] ?? 1)
    return digits === "" || ms > HOUR_MS ? undefined : made(ms)
  }
}

/** `100`, `10KB`, `64MB`. */
function size(otherwise: string, made: (bytes: number) => Mishap): Read {
  return (value = otherwise) => {
    const [, digits = "", unit = ""] = /^(\d{1,9})(KB|MB)?$/.exec(value) ?? []
    const bytes = Number(digits) * ({ KB: 1024, MB: MEBIBYTE }[unit] ?? 1)
    return digits === "" || bytes < 1 || bytes > MAX_BYTES ? undefined : made(bytes)
  }
}

const KINDS: Readonly<Record<Mishap["do"], Kind>> = {
  exit: [
    "[=CODE]",
    "the process ends with this code (1)",
    (value = "1") => whole(value, 0, 255, (code) => ({ do: "exit", code })),
    "CODE is a whole number from 0 to 255",
  ],
  kill: ["[=SIGNAL]", `the process gets this signal (SIGKILL): ${SIGNALS.join(", ")}`, readSignal],
  hang: [
    "[=TIME]",
    "nothing is written and nothing read for this time (an hour), then it goes on",
    time("1h", (ms) => ({ do: "hang", ms })),
    TIMES,
  ],
  close: [
    "",
    "the connection breaks off: stdout is closed; a socket is cut, and dialled again as the version does",
    plain({ do: "close" }),
  ],
  "ignore-term": ["", "SIGTERM is ignored from here on", plain({ do: "ignore-term" })],
  half: ["", "half of the line is written, and its end never", plain({ do: "half" })],
  rubbish: [
    "[=SIZE]",
    "a line that is no message (64 bytes)",
    size("64", (bytes) => ({ do: "rubbish", bytes })),
    SIZES,
  ],
  long: [
    "[=SIZE]",
    "a line of this size, a message that means nothing (64MB)",
    size("64MB", (bytes) => ({ do: "long", bytes })),
    SIZES,
  ],
  duplicate: [
    "[=TIMES]",
    "the line is written this often (2)",
    (value = "2") => whole(value, 2, MAX_COPIES, (copies) => ({ do: "duplicate", copies })),
    `TIMES is a whole number from 2 to ${MAX_COPIES}`,
  ],
  delay: ["=TIME", "the line, and all after it, come this much later", time("", (ms) => ({ do: "delay", ms })), TIMES],
  late: [
    "=TIME",
    "the line comes this much later, and others overtake it",
    time("", (ms) => ({ do: "late", ms })),
    TIMES,
  ],
  flood: [
    "[=RATE[xSECONDS]]",
    "a message of so many deltas a second (100000x1); slower only where the host reads slower",
    readFlood,
    `RATE is a whole number from 1 to ${MAX_PER_SECOND}, SECONDS one from 1 to ${MAX_SECONDS}`,
  ],
}

const TYPES: readonly string[] = Object.keys(known.agent)
/** Before the first line. */
const AT_ONCE: Place = { type: "line", from: 0, to: 0, chance: 1, after: false }
const FIRST_LINE: Place = { ...AT_ONCE, from: 1, to: 1 }

/** All there is to know to write one. */
export function faultHelp(): string {
  const lines = (list: readonly string[]) => list.map((line) => `  ${line}\n`).join("")
  return `A fault is KIND[=VALUE][@PLACE], as in delay=2s@control_response#3.

Kinds, with what holds where no value is given:
${lines(describeFaults())}
Places: the fault happens at lines that the agent writes, before them unless it is said to come after:
${lines(PLACES)}
Without a place it happens at once; what happens to a line (half, duplicate, delay, late) to the first.
Sizes are as in 100, 10KB, 64MB; times as in 500, 500ms, 2s, 1m, 1h. Several faults at one line happen in the order given.
`
}

/** One line for each fault there is. */
export function describeFaults(): string[] {
  return Object.entries(KINDS).map(([name, [value, about]]) => `${(name + value).padEnd(24)} ${about}`)
}

/** `KIND[=VALUE][@[after:]PLACE[#N|#N+|#*][~CHANCE]]`, or `fault/unknown` with what there is. */
export function parseFault(spec: string): Fault {
  const parts = /^(?<name>[a-z-]+)(?:=(?<value>[^@]*))?(?:@(?<place>.*))?$/s.exec(spec)?.groups ?? {}
  const { name = "", value, place } = parts
  const kind = isKind(name) ? KINDS[name] : undefined
  if (kind === undefined) throw wrong(spec, "there is no such fault. There are:", describeFaults())
  const [, , read] = kind
  const mishap = read(value)
  if (mishap === undefined) throw wrongValue(spec, name, kind)
  const anywhere = isOfLine(mishap) ? FIRST_LINE : AT_ONCE
  return { spec, mishap, at: place === undefined ? anywhere : readPlace(spec, place) }
}

function wrongValue(spec: string, name: string, [value, about, , range]: Kind): SimulatorError {
  if (value === "") return wrong(spec, `${name} takes no value:`, [about])
  return wrong(spec, `the value must be as in ${name}${value}:`, [about, ...(range === undefined ? [] : [range])])
}

function isKind(name: string): name is Mishap["do"] {
  return Object.hasOwn(KINDS, name)
}

function readPlace(spec: string, text: string): Place {
  const pattern =
    /^(?<after>after:)?(?<type>[a-z_]+)(?:\/(?<subtype>[a-z_]+))?(?:#(?<count>\*|[1-9]\d*\+?))?(?:~(?<chance>[\d.]+))?$/
  const parts = pattern.exec(text)?.groups
  if (parts === undefined) throw wrong(spec, "the place must be as in:", PLACES)
  const { after, type = "", subtype, count, chance = "1" } = parts
  const share = Number(chance)
  if (!(share > 0 && share <= 1)) throw wrong(spec, "the chance must be above 0 and at most 1, as in ~0.1", [])
  const isTurn = type === "turn"
  if (!isTurn && type !== "line" && !TYPES.includes(type)) {
    throw wrong(spec, `an agent writes no "${type}". There are:`, [["line", "turn", ...TYPES].join(", ")])
  }
  // With a chance, every such line is meant unless one is named.
  const counted = readCount(count ?? (parts["chance"] === undefined ? "1" : "*"))
  const named = isTurn ? { type: "system", subtype: "init" } : { type, ...(subtype === undefined ? {} : { subtype }) }
  return { ...named, ...counted, chance: share, after: after !== undefined }
}

const PLACES = [
  "line#7                          the seventh line the agent writes",
  "turn#2                          the second turn: its system/init",
  "result                          the first result",
  "control_request/can_use_tool#3  the third question for permission",
  "after:result                    right after the first result was written",
  "assistant#2+                    every assistant message from the second on; #* is every one",
  "stream_event~0.01               one of a hundred, as the seed decides",
]

function readCount(count: string): { from: number; to: number } {
  if (count === "*") return { from: 1, to: Number.POSITIVE_INFINITY }
  const from = Number.parseInt(count, 10)
  return { from, to: count.endsWith("+") ? Number.POSITIVE_INFINITY : from }
}

function readSignal(value = "SIGKILL"): Mishap | undefined {
  const name = value.startsWith("SIG") ? value : `SIG${value}`
  const signal = SIGNALS.find((each) => each === name)
  return signal === undefined ? undefined : { do: "kill", signal }
}

function readFlood(value = "100000"): Mishap | undefined {
  const [rate = "", seconds = "1", ...rest] = value.split("x")
  if (rest.length > 0) return undefined
  const lasts = whole(seconds, 1, MAX_SECONDS, (number) => number)
  if (lasts === undefined) return undefined
  return whole(rate, 1, MAX_PER_SECOND, (perSecond) => ({ do: "flood", perSecond, seconds: lasts }))
}

function whole<T>(text: string, least: number, most: number, made: (value: number) => T): T | undefined {
  if (!/^\d{1,9}$/.test(text)) return undefined
  const value = Number(text)
  return value < least || value > most ? undefined : made(value)
}

function wrong(spec: string, what: string, list: readonly string[]): SimulatorError {
  const lines = [`fault "${spec}": ${what}`, ...list.map((line) => `  ${line}`)]
  return new SimulatorError("fault/unknown", lines.join("\n"), { details: { spec } })
}
