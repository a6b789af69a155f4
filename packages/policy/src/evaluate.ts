import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import {
  isPersonal,
  matchRule,
  type PolicyContext,
  type PolicyRequest,
  type RuleMatch,
  subjectOf,
} from "./match-rule.ts"
import type { Policy, Rule, RuleEffect } from "./schemas.ts"

export interface Verdict {
  readonly effect: RuleEffect
  /** The rule that decided. Without one it is an ask. */
  readonly rule?: string
  /** A sentence for people. */
  readonly reason: string
  /** Of a denial: what the agent is told, if the rule says so. */
  readonly message?: string
  /** Of an ask: when it expires, if the rule says so. */
  readonly expiresAfterMs?: number
  /** How often that may be put off, if the rule says so. */
  readonly maxExtensions?: number
}

interface Candidate extends RuleMatch {
  readonly rule: Rule
}

/** Deny beats ask beats allow, whatever the order; no rule means ask. Among equals the first one is named. */
export function evaluate(policy: Policy, request: PolicyRequest, context: PolicyContext): Verdict {
  const subject = subjectOf(request, context)
  const candidates = policy.rules.map((rule): Candidate => ({ rule, ...matchRule(rule, subject) }))
  const find = (effect: RuleEffect, match: RuleMatch["match"]) =>
    candidates.find((candidate) => candidate.rule.effect === effect && candidate.match === match)?.rule

  const denied = find("deny", "yes")
  if (denied !== undefined) return settle(denied, `Rule "${denied.id}" forbids this`)
  const asked = find("ask", "yes")
  if (asked !== undefined) return settle(asked, `Rule "${asked.id}" wants a person to decide this`)
  const unclear = find("deny", "maybe") ?? find("ask", "maybe")
  if (unclear !== undefined) return askBecauseUnclear(unclear)
  const allowed = find("allow", "yes")
  if (allowed !== undefined) return settle(allowed, `Rule "${allowed.id}" allows this`)
  return { effect: "ask", reason: whyNoRule(candidates, request) }
}

/** The question that a control request of an agent puts, or undefined if it puts none to a person. */
export function policyRequestOf(request: unknown): PolicyRequest | undefined {
  if (!isObject(request)) return undefined
  switch (request["subtype"]) {
    case "can_use_tool": {
      const needsPerson = request["requires_user_interaction"] === true || request["server_policy_ask_only"] === true
      const tool = textOf(request, "tool_name")
      return tool === undefined ? undefined : { tool, input: fieldOf(request, "input") ?? {}, needsPerson }
    }
    case "elicitation":
      return { tool: "elicitation", input: request }
    case "request_user_dialog":
      return { tool: "dialog", input: request }
    default:
      return undefined
  }
}

function settle(rule: Rule, sentence: string): Verdict {
  return {
    effect: rule.effect,
    rule: rule.id,
    reason: rule.reason === undefined ? `${sentence}.` : `${sentence}: ${rule.reason}`,
    ...(rule.message === undefined ? {} : { message: rule.message }),
    ...expiryOf(rule),
  }
}

function expiryOf({ expiresAfterMs, maxExtensions }: Rule): Pick<Verdict, "expiresAfterMs" | "maxExtensions"> {
  if (expiresAfterMs === undefined) return {}
  return maxExtensions === undefined ? { expiresAfterMs } : { expiresAfterMs, maxExtensions }
}

function askBecauseUnclear(rule: Rule): Verdict {
  const says = rule.effect === "deny" ? "forbid this" : "want a person to decide this"
  return {
    effect: "ask",
    rule: rule.id,
    reason: `Rule "${rule.id}" may ${says}: what will run, or where, cannot be told beforehand.`,
    ...expiryOf(rule),
  }
}

function whyNoRule(candidates: readonly Candidate[], request: PolicyRequest): string {
  const nearly = candidates.find(({ because }) => because !== undefined)
  if (nearly !== undefined) {
    return `Rule "${nearly.rule.id}" would allow this, but does not because ${nearly.because}.`
  }
  if (isPersonal(request)) return "This question is for a person, and no rule that names it answers it."
  return "No rule covers this."
}
