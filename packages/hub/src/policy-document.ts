import type { Policy } from "@signalbox/policy"
import { isObject } from "@signalbox/protocol"
import type { Enforce, PolicyChanges } from "@signalbox/protocol/hub-api"
import { HubError } from "./errors.ts"

/** A policy, and how far it reaches. */
export interface InForce {
  readonly policy: Policy
  readonly enforce: Enforce
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
