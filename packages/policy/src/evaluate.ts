import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import { isPersonal, matchRule } from "./match-rule.ts"
import { OverBudget, Work } from "./matching.ts"
import type { Policy, Rule, RuleEffect } from "./schemas.ts"
import { type PolicyContext, type PolicyRequest, type Subject, subjectOf } from "./subject.ts"

export interface Verdict {
  readonly effect: RuleEffect
  /** The rule that decided. Without one it is an ask. */
  readonly rule?: string
  /** A sentence for people. */
  readonly reason: string
  /** What a deny rule tells the agent, if it says so. */
  readonly message?: string
  /** When the ask expires, if its rule says so. */
  readonly expiresAfterMs?: number
  /** How often that may be put off, if the rule says so. */
  readonly maxExtensions?: number
}

const TOO_MUCH_WORK =
  "Checking this request against the rules takes too much work, so a person decides. Shorter input or fewer patterns would be checked."

/** Deny beats ask beats allow, whatever the order; no rule means ask. Among equals the first one is named. */
export function evaluate(policy: Policy, request: PolicyRequest, context: PolicyContext, work = new Work()): Verdict {
  try {
    return decide(policy.rules, subjectOf(request, context, work))
  } catch (error) {
    if (error instanceof OverBudget) return { effect: "ask", reason: TOO_MUCH_WORK }
    throw error
  }
}

function decide(rules: readonly Rule[], subject: Subject): Verdict {
  const denying = find(rules, "deny", subject)
  if (denying.yes !== undefined) return settle(denying.yes, `Rule "${denying.yes.id}" forbids this`)
  const asking = find(rules, "ask", subject)
  if (asking.yes !== undefined) return settle(asking.yes, `Rule "${asking.yes.id}" wants a person to decide this`)
  const unclear = denying.maybe ?? asking.maybe
  if (unclear !== undefined) return askBecauseUnclear(unclear)
  const allowing = find(rules, "allow", subject)
  if (allowing.yes !== undefined) return settle(allowing.yes, `Rule "${allowing.yes.id}" allows this`)
  return { effect: "ask", reason: whyNoRule(allowing, subject.request) }
}

interface Found {
  /** The first rule that fits, after which no other is looked at. */
  readonly yes?: Rule
  /** The first one that may fit. */
  readonly maybe?: Rule
  /** The first one that nearly did, and why not, to be read after "because". */
  readonly nearly?: { readonly rule: Rule; readonly because: string }
}

function find(rules: readonly Rule[], effect: RuleEffect, subject: Subject): Found {
  let found: Found = {}
  for (const rule of rules) {
    if (rule.effect !== effect) continue
    const { match, because } = matchRule(rule, subject)
    if (match === "yes") return { yes: rule }
    if (match === "maybe") found = { maybe: rule, ...found }
    if (because !== undefined) found = { nearly: { rule, because }, ...found }
  }
  return found
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

function whyNoRule({ nearly }: Found, request: PolicyRequest): string {
  if (nearly !== undefined) {
    return `Rule "${nearly.rule.id}" would allow this, but does not because ${nearly.because}.`
  }
  if (isPersonal(request)) return "This question is for a person, and no rule that names it answers it."
  return "No rule covers this."
}

/** Tells people who write a policy what it can judge and what never reaches it. */
export interface PolicySees {
  readonly judged: string
  readonly notJudged: readonly string[]
}

export const POLICY_SEES: PolicySees = {
  judged:
    "Only what an agent asks about: a tool call for which Claude Code sends a permission request (can_use_tool), an elicitation, a dialog.",
  notJudged: [
    "Tools that Claude Code runs without asking: Read, Glob and Grep in the session's folder, and shell commands that only read, such as cat and ls. A deny rule does not keep a file from being read.",
    "Tools that Claude Code's own settings, allowedTools or an earlier 'always allow' on that machine permit.",
    "Edits in mode acceptEdits, and all tools in the modes auto and bypassPermissions.",
    "What a permitted program does: the files it opens and the programs it starts.",
  ],
}
