import { randomUUID } from "node:crypto"
import {
  type CallContext,
  evaluate,
  judgeCall,
  type Policy,
  type PolicyRequest,
  type PolicySees,
  policyRequestOf,
  prepare,
  type Rule,
  type RuleUse,
  SEES,
} from "@signalbox/policy"
import { defined, isObject } from "@signalbox/protocol"
import {
  type BacktestDifference,
  type Enforce,
  type Grant,
  type HubSettings,
  type PolicyVersion,
  type Retention,
  spanMs,
} from "@signalbox/protocol/hub-api"
import type { AskVerdict } from "./asks/answer.ts"
import { HubError, unknown } from "./errors.ts"
import type { Ask, AskAnswer, AskRecord } from "./model/ask.ts"
import type { SessionRecord } from "./model/session-record.ts"
import { type InForce, parsePolicyDocument, policyChanges, written } from "./policy-document.ts"
import type { CountedUses, Directory } from "./store/directory.ts"

const EMPTY: Policy = { rules: [], relayAutoApproval: false }

/** A session's own share in a verdict: its grants, and how often it used rules. */
interface JudgedWith {
  readonly grants: readonly Rule[]
  readonly used: CallContext["used"]
}

export interface PutHow {
  readonly by: string
  /** The version that it takes the place of, and no other. */
  readonly version?: number
}

/** The rules in force: the policy that an admin put, and the grants of the session that asks. */
export class PolicyDesk {
  readonly #directory: Directory
  readonly #watchers = new Set<() => void>()
  #inForce: InForce = { policy: EMPTY, enforce: "asked" }
  /** Its number; 0 before the first. */
  #version = 0
  /** Settles when the last change has: each is told what it changed of the one before. */
  #changed: Promise<unknown> = Promise.resolve()

  constructor(directory: Directory) {
    this.#directory = directory
  }

  async load(): Promise<void> {
    const kept = await this.#directory.getPolicy()
    if (kept === undefined) return
    const parsed = await parsePolicyDocument(kept.policy, { isKept: true })
    if ("problems" in parsed) throw new Error(`the policy in the store cannot be read: ${parsed.problems.join("; ")}`)
    this.#use(parsed, kept.version)
  }

