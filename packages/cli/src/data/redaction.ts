import { homedir, hostname } from "node:os"
import { censor } from "@signalbox/hub/logger"
import { fieldOf, isObject, parseObject, textOf } from "@signalbox/protocol/envelope"
import { listedAddresses } from "@signalbox/protocol/hub-addresses"
import { isOnThisMachine } from "../base/context.ts"
import { onOneLine } from "../terminal/text.ts"

/** Variables that a support file names, without their values. */
export const NAMED_VARIABLE = /^(?:SIGNALBOX|CLAUDE|ANTHROPIC|HTTPS?_PROXY|NO_PROXY)/i
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE/i
/** Shorter ones are words: to remove `yes` everywhere would help nobody. */
const MIN_SECRET_CHARS = 6
/** Keys of the services that agents are run with, whoever's they are. */
const KEYS = /\b(?:sk|rk|pk|ghp|gho|ghs|github_pat|glpat|xox[abp]|AKIA)[-_]?[\w-]{10,}/g
const PATH = /(?:~|\.{0,2})(?:\/[^\s/]+)+/g

/** Texts, and the placeholder of each. */
export type Placeholders = ReadonlyMap<string, string>

/**
 * Takes secrets out of any text: values of variables that hold one, what token files hold, and whatever looks like a key. Addresses
 * and paths in other variables get placeholders, and so does what is given here.
 */
export function scrubber(
  env: NodeJS.ProcessEnv,
  tokens: readonly string[],
  given: Placeholders = new Map(),
): (text: string) => string {
  const named = Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value ?? ""] : []))
  const secrets = [...named, ...tokens]
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .toSorted((a, b) => b.length - a.length)
  const home = env["HOME"] ?? homedir()
  const places = [...placesIn(env), ...given, [home, "~"] as const, [hostname(), "[host]"] as const]
  const hide = replacer(new Map(places.filter(([text]) => text.length > 3 && text !== "localhost")))
  return (text) => {
    let clean = text
    for (const secret of secrets) clean = clean.replaceAll(secret, "[redacted]")
    return hide(
      censor(clean)
        .replaceAll(KEYS, "[redacted]")
        .replaceAll(/\/\/[^/\s@]*@/g, "//"),
    )
  }
}

function placesIn(env: NodeJS.ProcessEnv): readonly (readonly [string, string])[] {
  const values = Object.entries(env).filter(
    ([name, value]) => NAMED_VARIABLE.test(name) && /[/\\:.@]/.test(value ?? ""),
  )
  return values.flatMap(([name, value = ""]) => [[value, `[${name}]`] as const, ...hostOf(value)])
}

/** The hosts of an address, or of several, with their placeholder. An address of this machine tells nobody anything. */
export function hostOf(url: string): readonly (readonly [string, string])[] {
  const others = listedAddresses(url).filter((text) => URL.canParse(text) && !isOnThisMachine(text))
  return others.map((text) => [new URL(text).hostname, "[host]"])
}

interface Machine {
  readonly name: string
  readonly claudePath?: string | undefined
}

/** For what runners say about themselves: without the names of machines and without paths on them. */
export function machineHider(machines: readonly Machine[]): (text: string) => string {
  if (machines.length === 0) return (text) => text
  const paths = machines.map(({ claudePath = "" }) => [onOneLine(claudePath), "[path]"] as const)
  const names = machines.map(({ name }, index) => [onOneLine(name), `[machine ${index + 1}]`] as const)
  const hide = replacer(new Map([...paths, ...names]))
  return (text) => hide(text).replaceAll(PATH, "[path]")
}

/** Replaces whole words, the longest first, each once. */
function replacer(places: Placeholders): (text: string) => string {
  const texts = [...places.keys()].filter((text) => text !== "").toSorted((a, b) => b.length - a.length)
  if (texts.length === 0) return (text) => text
  const any = texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|")
  const pattern = new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, "g")
  return (text) => text.replaceAll(pattern, (found) => places.get(found) ?? found)
}

const LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
}
/** Fields whose text is one of ours, not somebody's. */
const OWN_WORDS: ReadonlySet<string> = new Set(["code", "kind", "verdict", "transport", "signal", "type", "reference"])
const IDS: ReadonlySet<string> = new Set(["session", "incarnation"])
const MAX_FRAMES = 6
const MAX_WORDS = 160

/**
 * A line of a log as somebody else may read it. Only what is known to be ours is kept: our own words up to the first colon (behind it
 * stands what somebody said, or a path), numbers, codes, and the places in our code that an error came by.
 */
export function logLineForOthers(line: string): string | undefined {
  const entry = parseObject(line)
  if (entry === undefined) return frame(line)
  const time = textOf(entry, "time") ?? ""
  // Our loggers write all three: another program's line may say anything.
  if (typeof entry["level"] !== "number" || typeof entry["pid"] !== "number" || !/^[\dTZ:.-]{20,30}$/.test(time))
    return undefined
  const level = LEVELS[entry["level"]] ?? "?"
  const fields = Object.entries(entry).flatMap(([name, value]) => field(name, value) ?? [])
  const err = fieldOf(entry, "err")
  const cause = isObject(err) ? [err["type"], err["code"]].filter((word) => isOwnWord(word)).join(" ") : ""
  const stack = (textOf(err, "stack") ?? "").split("\n").flatMap((text) => frame(text) ?? [])
  const head = [time, level, ownWords(textOf(entry, "msg") ?? ""), ...fields, ...(cause === "" ? [] : [`(${cause})`])]
  return [head.join(" "), ...stack.slice(0, MAX_FRAMES)].join("\n")
}

function ownWords(text: string): string {
  const words = text.split(/[:\n]/, 1)[0] ?? ""
  return words.replaceAll(PATH, "[path]").slice(0, MAX_WORDS)
}

function field(name: string, value: unknown): string | undefined {
  if (["level", "time", "pid", "msg"].includes(name) || !isOwnWord(name)) return undefined
  if (typeof value === "number" || typeof value === "boolean") return `${name}=${value}`
  if (OWN_WORDS.has(name) && isOwnWord(value)) return `${name}=${value}`
  return IDS.has(name) && typeof value === "string" ? `${name}=${value.slice(0, 8)}` : undefined
}

function isOwnWord(value: unknown): value is string {
  return typeof value === "string" && /^[\w/.-]{1,40}$/.test(value)
}

/** `at name (path:1:2)`, or without a name. A path has no blank, and ends like one of a program. */
const FRAME =
  /^\s+at (?:((?:async |new )?[\w$.<>#]{1,80}) (?:\[as [\w$.]{1,40}\] )?\()?((?:file:\/\/)?\/[\w@.$+/~-]{1,300}\.[cm]?[jt]sx?|node:[\w/-]{1,60}):(\d{1,6}):(\d{1,6})\)?$/

/** Function and place, from the package on. */
function frame(text: string): string | undefined {
  const [, name, path = "", row, column] = FRAME.exec(text) ?? []
  if (row === undefined) return undefined
  const from = path.startsWith("node:")
    ? path
    : (/(?:packages|node_modules)\/.*/.exec(path)?.[0] ?? path.replace(/.*\//, ""))
  const place = `${from}:${row}:${column}`
  return `    at ${name === undefined ? place : `${name} (${place})`}`
}
