import { isObject, textOf } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import { isMeant, matcherFault, subjectOf } from "./hook-matcher.ts"

/** One matcher of one client. `timeoutMs` is how long that client has for an answer. */
export interface ClientHook {
  readonly event: string
  readonly matcher?: string
  readonly callbackIds: readonly string[]
  readonly timeoutMs: number
  readonly onFailure: "continue" | "block"
}

const ID = "hub-hook:"
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

export function needsOf(events: readonly string[], hooks: readonly ClientHook[]): HookNeeds {
  const needs = new Map(events.map((event) => [event, DEFAULT_TIMEOUT_MS + MARGIN_MS]))
  for (const { event, timeoutMs } of hooks) {
    needs.set(event, Math.max(needs.get(event) ?? 0, timeoutMs + MARGIN_MS))
  }
  return needs
}

/** What is needed beyond what the agent has. */
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

/** The hub's own id of the callback for an event. */
export function callbackOf(event: string): string {
  return `${ID}${event}`
}

/** The event that a callback of the agent's is for; undefined when the hub did not register it. */
export function eventOfCallback(callbackId: string | undefined): string | undefined {
  return callbackId?.startsWith(ID) === true ? callbackId.slice(ID.length) : undefined
}

export function isForHook(hook: ClientHook, event: string, input: unknown): boolean {
  return hook.event === event && isMeant(hook.matcher, subjectOf(event, input))
}

function invalid(message: string): HubError {
  return new HubError("request/invalid", message)
}
