import { POLICY_SEES, type Policy, type PolicySees } from "@signalbox/policy"
import { isObject } from "@signalbox/protocol"
import type { Enforce, PolicyChanges } from "@signalbox/protocol/hub-api"
import { HubError } from "./errors.ts"

/** A policy, and how far it reaches. */
export interface InForce {
  readonly policy: Policy
  readonly enforce: Enforce
}

/** The limits of a policy that judges everything, for those who turn that on. */
const ENFORCED_SEES: PolicySees = {
  judged:
    "Every tool call, before it runs, of agents that are started on a runner with Claude Code 2.1.200 or newer, in every permission mode, sub-agents included. An elicitation or a dialog when the agent asks.",
  notJudged: [
    "Files that a message names with @: Claude Code reads them without a tool.",
    "Commands behind ! in slash commands and skills: Claude Code runs them without a tool.",
    "What a permitted program does: the files it opens and the programs it starts.",
    'Agents that were started before, and sessions that an admin started with enforce "asked".',
  ],
}

/** Tells what a policy that reaches so far can judge and what not. */
export function seenBy(enforce: Enforce): PolicySees {
  return enforce === "everything" ? ENFORCED_SEES : POLICY_SEES
}

/** As it is kept and told. */
export function written({ policy, enforce }: InForce): Policy & { readonly enforce: Enforce } {
  return { ...policy, enforce }
}

/** The rules as they were written: somebody may read a policy, change it and put it back with all that `told` gave. */
export function writtenPolicy(value: unknown): unknown {
  const { sees: _told, version: _number, enforce: _enforce, ...rules } = isObject(value) ? value : {}
  return isObject(value) ? rules : value
}

/** The policy and how far it reaches, or `policy/invalid`. */
export async function readPolicy(value: unknown): Promise<InForce> {
  const parsed = await parsePolicyDocument(value)
  if (!("problems" in parsed)) return parsed
  const { problems } = parsed
  throw new HubError("policy/invalid", problems.join("; "), { details: { problems } })
}

/** The schemas take longer to load than a hub without a policy takes to start. */
export async function parsePolicyDocument(
  value: unknown,
  how: { readonly isKept?: boolean } = {},
): Promise<InForce | { readonly problems: readonly string[] }> {
  const { parsePolicy } = await import("@signalbox/policy/schemas")
  const parsed = parsePolicy(writtenPolicy(value), how)
  const { enforce = "asked" } = isObject(value) ? value : {}
  const isKnown = enforce === "asked" || enforce === "everything"
  const wrong = isKnown ? [] : ['enforce: expected "asked" or "everything"']
  if (parsed.ok && isKnown) return { policy: parsed.policy, enforce }
  return { problems: [...(parsed.ok ? [] : parsed.problems), ...wrong] }
}

/** Rules by their ids, and the other fields. */
export function policyChanges(before: Policy, after: Policy): PolicyChanges {
  const textsOf = ({ rules }: Policy) => new Map(rules.map((rule) => [rule.id, JSON.stringify(rule)]))
  const [old, now] = [textsOf(before), textsOf(after)]
  const ids = [...now.keys()]
  const settingsOf = ({ rules: _rules, ...settings }: Policy) => new Map(Object.entries<unknown>(settings))
  const [oldSettings, settings] = [settingsOf(before), settingsOf(after)]
  return {
    added: ids.filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !now.has(id)),
    changed: ids.filter((id) => old.has(id) && old.get(id) !== now.get(id)),
    settings: [...settings.keys()].filter((name) => settings.get(name) !== oldSettings.get(name)),
  }
}
