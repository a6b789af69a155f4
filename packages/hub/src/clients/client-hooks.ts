import { fieldOf, isObject, textOf, toolDenial } from "@signalbox/protocol"
import { callbackOf, ENFORCED_HOOK_MS, TOOL_EVENT } from "@signalbox/protocol/runner-wire"
import { HubError } from "../errors.ts"
import type { KeptSession } from "../model/session-record.ts"
import { isEnforcing } from "../session/kept-record.ts"

/** One matcher of one client. `timeoutMs` is how long that client has for an answer. */
export interface ClientHook {
  readonly event: string
  readonly matcher?: string
  readonly callbackIds: readonly string[]
  readonly timeoutMs: number
  readonly onFailure: "continue" | "block"
}

const DEFAULT_TIMEOUT_MS = 30_000
const MAX_TIMEOUT_MS = 300_000
/** The hub answers for a client that does not, before the agent gives up: only the hub knows what its failure means. */
const MARGIN_MS = 5_000
const MAX_HOOKS = 200

/** The `hooks` of a client's `initialize`. Throws request/invalid with what is wrong with them. */
export function readClientHooks(value: unknown): readonly ClientHook[] {
  if (!isObject(value)) return []
  const hooks = Object.entries(value).flatMap(([event, matchers]) =>
    (Array.isArray(matchers) ? matchers : []).flatMap((matcher) => readHook(event, matcher) ?? []),
  )
  if (hooks.length > MAX_HOOKS) throw invalid(`there are ${hooks.length} hooks: ${MAX_HOOKS} are possible`)
  return hooks
}

function readHook(event: string, value: unknown): ClientHook | undefined {
  const ids = isObject(value) ? value["hookCallbackIds"] : undefined
  if (!isObject(value) || !Array.isArray(ids)) return undefined
  const matcher = textOf(value, "matcher")
  const fault = matcher === undefined ? undefined : matcherFault(matcher)
  if (fault !== undefined) throw invalid(`the matcher of a ${event} hook ${fault}: use a plainer one`)
  const seconds = value["timeout"]
  const timeoutMs = typeof seconds === "number" && seconds > 0 ? seconds * 1000 : DEFAULT_TIMEOUT_MS
  return {
    event,
    callbackIds: ids.filter((id) => typeof id === "string"),
    timeoutMs: Math.min(timeoutMs, MAX_TIMEOUT_MS),
    onFailure: value["onFailure"] === "block" ? "block" : "continue",
    ...(matcher === undefined ? {} : { matcher }),
  }
}

/** Per event how long the agent waits for the hub. */
export type HookNeeds = ReadonlyMap<string, number>

/** The hooks that a process is told to call from its start, whoever its clients are. */
export function ownNeeds(kept: KeptSession): HookNeeds {
  const needs = new Map(kept.own.hooks.map((event) => [event, DEFAULT_TIMEOUT_MS + MARGIN_MS]))
  return isEnforcing(kept) ? needs.set(TOOL_EVENT, ENFORCED_HOOK_MS) : needs
}

export function needsOf(hooks: readonly ClientHook[]): HookNeeds {
  const needs = new Map<string, number>()
  for (const { event, timeoutMs } of hooks) {
    needs.set(event, Math.max(needs.get(event) ?? 0, timeoutMs + MARGIN_MS))
  }
  return needs
}

/** The servers needed beyond what the agent has. */
export function missingNeeds(needs: HookNeeds, had: HookNeeds): readonly string[] {
  return [...needs].filter(([event, ms]) => ms > (had.get(event) ?? 0)).map(([event]) => event)
}

/** Both together. What was registered once stays: an event that nobody wants any more is answered at once. */
export function joinNeeds(one: HookNeeds, other: HookNeeds): HookNeeds {
  const joined = new Map(one)
  for (const [event, ms] of other) joined.set(event, Math.max(joined.get(event) ?? 0, ms))
  return joined
}

/** For `initialize`: one hook per event, with the hub's own id, always with a time-out. */
export function registrationOf(needs: HookNeeds): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...needs].map(([event, ms]) => [event, [{ hookCallbackIds: [callbackOf(event)], timeout: Math.ceil(ms / 1000) }]]),
  )
}

export function isForHook(hook: ClientHook, event: string, input: unknown): boolean {
  return hook.event === event && isMeant(hook.matcher, subjectOf(event, input))
}

function invalid(message: string): HubError {
  return new HubError("request/invalid", message)
}

type Fields = Readonly<Record<string, unknown>>

const WEIGHT: Readonly<Record<string, number>> = { deny: 3, block: 3, ask: 2, allow: 1, approve: 1 }

/** The outputs of several clients' hooks as one: deny over ask over allow, and of the rest the first that says something. */
export function mergeHookOutputs(outputs: readonly unknown[]): Fields {
  // "Do not wait for me": it says nothing.
  const said = outputs.filter(isObject).filter((output) => output["async"] !== true)
  const [first, ...others] = said
  if (first === undefined) return {}
  return others.reduce<Fields>(mergeTwo, first)
}

