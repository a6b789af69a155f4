import { TransportError } from "../errors.ts"
import type { Closed } from "../transport.ts"
import { type LinkEnd, withoutCode } from "./close-codes.ts"
import type { DialPreset } from "./presets.ts"
import { nextTry, type ReconnectBudget } from "./retry-policies.ts"

export type DialState =
  | { readonly phase: "idle" }
  | ({ readonly phase: "connecting" } & Search)
  | { readonly phase: "connected" }
  /** Waits for the next dial. */
  | ({ readonly phase: "reconnecting"; readonly delayMs: number; readonly failure: DialFailure } & Search)
  /** Our goodbye is under way. */
  | { readonly phase: "closing"; readonly closed: Closed }
  | { readonly phase: "closed"; readonly closed: Closed }

interface Search {
  /** The dial under way, or the next one: 1 is the first since there was a connection. */
  readonly attempt: number
  /** Absent before anything has failed. */
  readonly budget?: ReconnectBudget
}

/** Why there is no connection. */
export type DialFailure =
  | { readonly kind: "lost"; readonly end: LinkEnd }
  | { readonly kind: "no-connection"; readonly error: Error }
  | { readonly kind: "http"; readonly status: number }
  /** Cannot even be tried: another dial would fail in the same way. */
  | { readonly kind: "impossible"; readonly error: Error }

export type DialInput =
  | { readonly type: "dial" }
  | { readonly type: "opened" }
  | { readonly type: "failed"; readonly failure: DialFailure; readonly at: number; readonly roll: number }
  | { readonly type: "close"; readonly closed: Closed }
  /** The goodbye is done. */
  | { readonly type: "ended"; readonly closed: Closed }

export type DialRules = Pick<DialPreset, "reconnect" | "httpErrors" | "permanentCloseCodes">

export function stepDial(rules: DialRules, state: DialState, input: DialInput): DialState {
  switch (state.phase) {
    case "closed":
      return state
    case "closing":
      return input.type === "ended" ? { phase: "closed", closed: input.closed } : state
    case "idle":
    case "reconnecting":
      if (input.type === "dial") return connecting(state)
      return input.type === "close" ? { phase: "closed", closed: input.closed } : state
    case "connecting":
      if (input.type === "opened") return { phase: "connected" }
      if (input.type === "failed") return afterFailure(rules, state, input)
      return input.type === "close" ? { phase: "closed", closed: input.closed } : state
    case "connected":
      if (input.type === "failed") return afterFailure(rules, { attempt: 0 }, input)
      return input.type === "close" ? { phase: "closing", closed: input.closed } : state
  }
}

function connecting(state: DialState & { phase: "idle" | "reconnecting" }): DialState {
  if (state.phase === "idle") return { phase: "connecting", attempt: 1 }
  const { attempt, budget } = state
  return { phase: "connecting", attempt, ...(budget === undefined ? {} : { budget }) }
}

function afterFailure(rules: DialRules, search: Search, input: DialInput & { type: "failed" }): DialState {
  const { failure, at, roll } = input
  const final = finalFailure(rules, failure)
  if (final !== undefined) return { phase: "closed", closed: final }
  const kind = failure.kind === "lost" ? "lost" : "dial"
  const next = rules.reconnect === "never" ? undefined : nextTry(rules.reconnect, search.budget, { at, kind, roll })
  if (next === undefined || !next.retry) return { phase: "closed", closed: gaveUp(search, failure, at) }
  return {
    phase: "reconnecting",
    attempt: search.attempt + 1,
    delayMs: next.delayMs,
    failure,
    budget: next.budget,
  }
}

/** A failure that no patience can mend. */
function finalFailure(rules: DialRules, failure: DialFailure): Closed | undefined {
  switch (failure.kind) {
    case "lost":
      if (failure.end.by === "peer" && rules.permanentCloseCodes.includes(failure.end.code)) {
        const { code, reason } = failure.end
        return refused(`the server closed for good with code ${code}: ${reason}`, { code, reason })
      }
      return rules.reconnect === "never" ? withoutCode(failure.end) : undefined
    case "http":
      if (!isPermanentStatus(rules.httpErrors, failure.status)) return undefined
      return refused(`the server answered the upgrade with HTTP ${failure.status}`, { status: failure.status })
    case "impossible": {
      const reason = `cannot dial: ${describeError(failure.error)}`
      return {
        by: "us",
        reason,
        error: new TransportError("transport/misconfigured", reason, { cause: failure.error }),
      }
    }
    case "no-connection":
      return undefined
  }
}

function isPermanentStatus(rule: DialRules["httpErrors"], status: number): boolean {
  if (rule !== "permanent-4xx") return rule === "permanent"
  return status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429
}

function gaveUp(search: Search, failure: DialFailure, at: number): Closed {
  const attempts = search.attempt
  const overMs = at - (search.budget?.firstFailureAt ?? at)
  const reason = `gave up after ${attempts} ${attempts === 1 ? "attempt" : "attempts"} over ${overMs} ms: ${describeFailure(failure)}`
  const cause = failure.kind === "no-connection" ? { cause: failure.error } : {}
  const error = new TransportError("transport/unreachable", reason, { ...cause, details: { attempts, overMs } })
  return { by: "us", reason, error }
}

export function describeFailure(failure: DialFailure): string {
  switch (failure.kind) {
    case "lost":
      return `connection lost (${failure.end.reason})`
    case "http":
      return `HTTP ${failure.status}`
    case "no-connection":
    case "impossible":
      return describeError(failure.error)
  }
}

/** A host with several addresses fails with an error that has a code and no text. */
function describeError(error: NodeJS.ErrnoException): string {
  return error.message === "" ? (error.code ?? error.name) : error.message
}

function refused(reason: string, details: Readonly<Record<string, unknown>>): Closed {
  return { by: "peer", reason, error: new TransportError("transport/refused", reason, { details }) }
}
