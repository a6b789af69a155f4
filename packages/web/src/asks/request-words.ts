import type { Ask } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import { blockedPathWords } from "@signalbox/transcript"
import { clockTime } from "../design/words.ts"
import { outcomeVerb } from "../fleet/ask-words.ts"
import type { AnswerState } from "./answer/send-answer.ts"

interface OutcomeContext {
  readonly me: string
  /** How far this page's own answer came. */
  readonly answer: AnswerState
}

/** The outcome of an ask, in a sentence. None of them says "denied" for something that nobody denied. */
export function outcomeSentence(ask: Ask, { me, answer }: OutcomeContext): string {
  const isLost = answer.name === "lost"
  const unused = isLost ? ` Your ${answer.isDenial ? "denial" : "answer"} was not sent.` : ""
  const own = ownEnd(ask)
  if (own !== undefined) return `${own}${unused}`
  const verb = outcomeVerb(ask)
  if (ask.via === "policy") return `${verb} by rule ${ask.rule ?? "of the hub"}.${unused}`
  const did = `${ask.settledBy === me ? "You" : (ask.settledBy ?? "Somebody")} ${verb.toLowerCase()} this`
  if (isLost) return `${did}${ask.settledBy === me ? " in another window" : ""} first.${unused}`
  if (ask.settledBy === me) return `${did} after ${waitWords(waitedMs(ask))}.`
  return `${did} at ${clockTime(Date.parse(ask.settledAt ?? ask.askedAt))}.`
}

/** Says who answered what, and when: the record of a decision, which stays as it is. */
export function receiptWords(ask: Ask, me: string): string {
  const who = ask.settledBy === me ? "You" : (ask.settledBy ?? "Somebody")
  return `${who} ${outcomeVerb(ask).toLowerCase()} this at ${clockTime(Date.parse(ask.settledAt ?? ask.askedAt))}`
}

/** Words for a request that ended without an answer. */
function ownEnd(ask: Ask): string | undefined {
  switch (ask.state) {
    case "pending":
      return "Waiting for an answer."
    case "expired":
      return `Nobody answered within ${waitWords(waitedMs(ask))}. Claude was told.`
    case "cancelled":
      return "Claude withdrew this request."
    case "superseded":
      return "Replaced by a newer request."
    case "orphaned":
      return "The agent ended before this was answered."
    case "allowed":
    case "denied":
      return undefined
  }
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })

/** When it was settled and how long it had waited; undefined while it waits. */
export function settledWords(ask: Pick<Ask, "askedAt" | "settledAt">, nowMs: number): string | undefined {
  if (ask.settledAt === undefined) return undefined
  const at = Date.parse(ask.settledAt)
  const isToday = new Date(at).toDateString() === new Date(nowMs).toDateString()
  const ms = waitedMs(ask)
  const wait = ms < 500 ? "immediately" : `after ${waitWords(ms)}`
  return `settled ${isToday ? "" : `${DAY.format(at)} `}${clockTime(at, { seconds: true })}, ${wait}`
}

function waitedMs(ask: Pick<Ask, "askedAt" | "settledAt">): number {
  return Date.parse(ask.settledAt ?? ask.askedAt) - Date.parse(ask.askedAt)
}

/** How long somebody waited, as one would say it: no tenths, and nothing after the first two parts. */
export function waitWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return minutes >= 10 || seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  return minutes % 60 === 0 || hours >= 24 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

type Reasoned = Pick<Ask, "kind" | "request" | "input" | "rule" | "reason" | "via">

/** Why somebody is asked: facts that the CLI or the hub gave, nothing of our own making. Pure. */
export function reasonsOf(
  { kind, request, input, rule, reason: verdict, via }: Reasoned,
  cwd: string | null = null,
  home?: string,
): readonly string[] {
  const text = (field: string) => textOf(request, field)
  const description = descriptionOf(request, input)
  const matched = request["matched_ask_rule"]
  const server = request["mcp_server"]
  const reasons = [
    text("decision_reason"),
    ifGiven(text("blocked_path"), (path) => blockedPathWords(path, { folders: [cwd], home })),
    kind === "tool" ? description : undefined,
    matched === undefined || matched === null ? undefined : `Required by CLI rule ${ruleName(matched)}.`,
    // A hub that tells its verdict has named the rule there.
    verdict !== undefined || via === "policy" ? undefined : ifGiven(rule, (id) => `Required by hub rule ${id}.`),
    input?.["dangerouslyDisableSandbox"] === true ? "Runs outside the sandbox." : undefined,
    ifGiven(hostOf(textOf(input, "url")), (host) => `Network: ${host}`),
    isObject(server) && kind === "tool" ? `From the MCP server ${textOf(server, "name") ?? "?"}.` : undefined,
  ]
  return [...new Set(reasons.flatMap((reason) => (reason === undefined || reason === "" ? [] : [reason])))]
}

/** The policy's reason, where a rule or a part of the command brought it about. That no rule covers a request is no news. */
export function verdictReason({ reason, rule, why }: Pick<Ask, "reason" | "rule" | "why">): string | undefined {
  const isBroughtAbout = rule !== undefined || (why?.rules.length ?? 0) > 0 || why?.span !== undefined
  return isBroughtAbout ? reason : undefined
}

/** Who must not allow it, of an ask that needs a second person. `isOwn`: the reader started the session. */
export function fourEyesWords(startedBy: string | undefined, isOwn: boolean): string {
  if (startedBy === undefined) return "It isn't known who started this session, so this can only be denied."
  if (isOwn) return "You started this session, so someone else must allow this. You can still deny."
  return `Someone other than ${startedBy} must allow this.`
}

/** A description that stands in the request already, as a command's purpose or a file's path, is no reason. */
function descriptionOf(request: Ask["request"], input: Ask["input"]): string | undefined {
  const description = textOf(request, "description")
  const path = textOf(input, "file_path") ?? textOf(input, "notebook_path")
  const isShown =
    description === textOf(input, "description") ||
    description === path ||
    (description !== undefined && path?.endsWith(`/${description}`) === true)
  return isShown ? undefined : description
}

function ifGiven(value: string | undefined, words: (value: string) => string): string | undefined {
  return value === undefined || value === "" ? undefined : words(value)
}

/** CLIs do not publish what they call a rule: its words where it has some, else all of it. */
function ruleName(rule: unknown): string {
  if (typeof rule === "string") return rule
  if (!isObject(rule)) return JSON.stringify(rule)
  const tool = textOf(rule, "toolName")
  if (tool === undefined) return JSON.stringify(rule)
  const content = textOf(rule, "ruleContent")
  return content === undefined ? tool : `${tool}(${content})`
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).host : undefined
}

/** Until an ask expires: to the second when it gets close. Pure. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds === 0) return "now"
  if (seconds < 600) return `in ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
  if (seconds < 7200) return `in ${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `in ${Math.floor(seconds / 3600)} h` : `in ${Math.floor(seconds / 86_400)} d`
}

const PHONE_CHARS = 240
const PHONE_LINES = 6

/** Whether a request is short enough to be read and answered in a phone's dock. Pure. */
export function fitsPhone({ kind, input }: Pick<Ask, "kind" | "input">): boolean {
  if (kind !== "tool") return false
  const text = Object.values(input ?? {})
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join("\n")
  return text.length <= PHONE_CHARS && text.split("\n").length <= PHONE_LINES
}