function mergeTwo(one: Fields, other: Fields): Fields {
  const specific = mergeSpecific(fieldOf(one, "hookSpecificOutput"), fieldOf(other, "hookSpecificOutput"))
  return {
    ...firstSaid(one, other),
    ...weighed(one, other, { name: "decision", reason: "reason" }),
    ...(one["continue"] === false || other["continue"] === false ? { continue: false } : {}),
    ...(specific === undefined ? {} : { hookSpecificOutput: specific }),
  }
}

function mergeSpecific(one: Fields | undefined, other: Fields | undefined): Fields | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const contexts = [one, other].flatMap((output) => textOf(output, "additionalContext") ?? [])
  return {
    ...firstSaid(one, other),
    ...weighed(one, other, { name: "permissionDecision", reason: "permissionDecisionReason" }),
    ...heavierDecision(one, other),
    // Each client's word reaches the model.
    ...(contexts.length === 0 ? {} : { additionalContext: contexts.join("\n") }),
  }
}

/** Merges decisions of a `PermissionRequest` hook: objects with a `behavior`. */
function heavierDecision(one: Fields, other: Fields): Fields {
  const [first, second] = [fieldOf(one, "decision"), fieldOf(other, "decision")]
  if (first === undefined || second === undefined) return {}
  return { decision: weightOf(second["behavior"]) > weightOf(first["behavior"]) ? second : first }
}

/** Whether it decides for something, whichever event it is about. */
export function allows(output: Fields): boolean {
  const specific = fieldOf(output, "hookSpecificOutput")
  const decisions = [output["decision"], specific?.["permissionDecision"], specific?.["action"]]
  decisions.push(fieldOf(specific, "decision")?.["behavior"])
  return decisions.some((decision) => typeof decision === "string" && ALLOWS.has(decision))
}

const ALLOWS: ReadonlySet<string> = new Set(["allow", "approve", "accept"])

/** The weightier of two decisions, with its own reason and not the other's. */
function weighed(one: Fields, other: Fields, fields: { name: string; reason: string }): Fields {
  const [first, second] = [one[fields.name], other[fields.name]]
  if (typeof first !== "string" || typeof second !== "string") {
    const decided = typeof first === "string" ? one : typeof second === "string" ? other : undefined
    return decided === undefined ? {} : pick(decided, fields)
  }
  return pick(weightOf(second) > weightOf(first) ? other : one, fields)
}

function pick(from: Fields, { name, reason }: { name: string; reason: string }): Fields {
  return { [name]: from[name], [reason]: from[reason] }
}

function weightOf(decision: unknown): number {
  return typeof decision === "string" ? (WEIGHT[decision] ?? 0) : 0
}

function firstSaid(one: Fields, other: Fields): Fields {
  const said = { ...one }
  for (const [name, value] of Object.entries(other)) {
    if (said[name] === undefined || said[name] === null || said[name] === "") said[name] = value
  }
  return said
}

/** The answer of a hook that blocks when it fails, in the words that its event understands. */
export function blockingOutput(event: string, reason: string): Fields {
  switch (event) {
    case TOOL_EVENT:
      return toolDenial(reason)
    case "PermissionRequest":
      return { hookSpecificOutput: { hookEventName: event, decision: { behavior: "deny", message: reason } } }
    case "Stop":
    case "SubagentStop":
      // To block a stop is to go on: a hook that is gone would make the agent work for ever.
      return { continue: false, stopReason: reason }
    default:
      return { decision: "block", reason }
  }
}

const MAX_CHARS = 500
const MAX_REPEATS = 3
const MAX_SUBJECT_CHARS = 200

/**
 * Whether a matcher means this subject, as 2.1.325 was seen to read it: nothing or `*` is everything, plain names separated by
 * `|` or `,` are compared whole, anything else is a pattern that may match anywhere. (Older ones know no `,` and no blanks.)
 */
export function isMeant(matcher: string | undefined, subject: string | undefined): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*" || subject === undefined) return true
  if (/^[\w\s|,]+$/.test(matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === subject)
  try {
    return new RegExp(matcher).test(subject.slice(0, MAX_SUBJECT_CHARS))
  } catch {
    return false
  }
}

/**
 * Why a pattern is not taken; undefined when it is. Patterns run in the hub's own thread, so those that can take for ever
 * (a repeated group, many repeats, a look back) are refused when they are registered.
 */
export function matcherFault(matcher: string): string | undefined {
  if (matcher.length > MAX_CHARS) return `is longer than ${MAX_CHARS} characters`
  if (/\)\s*[*+?{]/.test(matcher) || /\\[1-9k]/.test(matcher)) return "repeats a group or refers back to one"
  const repeats = matcher.match(/[*+{]/g)?.length ?? 0
  return matcher !== "*" && repeats > MAX_REPEATS ? `has more than ${MAX_REPEATS} repeats` : undefined
}

/** The text that the matcher of an event is held against. */
const SUBJECTS: Readonly<Record<string, string>> = {
  SessionStart: "source",
  SessionEnd: "reason",
  PreCompact: "trigger",
  PostCompact: "trigger",
  Setup: "trigger",
  Notification: "notification_type",
  SubagentStart: "agent_type",
  SubagentStop: "agent_type",
  ConfigChange: "source",
  Elicitation: "mcp_server_name",
  ElicitationResult: "mcp_server_name",
}

function subjectOf(event: string, input: unknown): string | undefined {
  return isObject(input) ? textOf(input, SUBJECTS[event] ?? "tool_name") : undefined
}
