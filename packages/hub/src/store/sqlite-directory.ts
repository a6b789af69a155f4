import { setImmediate as nextTurn } from "node:timers/promises"
import type { AskState, AuditRecord, Grant } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { TokenRecord } from "../model/access.ts"
import type { AskRecord } from "../model/ask.ts"
import type { NumberedCall, SeenCall } from "../model/seen-call.ts"
import type { DeliveryState, KeptSession, OutgoingMessage, SessionRecord } from "../model/session-record.ts"
import type { Database } from "./database.ts"
import { AskTable } from "./directory/asks.ts"
import { AuditTable } from "./directory/audit.ts"
import { DocumentTable, documentJson } from "./directory/documents.ts"
import { type GrantFilter, GrantTable } from "./directory/grants.ts"
import { MessageTable } from "./directory/messages.ts"
import { PolicyTable } from "./directory/policies.ts"
import { PurgeTable } from "./directory/purges.ts"
import { ReadMarkTable } from "./directory/read-marks.ts"
import { RuleUseTable } from "./directory/rule-uses.ts"
import { SeenCallTable } from "./directory/seen-calls.ts"
import { SessionTable } from "./directory/sessions.ts"
import { TokenTable } from "./directory/tokens.ts"
import type {
  AskFilter,
  AuditFilter,
  Directory,
  KeptPolicy,
  NewAuditRecord,
  NewPolicy,
  PolicyFilter,
  PolicyRow,
  SaveOptions,
  SeenFilter,
  SessionCount,
  SessionFilter,
  SessionKey,
  SettledAsk,
  SettleOptions,
  UsesFilter,
  WriteOptions,
} from "./directory.ts"
import type { Journal } from "./journal.ts"

/** About what one write of the directory holds in memory while it waits. An ask's request is counted with its event. */
const WRITE_BYTES = 4096
const PROMISED: WriteOptions = { synced: true }

export class SqliteDirectory implements Directory {
  readonly #journal: Journal
  readonly #sessions: SessionTable
  readonly #purges: PurgeTable
  readonly #readMarks: ReadMarkTable
  readonly #asks: AskTable
  readonly #ruleUses: RuleUseTable
  readonly #seenCalls: SeenCallTable
  readonly #messages: MessageTable
  readonly #tokens: TokenTable
  readonly #grants: GrantTable
  readonly #audit: AuditTable
  readonly #policies: PolicyTable
  readonly #documents: DocumentTable

  constructor(database: Database, journal: Journal) {
    this.#journal = journal
    this.#sessions = new SessionTable(database)
    this.#purges = new PurgeTable(database)
    this.#readMarks = new ReadMarkTable(database)
    this.#asks = new AskTable(database)
    this.#ruleUses = new RuleUseTable(database)
    this.#seenCalls = new SeenCallTable(database)
    this.#messages = new MessageTable(database)
    this.#tokens = new TokenTable(database)
    this.#grants = new GrantTable(database)
    this.#audit = new AuditTable(database)
    this.#policies = new PolicyTable(database)
    this.#documents = new DocumentTable(database)
  }

  saveSession(session: KeptSession, options?: SaveOptions): Promise<void> {
    return this.#write(() => this.#sessions.save(session, options?.isAtRest === true), options)
  }

  async getSession(id: string): Promise<KeptSession | undefined> {
    return this.#sessions.get(id)
  }

  listSessions(filter: SessionFilter): Promise<readonly SessionRecord[]> {
    return this.#sessions.list(filter, () => nextTurn())
  }

  countSessions(filters: readonly Omit<SessionFilter, "limit">[]): Promise<SessionCount> {
    return this.#sessions.count(filters, () => nextTurn())
  }

  async findSession(key: SessionKey): Promise<string | undefined> {
    return this.#sessions.find(key)
  }

  async sessionsBefore(id: string): Promise<readonly string[]> {
    return this.#sessions.before(id)
  }

  async unfinishedSessions(): Promise<readonly string[]> {
    return this.#sessions.unfinished()
  }