  /** Another hub may have put one. */
  async refresh(): Promise<void> {
    const [newest] = await this.#directory.listPolicies({ limit: 1 })
    if (newest === undefined || newest.version <= this.#version) return
    await this.load()
    for (const changed of this.#watchers) changed()
  }

  get policy(): Policy {
    return this.#inForce.policy
  }

  /** How agents that start now are judged, unless their launch says otherwise. */
  get enforce(): Enforce {
    return this.#inForce.enforce
  }

  /** With what it can judge and what not, so that nobody expects more of a rule than it does. */
  get told(): Policy & { readonly enforce: Enforce; readonly version: number; readonly sees: PolicySees } {
    return { ...written(this.#inForce), version: this.#version, sees: SEES[this.enforce] }
  }

  /** Puts it in force, as a version of its own. Who forced it against answers of people is in the audit, with examples. */
  put(policy: InForce, how: PutHow & { readonly forced?: BacktestDifference | undefined }): Promise<void> {
    const putting = this.#changed.then(() => this.#put(policy, how))
    this.#changed = putting.catch(() => undefined)
    return putting
  }

  async #put(
    next: InForce,
    { by, version: replaced = this.#version, forced }: Parameters<PolicyDesk["put"]>[1],
  ): Promise<void> {
    if (replaced !== this.#version) throw changedMeanwhile(this.#version, replaced)
    const at = new Date().toISOString()
    const changes = policyChanges(written(this.#inForce), written(next))
    const about = {
      at,
      by,
      rules: next.policy.rules.length,
      changes,
      ...(forced === undefined ? {} : { forced: forced.count }),
    }
    const number = await this.#directory.addPolicy(written(next), about, (version) => ({
      at,
      what: "policy/changed",
      by,
      via: "person",
      sessionId: null,
      askId: null,
      details: { version, changes, ...(forced === undefined ? {} : { forced }) },
    }))
    this.#use(next, number)
    for (const changed of this.#watchers) changed()
  }

  async versions(query: { before?: number; limit: number }) {
    const versions = await this.#directory.listPolicies({ ...query, limit: query.limit + 1 })
    return { versions: versions.slice(0, query.limit), more: versions.length > query.limit }
  }

  async version(number: number): Promise<PolicyVersion> {
    const kept = await this.#directory.getPolicy(number)
    if (kept === undefined) throw new HubError("policy/unknown-version", `no version ${number} of the policy is kept`)
    return { ...kept, policy: isObject(kept.policy) ? kept.policy : {} }
  }

  #use(inForce: InForce, version: number): void {
    prepare(inForce.policy.rules)
    this.#inForce = inForce
    this.#version = version
  }

  /** Called at each change, until what this returns is. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed)
    return () => void this.#watchers.delete(changed)
  }

  judge(ask: Ask, session: SessionRecord, { grants, used }: JudgedWith): AskVerdict {
    const request = policyRequestOf(ask.request)
    if (request === undefined) return { effect: "ask", reason: "This is no question that rules know." }
    const policy = { ...this.policy, rules: [...this.policy.rules, ...grants], numbered: this.policy.rules }
    const judgedIn = {
      ...(session.cwd === null ? {} : { cwd: session.cwd }),
      ...(session.permissionMode === null ? {} : { mode: session.permissionMode }),
      // An agent that dialled in by itself is on no runner, which is known.
      runner: session.runner ?? "",
      ...defined({ branch: session.branch }),
    }
    const context = { session: session.id, now: Date.now(), used, ...judgedIn }
    const { why, ...verdict } = evaluate(policy, request, context)
    return { ...verdict, judgedIn, ...(policy.rules.length === 0 ? {} : { why }) }
  }

  /** A tool call before it runs. */
  judgeCall(call: PolicyRequest, context: CallContext): AskVerdict {
    return judgeCall(this.policy, call, context)
  }
}

function changedMeanwhile(version: number, replaced: number): HubError {
  const message = `The policy was changed meanwhile: version ${version} is in force, not ${replaced}. Read it again and make your change there`
  return new HubError("policy/changed", message, { details: { version } })
}

/**
 * Counts the uses of rules with `atMost`, today and in each session that is in memory. A use counts when it is
 * decided on, so that two requests at once never share the last one; the store has it with the answer it stands for.
 */
export class RuleUses {
  readonly #directory: Pick<Directory, "ruleUses">
  readonly #now: () => Date
  readonly #sessions = new Map<string, Map<string, number>>()
  #today: { readonly day: string; readonly uses: Map<string, number> } = { day: "", uses: new Map() }

  constructor(directory: Pick<Directory, "ruleUses">, now = () => new Date()) {
    this.#directory = directory
    this.#now = now
  }

  async load(): Promise<void> {
    const day = this.#day
    this.#today = { day, uses: new Map(await this.#directory.ruleUses({ day })) }
  }

  /** Other hubs use rules too. What is used here and not in the store yet still counts. */
  async refresh(): Promise<void> {
    const day = this.#day
    const stored = await this.#directory.ruleUses({ day })
    if (this.#today.day !== day) return
    for (const [rule, count] of stored) this.#today.uses.set(rule, Math.max(count, this.#today.uses.get(rule) ?? 0))
  }

  async restore(session: string): Promise<void> {
    const uses = await this.#directory.ruleUses({ session })
    if (uses.size > 0) this.#sessions.set(session, new Map(uses))
  }

  /** Nobody asks for this session: its uses are in the store. */
  letGo(session: string): void {
    this.#sessions.delete(session)
  }

  /** In UTC. */
  get #day(): string {
    return this.#now().toISOString().slice(0, 10)
  }

  of(session: string, here = this.#sessions.get(session)): Readonly<Record<string, RuleUse>> {
    const today = this.#usesToday()
    const rules = new Set([...(here?.keys() ?? []), ...today.keys()])
    return Object.fromEntries(
      [...rules].map((rule) => [rule, { session: here?.get(rule) ?? 0, day: today.get(rule) ?? 0 }]),
    )
  }

  /** Also of a session that is not in memory. */
  async read(session: string): Promise<Readonly<Record<string, RuleUse>>> {
    return this.of(session, this.#sessions.get(session) ?? new Map(await this.#directory.ruleUses({ session })))
  }

  /** Returns what the store is to keep. */
  add(session: string, rules: readonly string[]): CountedUses | undefined {
    if (rules.length === 0) return undefined
    const day = this.#day
    const here = this.#sessions.get(session) ?? new Map<string, number>()
    this.#sessions.set(session, here)
    for (const uses of [here, this.#usesToday()]) for (const rule of rules) uses.set(rule, (uses.get(rule) ?? 0) + 1)
    return { rules, day }
  }

  #usesToday(): Map<string, number> {
    const day = this.#day
    // A clock that is set back does not give a day's uses back.
    if (this.#today.day < day) this.#today = { day, uses: new Map() }
    return this.#today.uses
  }
}

export interface GrantDeskOptions<Rule> {
  readonly directory: Directory
  /** A standing permission as rules of the hub's own, or undefined when only the CLI can keep it. */
  readonly toRules: (grant: Grant) => readonly Rule[] | undefined
  /** The machine whose settings files a session's agent writes. */
  readonly machineOf: (sessionId: string) => string | null
}

/**
 * "Always allow". For this session it becomes rules of the hub, answered by the hub and so truly revocable; the CLI is not
 * told. Every other destination is passed on to the CLI and listed here, so that somebody can find it.
 */
export class GrantDesk<Rule = unknown> {
  readonly #options: GrantDeskOptions<Rule>
  /** By session, and there by grant. */
  readonly #rules = new Map<string, Map<string, readonly Rule[]>>()

  constructor(options: GrantDeskOptions<Rule>) {
    this.#options = options
  }

  async restore(session: string): Promise<void> {
    for (const grant of await this.#options.directory.listGrants({ session })) this.#hold(grant)
  }

  /** Nobody asks for this session: its grants are in the store. */
  letGo(session: string): void {
    this.#rules.delete(session)
  }

  rulesOf(sessionId: string): readonly Rule[] {
    return [...(this.#rules.get(sessionId)?.values() ?? [])].flat()
  }

  /** Splits an answer into what the CLI is told and the grants that come of it. Nothing is kept before `keep`. */
  take(ask: AskRecord, answer: AskAnswer, by: string): { answer: AskAnswer; grants: readonly Grant[] } {
    if (!("behavior" in answer) || answer.behavior !== "allow" || answer.updatedPermissions === undefined) {
      return { answer, grants: [] }
    }
    const grants = answer.updatedPermissions.filter(isObject).map((update) => this.#grantOf(ask, update, by))
    const passedOn = grants.filter((grant) => grant.where !== "hub").map((grant) => grant.update)
    const { updatedPermissions: _all, ...rest } = answer
    return { answer: passedOn.length === 0 ? rest : { ...rest, updatedPermissions: passedOn }, grants }
  }

  async keep(grants: readonly Grant[]): Promise<void> {
    const { directory } = this.#options
    for (const grant of grants) {
      this.#hold(grant)
      const { grantedAt: at, grantedBy: by, sessionId, askId, where, machine, update } = grant
      const details = { grant: grant.id, where, machine, update }
      const audit = { at, what: "grant/given", by, via: "person", sessionId, askId, details }
      await Promise.all([directory.addGrant(grant), directory.addAudit(audit, { synced: true })])
    }
  }

  list(filter: { session?: string }): Promise<readonly Grant[]> {
    return this.#options.directory.listGrants(filter)
  }

  /** `gone` is false when it is only noted: the CLI keeps it and cannot take it back through us. */
  async revoke(id: string, by: string, session?: string): Promise<{ grant: Grant; gone: boolean }> {
    const grant = await this.#options.directory.revokeGrant(id, new Date().toISOString(), by, session)
    if (grant === undefined) throw unknown("grant", id)
    this.#rules.get(grant.sessionId)?.delete(id)
    return { grant, gone: grant.where === "hub" }
  }

  #grantOf(ask: AskRecord, update: Readonly<Record<string, unknown>>, by: string): Grant {
    const destination = update["destination"]
    const grant: Grant = {
      id: randomUUID(),
      sessionId: ask.sessionId,
      askId: ask.id,
      grantedBy: by,
      grantedAt: new Date().toISOString(),
      where: isDestination(destination) ? destination : "session",
      machine: this.#options.machineOf(ask.sessionId),
      update,
      revokedAt: null,
      revokedBy: null,
    }
    const own = grant.where === "session" && this.#options.toRules(grant) !== undefined
    return own ? { ...grant, where: "hub" } : grant
  }

  #hold(grant: Grant): void {
    if (grant.where !== "hub" || grant.revokedAt !== null) return
    const rules = this.#options.toRules(grant)
    if (rules === undefined) return
    const own = this.#rules.get(grant.sessionId) ?? new Map<string, readonly Rule[]>()
    this.#rules.set(grant.sessionId, own.set(grant.id, rules))
  }
}

const DESTINATIONS = ["userSettings", "projectSettings", "localSettings", "session", "cliArg"] as const

function isDestination(value: unknown): value is (typeof DESTINATIONS)[number] {
  return DESTINATIONS.some((known) => known === value)
}

export const DEFAULT_SETTINGS: HubSettings = { operatorsMayUseAuto: false, retention: null }

/** The settings in force. A field that is missing has its default. */
export class SettingsDesk {
  readonly #directory: Documents
  #settings = DEFAULT_SETTINGS

  constructor(directory: Documents) {
    this.#directory = directory
  }

  async load(): Promise<void> {
    const kept = await this.#directory.getDocument("settings")
    if (!isObject(kept)) return
    const { operatorsMayUseAuto, retention } = kept
    this.#settings = {
      operatorsMayUseAuto: operatorsMayUseAuto === true,
      retention: isRetention(retention) ? retention : null,
    }
  }

  get settings(): HubSettings {
    return this.#settings
  }

  async put(given: Partial<HubSettings>, by: string): Promise<HubSettings> {
    const settings = { ...DEFAULT_SETTINGS, ...given }
    const audit = {
      at: new Date().toISOString(),
      what: "settings/changed",
      by,
      via: "person",
      sessionId: null,
      askId: null,
    }
    await Promise.all([
      this.#directory.putDocument("settings", settings, { synced: true }),
      this.#directory.addAudit({ ...audit, details: { before: this.#settings, after: settings } }),
    ])
    this.#settings = settings
    return settings
  }
}

/** Anything else purges nothing. */
function isRetention(value: unknown): value is Retention {
  return isObject(value) && typeof value["olderThan"] === "string" && spanMs(value["olderThan"]) !== undefined
}

type Documents = Pick<Directory, "getDocument" | "putDocument" | "addAudit">
