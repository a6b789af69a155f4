import type { AskState, AuditRecord, Grant, Run } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { TokenRecord } from "../model/access.ts"
import type { AskRecord } from "../model/ask.ts"
import { purgedAsk, purgedAudit, purgedCall, purgedRun, runNamed, runOf } from "../model/purged.ts"
import type { NumberedCall, SeenCall } from "../model/seen-call.ts"
import type { DeliveryState, KeptSession, OutgoingMessage, SessionRecord } from "../model/session-record.ts"
import { isUnheard } from "../store/directory/asks.ts"
import type { GrantFilter } from "../store/directory/grants.ts"
import { wordsOf } from "../store/directory/sessions.ts"
import {
  type AskFilter,
  type AuditFilter,
  type Directory,
  isListedBefore,
  type KeptPolicy,
  MAX_LISTED,
  type NewAuditRecord,
  type NewPolicy,
  type PolicyFilter,
  type PolicyRow,
  type SaveOptions,
  type SeenFilter,
  type SessionCount,
  type SessionFilter,
  type SessionKey,
  type SettledAsk,
  type SettleOptions,
  type UsesFilter,
} from "../store/directory.ts"

/** Durable as long as the process: for tests. */
export class MemoryDirectory implements Directory {
  readonly #sessions = new Map<string, KeptSession & { readonly isAtRest: boolean }>()
  /** Sessions that were purged. */
  readonly #runners = new Map<string, string | null>()
  readonly #readMarks = new Map<string, number>()
  readonly #asks = new Map<string, AskRecord>()
  readonly #heard = new Set<string>()
  readonly #ruleUses: { readonly rule: string; readonly day: string; session: string }[] = []
  readonly #seenCalls = new Map<string, NumberedCall>()
  readonly #messages = new Map<string, OutgoingMessage>()
  readonly #tokens = new Map<string, TokenRecord>()
  readonly #grants = new Map<string, Grant>()
  readonly #audit: AuditRecord[] = []
  readonly #policies: KeptPolicy[] = []
  readonly #documents = new Map<string, string>()

  async saveSession({ record, own }: KeptSession, { isAtRest = false }: SaveOptions = {}): Promise<void> {
    this.#sessions.set(record.id, { record, own, isAtRest })
  }

  async getSession(id: string): Promise<KeptSession | undefined> {
    const kept = this.#sessions.get(id)
    return kept && { record: kept.record, own: kept.own }
  }

