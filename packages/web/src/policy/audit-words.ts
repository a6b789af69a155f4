import type { AuditRecord } from "@signalbox/client"
import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { AUDIT_OUTCOMES, type RouteQuery } from "@signalbox/protocol/hub-api"
import { oneLine } from "../design/visible-text.tsx"
import { plural } from "../design/words.ts"
import { outcomeWords, summaryOf } from "../fleet/ask-words.ts"
import type { Why } from "../fleet/deciding-span.ts"

/** The filters of the audit, by their names in the address and at the hub. */
const FILTERS = {
  by: "by",
  rule: "rule",
  session: "session",
  machine: "runner",
  tool: "tool",
  outcome: "what",
} as const
export type FilterName = keyof typeof FILTERS
export type AuditWish = Readonly<Partial<Record<FilterName, string>>>
type AuditQuery = RouteQuery<"GET /api/audit">

const NAMES = Object.keys(FILTERS).filter((name): name is FilterName => name in FILTERS)

export function wishOf(query: URLSearchParams): AuditWish {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = query.get(name)?.trim() ?? ""
      return value === "" ? [] : [[name, value]]
    }),
  )
}

export function isFiltered(wish: AuditWish): boolean {
  return Object.keys(wish).length > 0
}

/** As the hub wants it. */
export function requestOf(wish: AuditWish): AuditQuery {
  return Object.fromEntries(NAMES.flatMap((name) => (wish[name] === undefined ? [] : [[FILTERS[name], wish[name]]])))
}

/** The states of a request have words of their own. */
const EVENTS: Readonly<Partial<Record<string, string>>> = {
  "call/denied": "Tool call denied",
  "ask/extended": "More time given",
  "answer/refused": "Answer refused",
  "grant/given": "Grant given",
  "grant/revoked": "Grant revoked",
  "policy/changed": "Policy changed",
  "settings/changed": "Settings changed",
  "token/created": "Token created",
  "token/revoked": "Token revoked",
  "login/ended": "Browser signed out",
  "session/launched": "Session started",
  "session/resumed": "Session resumed",
  "session/stopped": "Session stopped",
  "session/not-enforced": "Not enforced",
  "session/purged": "Session deleted",
  "runner/drained": "Machine drained",
  "runner/opened": "Machine opened",
  "runner/forgotten": "Machine removed",
  "runner/refused": "Machine refused",
  "control/set_permission_mode": "Mode changed",
  "control/set_model": "Model changed",
  "control/interrupt": "Interrupted",
}

/** The filters, in words. */
export const OUTCOMES: readonly { readonly value: string; readonly label: string }[] = AUDIT_OUTCOMES.map((value) => ({
  value,
  label: EVENTS[value] ?? outcomeWords(value.replace("ask/", "")),
}))

export function outcomeOf(what: string): string {
  const known = OUTCOMES.find(({ value }) => value === what)
  if (known !== undefined) return known.label
  const [kind = "", name = ""] = what.split("/")
  const words = oneLine(name.replaceAll(/[_-]/g, " "), 60)
  return words === "" ? oneLine(what, 60) : kind === "ask" ? outcomeWords(name) : `${capital(kind)}: ${words}`
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
}

const DANGERS: ReadonlySet<string> = new Set([
  "ask/denied",
  "answer/refused",
  "call/denied",
  "runner/refused",
  "session/not-enforced",
])

export function lookOf(what: string): string {
  if (what === "ask/allowed") return "text-clear"
  return DANGERS.has(what) ? "text-danger" : "text-text-2"
}

const KINDS = ["tool", "question", "plan", "elicitation", "dialog"] as const

/** The subject of an entry, in a line; empty if its outcome says it all. */
export function subjectOf({ what, details }: Pick<AuditRecord, "what" | "details">): string {
  const kind = KINDS.find((one) => one === details["kind"])
  if (what.startsWith("ask/") && kind !== undefined) {
    const toolName = textOf(details, "toolName")
    const input = fieldOf(details, "input")
    return summaryOf({
      kind,
      request: {},
      ...(toolName === undefined ? {} : { toolName }),
      ...(isObject(input) ? { input } : {}),
    })
  }
  if (what === "answer/refused") return oneLine(textOf(details, "toolName") ?? "", 160)
  if (what === "call/denied") {
    // Its input is in the transcript; the part that decided is here.
    const part = textOf(details["why"], "text")
    return oneLine([textOf(details, "toolName"), part].filter((words) => words !== undefined).join(": "), 160)
  }
  const words = ["name", "model", "mode", "cwd", "reason"].flatMap((field) => textOf(details, field) ?? [])
  const { version } = details
  const forced = fieldOf(details, "forced")?.["count"]
  return oneLine(
    [
      ...(typeof version === "number" ? [`version ${version}`] : []),
      ...(typeof forced === "number" ? [forcedWords(forced)] : []),
      ...words,
    ].join(", "),
    160,
  )
}

/** A policy that was saved anyway: against how many denials, or, with 0, before they could be looked through. */
export function forcedWords(count: number): string {
  return count === 0 ? "forced without a check" : `forced against ${plural(count, "denial")}`
}

interface Actor {
  readonly words: string
  /** The rule that decided. */
  readonly rule?: string
}

/** Who or what did it. */
export function actorOf({ by, via, details }: Pick<AuditRecord, "by" | "via" | "details">, me: string): Actor {
  const rule = textOf(details, "rule")
  if (via === "policy") return { words: "Rule", ...(rule === undefined ? {} : { rule }) }
  if (by !== null) return { words: by === me ? "You" : oneLine(by, 80) }
  if (via === "timeout") return { words: "Nobody" }
  return { words: via === "agent" ? "Claude" : "Hub" }
}

/** The policy's verdict in the details of an ask, if the hub that wrote them kept one. */
export function verdictIn(
  details: AuditRecord["details"],
): { readonly reason: string; readonly why?: Why } | undefined {
  const reason = textOf(details, "reason")
  const why = fieldOf(details, "why")
  if (reason === undefined) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hub's own words: the contract says what they are
  return typeof why?.["change"] === "string" && Array.isArray(why["rules"]) ? { reason, why: why as Why } : { reason }
}

/** Its place in a transcript: the event that asked, else the session. */
export function placeOf({ sessionId, details }: Pick<AuditRecord, "sessionId" | "details">): string | undefined {
  if (sessionId === null) return undefined
  const seq = details["seq"]
  return `/s/${encodeURIComponent(sessionId)}${typeof seq === "number" ? `?seq=${seq}` : ""}`
}
