import { defined } from "@signalbox/protocol"
import type { AskState, AuditRecord, Grant } from "@signalbox/protocol/hub-api"
import { HubError } from "../../errors.ts"
import type { TokenRecord } from "../../model/access.ts"
import type { AskRecord } from "../../model/ask.ts"
import type { NumberedCall, SeenCall } from "../../model/seen-call.ts"
import type { DeliveryState, KeptSession, OutgoingMessage, SessionRecord } from "../../model/session-record.ts"
import { documentJson } from "../directory/documents.ts"
import type { GrantFilter } from "../directory/grants.ts"
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
} from "../directory.ts"
import { AccessTables, toGrant } from "./directory/access.ts"
import { AskTable, settledBy } from "./directory/asks.ts"
import { AuditTable } from "./directory/audit.ts"
import { DocumentTables } from "./directory/documents.ts"
import { MessageTable } from "./directory/messages.ts"
import { PurgeTable } from "./directory/purges.ts"
import { SeenCallTable } from "./directory/seen-calls.ts"
import { SessionTable } from "./directory/sessions.ts"
import type { PostgresJournal } from "./postgres-journal.ts"
import type { Reader, Statement, Written } from "./statement.ts"

/** About what one write of the directory holds in memory while it waits, beside its text. */
const WRITE_BYTES = 1024
const PROMISED: WriteOptions = { synced: true }
/** Another hub was faster so often. */
const MAX_TRIES = 20

/** Each write is one statement, so that all of a tick are sent at once. Every commit is synced: `synced` only says who is refused in trouble. */
export class PostgresDirectory implements Directory {
  readonly #journal: PostgresJournal
  readonly #sessions: SessionTable
  readonly #purges: PurgeTable
  readonly #asks: AskTable
  readonly #seenCalls: SeenCallTable
  readonly #messages: MessageTable
  readonly #access: AccessTables
  readonly #audit: AuditTable
  readonly #documents: DocumentTables
  /** Replies to `initialize` that are in the database as they are here, and the session that they are with. */
  readonly #repliesKept = new WeakMap<object, string>()
  /** Changes of documents, by name: one after the other, so that only other hubs can be faster. */
  readonly #changing = new Map<string, Promise<unknown>>()

  constructor(journal: PostgresJournal, reader: Reader) {
    this.#journal = journal
    this.#sessions = new SessionTable(reader, journal.hub)
    this.#purges = new PurgeTable(reader)
    this.#asks = new AskTable(reader)
    this.#seenCalls = new SeenCallTable(reader)
    this.#messages = new MessageTable(reader)
    this.#access = new AccessTables(reader)
    this.#audit = new AuditTable(reader)
    this.#documents = new DocumentTables(reader)
  }