  async listSessions({ limit, ...filter }: SessionFilter): Promise<readonly SessionRecord[]> {
    return [...this.#sessions.values()]
      .map(({ record }) => record)
      .filter((record) => isFound(record, filter))
      .toSorted((one, other) => (isListedBefore(one, other) ? -1 : 1))
      .slice(0, limit)
  }

  async countSessions(filters: readonly Omit<SessionFilter, "limit">[]): Promise<SessionCount> {
    const found = [...this.#sessions.values()].filter(({ record }) => filters.some((filter) => isFound(record, filter)))
    return { count: found.length, events: found.reduce((sum, { record }) => sum + record.lastSeq, 0) }
  }

  async findSession({ by, key }: SessionKey): Promise<string | undefined> {
    const found = [...this.#sessions.values()].findLast(({ record, own, isAtRest }) => {
      if (by === "agentSessionId") return record.agentSessionId === key
      if (by === "requestKey") return own.requestKey === key
      return own.lastAgentUuid === key && isAtRest && record.state !== "ended" && own.launch === undefined
    })
    return found?.record.id
  }

  async sessionsBefore(id: string): Promise<readonly string[]> {
    return [...this.#sessions.values()].flatMap(({ record }) => (record.next === id ? [record.id] : []))
  }

  async unfinishedSessions(): Promise<readonly string[]> {
    const asked = new Set<string>()
    for (const ask of this.#asks.values()) {
      const isUnsent = isUnheard(ask) && ask.deliveredAt === undefined && !this.#heard.has(ask.id)
      if (ask.state === "pending" || isUnsent) asked.add(ask.sessionId)
    }
    const waiting = new Set([...this.#messages.values()].filter(isOpen).map(({ sessionId }) => sessionId))
    const isUnfinished = ({ record, isAtRest }: KeptSession & { isAtRest: boolean }) =>
      !isAtRest ||
      asked.has(record.id) ||
      (waiting.has(record.id) && (record.state !== "ended" || record.next !== undefined))
    return [...this.#sessions.values()].filter(isUnfinished).map(({ record }) => record.id)
  }

  async purgeSession(id: string, audit: NewAuditRecord): Promise<boolean> {
    const session = this.#sessions.get(id)
    if (session === undefined) return false
    this.#sessions.delete(id)
    this.#runners.set(id, session.record.runner)
    await this.#leaveRun(id)
    for (const key of this.#readMarks.keys()) if (JSON.parse(key)[0] === id) this.#readMarks.delete(key)
    for (const [key, { sessionId }] of this.#messages) if (sessionId === id) this.#messages.delete(key)
    for (const [key, { sessionId, where }] of this.#grants) {
      if (sessionId === id && (where === "hub" || where === "session")) this.#grants.delete(key)
    }
    for (const [key, { role, sessionId }] of this.#tokens) {
      if (sessionId === id && role === "agent") this.#tokens.delete(key)
    }
    for (const use of this.#ruleUses) if (use.session === id) use.session = ""
    for (const [key, ask] of this.#asks) if (ask.sessionId === id) this.#asks.set(key, purgedAsk(ask))
    for (const [key, call] of this.#seenCalls) if (call.sessionId === id) this.#seenCalls.set(key, purgedCall(call))
    for (const [index, record] of this.#audit.entries()) {
      if (record.sessionId === id) this.#audit[index] = purgedAudit(record)
    }
    this.#addAudit(purgedAudit(audit))
    return true
  }

  async #leaveRun(session: string): Promise<void> {
    const id = await this.getDocument(runOf(session))
    this.#documents.delete(runOf(session))
    const name = runNamed(String(id))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a document of ours: nobody else writes it
    const run = (await this.getDocument(name)) as Run | null | undefined
    if (run != null) await this.putDocument(name, purgedRun(run, session))
  }

  async purgeSome(): Promise<boolean> {
    return false
  }

  async markRead(person: string, sessionId: string, seq: number): Promise<void> {
    const key = JSON.stringify([sessionId, person])
    this.#readMarks.set(key, Math.max(seq, this.#readMarks.get(key) ?? 0))
  }

  async readMarks(person: string, sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const marks = sessionIds.map((id) => [id, this.#readMarks.get(JSON.stringify([id, person]))] as const)
    return new Map(marks.flatMap(([id, seq]) => (seq === undefined ? [] : [[id, seq] as const])))
  }

  async addAsk(ask: AskRecord): Promise<void> {
    if (!this.#asks.has(ask.id)) this.#asks.set(ask.id, ask)
  }

  async settleAsk(id: string, from: AskState, settled: AskRecord, options: SettleOptions = {}): Promise<SettledAsk> {
    const kept = this.#asks.get(id)
    if (kept === undefined) throw new HubError("ask/unknown", `There is no ask ${id}.`)
    if (kept.state !== from) return { changed: false, ask: kept }
    this.#asks.set(id, settled)
    if (options.audit !== undefined) this.#addAudit(options.audit)
    const { rules = [], day = "" } = options.uses ?? {}
    for (const rule of rules) this.#ruleUses.push({ rule, day, session: settled.sessionId })
    return { changed: true, ask: settled }
  }

  async ruleUses(filter: UsesFilter): Promise<ReadonlyMap<string, number>> {
    const used = this.#ruleUses.filter((use) =>
      "day" in filter ? use.day === filter.day : use.session === filter.session,
    )
    const sums = new Map<string, number>()
    for (const { rule } of used) sums.set(rule, (sums.get(rule) ?? 0) + 1)
    return sums
  }

  async markAskDelivered(id: string, deliveredAt: string): Promise<void> {
    const kept = this.#asks.get(id)
    if (kept !== undefined) this.#asks.set(id, { ...kept, deliveredAt })
  }

  async endDelivery(id: string): Promise<void> {
    this.#heard.add(id)
  }

  async getAsk(id: string): Promise<AskRecord | undefined> {
    return this.#asks.get(id)
  }

  async listAsks(filter: AskFilter): Promise<readonly AskRecord[]> {
    const { session, state, unheard, newestFirst, limit = MAX_LISTED } = filter
    const all = [...this.#asks.values()]
    return (newestFirst === true ? all.toReversed() : all)
      .filter((ask) => session === undefined || ask.sessionId === session)
      .filter((ask) => state === undefined || ask.state === state)
      .filter((ask) => unheard !== true || (isUnheard(ask) && !this.#heard.has(ask.id)))
      .slice(0, Math.min(limit, MAX_LISTED))
  }

  async addSeenCall(call: SeenCall, audit?: NewAuditRecord): Promise<void> {
    const place = placeIn(call.sessionId, call.toolUseId)
    if (audit !== undefined && this.#seenCalls.get(place)?.effect !== call.effect) this.#addAudit(audit)
    const { number, seq, at } = this.#seenCalls.get(place) ?? { ...call, number: this.#seenCalls.size + 1 }
    this.#seenCalls.set(place, { ...call, number, seq, at })
  }

  async getSeenCall(sessionId: string, toolUseId: string): Promise<SeenCall | undefined> {
    return this.#seenCalls.get(placeIn(sessionId, toolUseId))
  }

  async listSeenCalls({ session, since = "", after, limit }: SeenFilter): Promise<readonly NumberedCall[]> {
    return [...this.#seenCalls.values()]
      .filter(({ sessionId, at, number }) => (session ?? sessionId) === sessionId && at >= since && number > after)
      .slice(0, Math.max(0, Math.min(limit, MAX_LISTED)))
  }

  async addMessage(message: OutgoingMessage): Promise<void> {
    const place = placeIn(message.sessionId, message.uuid)
    const kept = this.#messages.get(place)
    if (kept === undefined) this.#messages.set(place, message)
    else if (kept.state === "cancelled") this.#messages.set(place, { ...kept, state: message.state })
  }

  async setMessageState(
    sessionId: string,
    uuid: string,
    state: DeliveryState,
    incarnation: string | null,
  ): Promise<void> {
    const place = placeIn(sessionId, uuid)
    const kept = this.#messages.get(place)
    if (kept !== undefined) this.#messages.set(place, { ...kept, state, incarnation })
  }

  async openMessages(sessionId: string): Promise<readonly OutgoingMessage[]> {
    return [...this.#messages.values()]
      .filter((message) => message.sessionId === sessionId && isOpen(message))
      .toSorted((one, other) => one.seq - other.seq)
      .slice(0, MAX_LISTED)
  }

  async getMessage(sessionId: string, uuid: string): Promise<OutgoingMessage | undefined> {
    return this.#messages.get(placeIn(sessionId, uuid))
  }

  async addToken(token: TokenRecord): Promise<void> {
    if (!this.#tokens.has(token.id)) this.#tokens.set(token.id, token)
  }

  async revokeToken(id: string, at: string): Promise<boolean> {
    const kept = this.#tokens.get(id)
    if (kept === undefined || kept.revokedAt !== null) return false
    this.#tokens.set(id, { ...kept, revokedAt: at })
    return true
  }

  async getToken(id: string): Promise<TokenRecord | undefined> {
    return this.#tokens.get(id)
  }

  async findToken(hash: string): Promise<TokenRecord | undefined> {
    return [...this.#tokens.values()].find((token) => token.hash === hash)
  }

  async listTokens({ session, limit }: { session?: string; limit: number }): Promise<readonly TokenRecord[]> {
    const listed = [...this.#tokens.values()].filter((token) => session === undefined || token.sessionId === session)
    return listed.slice(Math.max(0, listed.length - limit))
  }

  async usableTokens(at: string, agents: readonly string[] = []): Promise<readonly TokenRecord[]> {
    return [...this.#tokens.values()].filter(
      ({ id, role, revokedAt, expiresAt }) =>
        (role !== "agent" || agents.includes(id)) &&
        revokedAt === null &&
        (expiresAt === null || Date.parse(expiresAt) > Date.parse(at)),
    )
  }

  async addGrant(grant: Grant): Promise<void> {
    if (!this.#grants.has(grant.id)) this.#grants.set(grant.id, grant)
  }

  async revokeGrant(id: string, at: string, by: string): Promise<Grant | undefined> {
    const kept = this.#grants.get(id)
    if (kept === undefined || kept.revokedAt !== null) return kept
    const revoked = { ...kept, revokedAt: at, revokedBy: by }
    this.#grants.set(id, revoked)
    return revoked
  }

  async listGrants({ id, session, all }: GrantFilter): Promise<readonly Grant[]> {
    return [...this.#grants.values()]
      .filter((grant) => id === undefined || grant.id === id)
      .filter((grant) => session === undefined || grant.sessionId === session)
      .filter((grant) => all === true || grant.revokedAt === null)
      .slice(0, MAX_LISTED)
  }

  async addAudit(record: NewAuditRecord): Promise<void> {
    this.#addAudit(record)
  }

  async listAudit(filter: AuditFilter): Promise<readonly AuditRecord[]> {
    const { after, before = Number.POSITIVE_INFINITY, newestFirst, limit } = filter
    return (newestFirst === true ? this.#audit.toReversed() : this.#audit)
      .filter((record) => record.id > after && record.id < before && this.#isWanted(record, filter))
      .slice(0, Math.max(0, Math.min(limit, MAX_LISTED)))
  }

  #isWanted({ sessionId, by, what, at, details }: AuditRecord, filter: AuditFilter): boolean {
    const id = sessionId ?? ""
    const machine = this.#sessions.get(id)?.record.runner ?? this.#runners.get(id)
    const isOf = (wanted: string | undefined, ...values: unknown[]) => wanted === undefined || values.includes(wanted)
    return (
      isOf(filter.session, sessionId) &&
      isOf(filter.by?.toLowerCase(), by?.toLowerCase()) &&
      isOf(filter.what, what) &&
      isOf(filter.rule, details["rule"]) &&
      isOf(filter.tool, details["toolName"]) &&
      isOf(filter.runner, details["runner"], machine) &&
      (filter.since === undefined || at >= filter.since)
    )
  }

  async addPolicy(policy: unknown, about: NewPolicy, audit: (version: number) => NewAuditRecord): Promise<number> {
    const version = this.#policies.length + 1
    this.#policies.push(structuredClone({ ...about, version, policy }))
    this.#addAudit(audit(version))
    return version
  }

  async getPolicy(version = this.#policies.length): Promise<KeptPolicy | undefined> {
    return this.#policies[version - 1]
  }

  async listPolicies({ before = Number.POSITIVE_INFINITY, limit }: PolicyFilter): Promise<readonly PolicyRow[]> {
    return this.#policies
      .filter(({ version }) => version < before)
      .map(({ policy: _policy, ...row }) => row)
      .toReversed()
      .slice(0, limit)
  }

  async getDocument(name: string): Promise<unknown> {
    const json = this.#documents.get(name)
    return json === undefined ? undefined : JSON.parse(json)
  }

  async putDocument(name: string, value: unknown): Promise<void> {
    const json: string | undefined = JSON.stringify(value)
    if (json === undefined) throw new Error(`The document "${name}" cannot be kept: ${typeof value} is no JSON.`)
    this.#documents.set(name, json)
  }

  async changeDocument(name: string, change: (kept: unknown) => unknown): Promise<unknown> {
    const json = this.#documents.get(name)
    const kept: unknown = json === undefined ? undefined : JSON.parse(json)
    const changed = change(kept)
    if (changed !== undefined) this.#documents.set(name, JSON.stringify(changed))
    return changed ?? kept
  }

  #addAudit(record: NewAuditRecord): void {
    this.#audit.push({ ...record, id: this.#audit.length + 1 })
  }
}

function isOpen({ state }: OutgoingMessage): boolean {
  return state === "waiting" || state === "sent"
}

function isFound(record: SessionRecord, { before, state, q = "", quietSince, archived }: Omit<SessionFilter, "limit">) {
  return (
    (before === undefined || isListedBefore(before, record)) &&
    (state === undefined || record.state === state) &&
    wordsOf(record).includes(q.toLowerCase()) &&
    (quietSince === undefined || record.updatedAt < quietSince) &&
    (archived === undefined || record.archived === archived)
  )
}

function placeIn(sessionId: string, id: string): string {
  return JSON.stringify([sessionId, id])
}
