import {
  evaluate,
  type ParsedPolicy,
  POLICY_SEES,
  type Policy,
  type PolicySees,
  policyRequestOf,
  prepare,
  type Rule,
} from "@signalbox/policy"
import { isObject } from "@signalbox/protocol"
import type { AskVerdict } from "./asks/answer.ts"
import { HubError } from "./errors.ts"
import type { Ask } from "./model/ask.ts"
import type { SessionRecord } from "./model/session-record.ts"
import type { Directory } from "./store/directory.ts"

const DOCUMENT = "policy"
const EMPTY: Policy = { rules: [], relayAutoApproval: false }

/** The rules in force: the policy that an admin put, and the grants of the session that asks. */
export class PolicyDesk {
  readonly #directory: Directory
  readonly #watchers = new Set<() => void>()
  #policy: Policy = EMPTY

  constructor(directory: Directory) {
    this.#directory = directory
  }

  async load(): Promise<void> {
    const kept = await this.#directory.getDocument(DOCUMENT)
    if (kept === undefined || kept === null) return
    const parsed = await parse(kept)
    if (!parsed.ok) throw new Error(`the policy in the store cannot be read: ${parsed.problems.join("; ")}`)
    this.#use(parsed.policy)
  }

  get policy(): Policy {
    return this.#policy
  }

  /** With what it can judge and what not, so that nobody expects more of a rule than it does. */
  get told(): Policy & { readonly sees: PolicySees } {
    return { ...this.#policy, sees: POLICY_SEES }
  }

  /** Takes what `told` gave, too: somebody may read a policy, change it and put it back. */
  async put(value: unknown, by: string, at = new Date().toISOString()): Promise<void> {
    const { sees: _told, ...written } = isObject(value) ? value : {}
    const parsed = await parse(isObject(value) ? written : value)
    if (!parsed.ok) {
      throw new HubError("policy/invalid", parsed.problems.join("; "), { details: { problems: parsed.problems } })
    }
    const audit = { at, what: "policy/changed", by, via: "person", sessionId: null, askId: null }
    await Promise.all([
      this.#directory.putDocument(DOCUMENT, parsed.policy, { synced: true }),
      this.#directory.addAudit({ ...audit, details: { before: this.#policy, after: parsed.policy } }),
    ])
    this.#use(parsed.policy)
    for (const changed of this.#watchers) changed()
  }

  #use(policy: Policy): void {
    prepare(policy.rules)
    this.#policy = policy
  }

  /** Called at each change, until what this returns is. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed)
    return () => void this.#watchers.delete(changed)
  }

  judge(ask: Ask, session: SessionRecord, grants: readonly Rule[]): AskVerdict {
    const request = policyRequestOf(ask.request)
    if (request === undefined) return { effect: "ask", reason: "This is no question that rules know." }
    const policy = { ...this.#policy, rules: [...this.#policy.rules, ...grants] }
    return evaluate(policy, request, {
      session: session.id,
      ...(session.cwd === null ? {} : { cwd: session.cwd }),
      ...(session.permissionMode === null ? {} : { mode: session.permissionMode }),
    })
  }
}

/** The schemas take longer to load than a hub without a policy takes to start. */
async function parse(value: unknown): Promise<ParsedPolicy> {
  const { parsePolicy } = await import("@signalbox/policy/schemas")
  return parsePolicy(value)
}