  async saveSession(session: KeptSession, options?: SaveOptions): Promise<void> {
    const isAtRest = options?.isAtRest === true
    const { record, own } = session
    const reply = own.initializeReply
    const isKept = reply !== null && this.#repliesKept.get(reply) === record.id
    if (isKept && (await this.#write(this.#sessions.saveChanges(session, isAtRest), options, record.id)).changed > 0)
      return
    await this.#write(this.#sessions.save(session, isAtRest), options, record.id)
    if (reply !== null) this.#repliesKept.set(reply, record.id)
  }

  getSession(id: string): Promise<KeptSession | undefined> {
    return this.#sessions.get(id)
  }

  listSessions(filter: SessionFilter): Promise<readonly SessionRecord[]> {
    return this.#sessions.list(filter)
  }

  countSessions(filters: readonly Omit<SessionFilter, "limit">[]): Promise<SessionCount> {
    return this.#sessions.count(filters)
  }

  findSession(key: SessionKey): Promise<string | undefined> {
    return this.#sessions.find(key)
  }

  sessionsBefore(id: string): Promise<readonly string[]> {
    return this.#sessions.before(id)
  }

  unfinishedSessions(): Promise<readonly string[]> {
    return this.#sessions.unfinished()
  }

  async purgeSession(id: string, audit: NewAuditRecord): Promise<boolean> {
    return (await this.#write(this.#purges.begin(id, audit), PROMISED, id)).changed > 0
  }

  async purgeSome(): Promise<boolean> {
    const step = await this.#purges.next()
    if (step === undefined) return false
    await this.#write(step, PROMISED)
    return true
  }

  async markRead(person: string, sessionId: string, seq: number): Promise<void> {
    await this.#write(this.#messages.markRead(person, sessionId, seq))
  }

  readMarks(person: string, sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#messages.readMarks(person, sessionIds)
  }

  async addAsk(ask: AskRecord): Promise<void> {
    await this.#write(this.#asks.add(ask), {}, ask.sessionId)
  }

  async settleAsk(id: string, from: AskState, settled: AskRecord, options: SettleOptions = {}): Promise<SettledAsk> {
    const { rows } = await this.#write(this.#asks.settle(id, from, settled, options), options, settled.sessionId)
    const reply = settledBy(rows[0], settled)
    if (reply === undefined) throw new HubError("ask/unknown", `There is no ask ${id}.`)
    return reply
  }

  ruleUses(filter: UsesFilter): Promise<ReadonlyMap<string, number>> {
    return this.#asks.uses(filter)
  }

  async markAskDelivered(id: string, deliveredAt: string): Promise<void> {
    await this.#write(this.#asks.markDelivered(id, deliveredAt, this.#journal.hub))
  }

  async endDelivery(id: string): Promise<void> {
    await this.#write(this.#asks.endDelivery(id, this.#journal.hub))
  }

  getAsk(id: string): Promise<AskRecord | undefined> {
    return this.#asks.get(id)
  }

  listAsks(filter: AskFilter): Promise<readonly AskRecord[]> {
    return this.#asks.list(filter)
  }

  async addSeenCall(call: SeenCall, audit?: NewAuditRecord): Promise<void> {
    await this.#write(this.#seenCalls.add(call, audit), {}, call.sessionId)
  }

  getSeenCall(sessionId: string, toolUseId: string): Promise<SeenCall | undefined> {
    return this.#seenCalls.get(sessionId, toolUseId)
  }

  listSeenCalls(filter: SeenFilter): Promise<readonly NumberedCall[]> {
    return this.#seenCalls.list(filter)
  }

  async addMessage(message: OutgoingMessage): Promise<void> {
    await this.#write(this.#messages.add(message), PROMISED, message.sessionId)
  }

  async setMessageState(
    sessionId: string,
    uuid: string,
    state: DeliveryState,
    incarnation: string | null,
  ): Promise<void> {
    await this.#write(this.#messages.change(sessionId, uuid, state, incarnation), {}, sessionId)
  }

  openMessages(sessionId: string): Promise<readonly OutgoingMessage[]> {
    return this.#messages.listOpen(sessionId)
  }

  getMessage(sessionId: string, uuid: string): Promise<OutgoingMessage | undefined> {
    return this.#messages.get(sessionId, uuid)
  }

  async addToken(token: TokenRecord): Promise<void> {
    await this.#write(this.#access.addToken(token), PROMISED)
  }

  async revokeToken(id: string, at: string): Promise<boolean> {
    return (await this.#write(this.#access.revokeToken(id, at), PROMISED)).changed > 0
  }

  getToken(id: string): Promise<TokenRecord | undefined> {
    return this.#access.token("id", id)
  }

  findToken(hash: string): Promise<TokenRecord | undefined> {
    return this.#access.token("hash", hash)
  }

  listTokens(filter: { session?: string; limit: number }): Promise<readonly TokenRecord[]> {
    return this.#access.tokens(filter)
  }

  usableTokens(at: string, agents: readonly string[] = []): Promise<readonly TokenRecord[]> {
    return this.#access.usableTokens(at, agents)
  }

  async addGrant(grant: Grant): Promise<void> {
    await this.#write(this.#access.addGrant(grant), PROMISED, grant.sessionId)
  }

  async revokeGrant(id: string, at: string, by: string, session?: string): Promise<Grant | undefined> {
    const { rows } = await this.#write(this.#access.revokeGrant(id, at, by), PROMISED, session)
    return rows[0] && toGrant(rows[0])
  }

  listGrants(filter: GrantFilter): Promise<readonly Grant[]> {
    return this.#access.grants(filter)
  }

  async addAudit(record: NewAuditRecord, options?: WriteOptions): Promise<void> {
    await this.#write(this.#audit.add(record), options)
  }

  listAudit(filter: AuditFilter): Promise<readonly AuditRecord[]> {
    return this.#audit.list(filter)
  }

  async addPolicy(policy: unknown, about: NewPolicy, audit: (version: number) => NewAuditRecord): Promise<number> {
    // As it is now, not as it may have become when it is written.
    const json = documentJson("policy", policy)
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const version = await this.#documents.nextVersion()
      const added = await this.#write(this.#documents.addPolicy(version, about, json, audit(version)), PROMISED)
      if (added.changed > 0) return version
    }
    throw new HubError("hub/busy", "Too many policies at once: try again in a moment.")
  }

  getPolicy(version?: number): Promise<KeptPolicy | undefined> {
    return this.#documents.policy(version)
  }

  listPolicies(filter: PolicyFilter): Promise<readonly PolicyRow[]> {
    return this.#documents.policies(filter)
  }

  async getDocument(name: string): Promise<unknown> {
    const json = await this.#documents.document(name)
    return json === undefined ? undefined : JSON.parse(json)
  }

  async putDocument(
    name: string,
    value: unknown,
    options: Parameters<Directory["putDocument"]>[2] = {},
  ): Promise<void> {
    await this.#write(this.#documents.putDocument(name, documentJson(name, value)), options, options.session)
  }

  changeDocument(name: string, change: (kept: unknown) => unknown, options?: WriteOptions): Promise<unknown> {
    const before = this.#changing.get(name) ?? Promise.resolve()
    const changed = before.then(() => this.#changeDocument(name, change, options))
    const over = changed.then(
      () => undefined,
      () => undefined,
    )
    this.#changing.set(name, over)
    void over.then(() => this.#changing.get(name) === over && this.#changing.delete(name))
    return changed
  }

  async #changeDocument(name: string, change: (kept: unknown) => unknown, options?: WriteOptions): Promise<unknown> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const json = await this.#documents.document(name)
      const kept: unknown = json === undefined ? undefined : JSON.parse(json)
      const changed = change(kept)
      if (changed === undefined) return kept
      const statement = this.#documents.changeDocument(name, json, documentJson(name, changed))
      if ((await this.#write(statement, options)).changed > 0) return changed
    }
    throw new HubError("hub/busy", "Too many changes at once: try again in a moment.")
  }

  /** `session`: only the hub that has it writes this. */
  #write(statement: Statement, options: WriteOptions = {}, session?: string): Promise<Written> {
    const bytes = statement.values.reduce<number>((sum, value) => sum + bytesOf(value), WRITE_BYTES)
    return this.#journal.write(statement, { bytes, refusable: options.synced === true, ...defined({ session }) })
  }
}

function bytesOf(value: Statement["values"][number]): number {
  return typeof value === "string" || Buffer.isBuffer(value) ? value.length : 0
}