  purgeSession(id: string, audit: NewAuditRecord): Promise<boolean> {
    return this.#write(() => {
      const isThere = this.#purges.begin(id)
      if (isThere) this.#audit.add(audit)
      return isThere
    }, PROMISED)
  }

  async purgeSome(): Promise<boolean> {
    if (!this.#purges.isAny) return false
    await this.#journal.write({ run: () => this.#purges.some(), refusable: true })
    return true
  }

  markRead(person: string, sessionId: string, seq: number): Promise<void> {
    return this.#write(() => this.#readMarks.mark(person, sessionId, seq))
  }

  async readMarks(person: string, sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#readMarks.of(person, sessionIds)
  }

  addAsk(ask: AskRecord): Promise<void> {
    return this.#write(() => this.#asks.add(ask))
  }

  async settleAsk(id: string, from: AskState, settled: AskRecord, options: SettleOptions = {}): Promise<SettledAsk> {
    const outcome = await this.#write(() => {
      const settling = this.#asks.settle(id, from, settled)
      if (settling?.changed !== true) return settling
      if (options.audit !== undefined) this.#audit.add(options.audit)
      if (options.uses !== undefined) this.#ruleUses.add(settled.sessionId, options.uses)
      return settling
    }, options)
    if (outcome === undefined) throw new HubError("ask/unknown", `There is no ask ${id}.`)
    return outcome
  }

  async ruleUses(filter: UsesFilter): Promise<ReadonlyMap<string, number>> {
    return this.#ruleUses.sum(filter)
  }

  markAskDelivered(id: string, deliveredAt: string): Promise<void> {
    return this.#write(() => this.#asks.markDelivered(id, deliveredAt))
  }

  endDelivery(id: string): Promise<void> {
    return this.#write(() => this.#asks.endDelivery(id))
  }

  async getAsk(id: string): Promise<AskRecord | undefined> {
    return this.#asks.get(id)
  }

  async listAsks(filter: AskFilter): Promise<readonly AskRecord[]> {
    return this.#asks.list(filter)
  }

  addSeenCall(call: SeenCall, audit?: NewAuditRecord): Promise<void> {
    return this.#write(() => {
      const isNews = audit !== undefined && this.#seenCalls.get(call.sessionId, call.toolUseId)?.effect !== call.effect
      this.#seenCalls.add(call)
      if (isNews) this.#audit.add(audit)
    })
  }

  async getSeenCall(sessionId: string, toolUseId: string): Promise<SeenCall | undefined> {
    return this.#seenCalls.get(sessionId, toolUseId)
  }

  async listSeenCalls(filter: SeenFilter): Promise<readonly NumberedCall[]> {
    return this.#seenCalls.list(filter)
  }

  addMessage(message: OutgoingMessage): Promise<void> {
    return this.#write(() => this.#messages.add(message), { ...PROMISED, bytes: message.line.length })
  }

  setMessageState(sessionId: string, uuid: string, state: DeliveryState, incarnation: string | null): Promise<void> {
    return this.#write(() => this.#messages.change(sessionId, uuid, { state, incarnation }))
  }

  async openMessages(sessionId: string): Promise<readonly OutgoingMessage[]> {
    return this.#messages.listOpen(sessionId)
  }

  async getMessage(sessionId: string, uuid: string): Promise<OutgoingMessage | undefined> {
    return this.#messages.get(sessionId, uuid)
  }

  addToken(token: TokenRecord): Promise<void> {
    return this.#write(() => this.#tokens.add(token), PROMISED)
  }

  revokeToken(id: string, at: string): Promise<boolean> {
    return this.#write(() => this.#tokens.revoke(id, at), PROMISED)
  }

  async getToken(id: string): Promise<TokenRecord | undefined> {
    return this.#tokens.get(id)
  }

  async findToken(hash: string): Promise<TokenRecord | undefined> {
    return this.#tokens.find(hash)
  }

  async listTokens(filter: { session?: string; limit: number }): Promise<readonly TokenRecord[]> {
    return this.#tokens.list(filter)
  }

  async usableTokens(at: string, agents: readonly string[] = []): Promise<readonly TokenRecord[]> {
    return this.#tokens.usable(at, agents)
  }

  addGrant(grant: Grant): Promise<void> {
    return this.#write(() => this.#grants.add(grant), PROMISED)
  }

  revokeGrant(id: string, at: string, by: string): Promise<Grant | undefined> {
    return this.#write(() => this.#grants.revoke(id, at, by), PROMISED)
  }

  async listGrants(filter: GrantFilter): Promise<readonly Grant[]> {
    return this.#grants.list(filter)
  }

  addAudit(record: NewAuditRecord, options?: WriteOptions): Promise<void> {
    return this.#write(() => this.#audit.add(record), options)
  }

  listAudit(filter: AuditFilter): Promise<readonly AuditRecord[]> {
    return this.#audit.list(filter, () => nextTurn())
  }

  async addPolicy(policy: unknown, about: NewPolicy, audit: (version: number) => NewAuditRecord): Promise<number> {
    const json = documentJson("policy", policy)
    const add = () => {
      const version = this.#policies.add(about, json)
      this.#audit.add(audit(version))
      return version
    }
    return this.#write(add, { ...PROMISED, bytes: json.length })
  }

  async getPolicy(version?: number): Promise<KeptPolicy | undefined> {
    return this.#policies.get(version)
  }

  async listPolicies(filter: PolicyFilter): Promise<readonly PolicyRow[]> {
    return this.#policies.list(filter)
  }

  async getDocument(name: string): Promise<unknown> {
    return this.#documents.get(name)
  }

  async putDocument(name: string, value: unknown, options?: WriteOptions): Promise<void> {
    // As it is now, not as it may have become when the transaction runs.
    const json = documentJson(name, value)
    await this.#write(() => this.#documents.put(name, json), options)
  }

  changeDocument(name: string, change: (kept: unknown) => unknown, options?: WriteOptions): Promise<unknown> {
    return this.#write(() => {
      const kept = this.#documents.get(name)
      const changed = change(kept)
      if (changed !== undefined) this.#documents.put(name, documentJson(name, changed))
      return changed ?? kept
    }, options)
  }

  #write<T>(run: () => T, options: WriteOptions & { readonly bytes?: number } = {}): Promise<T> {
    const synced = options.synced === true
    return this.#journal.write({ run, bytes: WRITE_BYTES + (options.bytes ?? 0), synced, refusable: synced })
  }
}
