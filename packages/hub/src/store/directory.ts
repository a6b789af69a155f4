import type { AskState, AuditRecord, Grant, PolicyVersionEntry, SessionState } from "@signalbox/protocol/hub-api"
import type { TokenRecord } from "../model/access.ts"
import type { AskRecord } from "../model/ask.ts"
import type { NumberedCall, SeenCall } from "../model/seen-call.ts"
import type { DeliveryState, KeptSession, OutgoingMessage, SessionRecord } from "../model/session-record.ts"

export type NewAuditRecord = Omit<AuditRecord, "id">

/**
 * Everything durable that is not an event. Reads see what was committed. A write resolves when it is durable; writes
 * made in one tick are committed together, in the order they were made, with the events appended in that tick.
 */
export interface Directory {
  saveSession(session: KeptSession, options?: SaveOptions): Promise<void>
  getSession(id: string): Promise<KeptSession | undefined>
  /** A page of them, the pinned ones first, then the newest first. May have some that `q` does not match: rows of an older hub. */
  listSessions(filter: SessionFilter): Promise<readonly SessionRecord[]>
  /** How many sessions at least one of these finds, without their limits, and how many events those have. */
  countSessions(filters: readonly Omit<SessionFilter, "limit">[]): Promise<SessionCount>
  /** The newest session that has this key. */
  findSession(key: SessionKey): Promise<string | undefined>
  /** The sessions whose conversation went on in this one. */
  sessionsBefore(id: string): Promise<readonly string[]>
  /**
   * The sessions that a hub loads when it starts, oldest first: not at rest, or with asks, answers or messages on their way. Where hubs
   * share the store, none of another hub that is alive.
   */
  unfinishedSessions(): Promise<readonly string[]>

  /**
   * When it resolves the session is gone from every list, and asks, calls and audit records of it tell nothing of what was said. The
   * rest is deleted by `purgeSome`, if need be after a restart. The record is added in the same commit. False: there is no such session.
   */
  purgeSession(id: string, audit: NewAuditRecord): Promise<boolean>
  /** Deletes some of what is left of purged sessions. False: nothing is. */
  purgeSome(): Promise<boolean>

  /** Forward only: a mark before the one that is there changes nothing. */
  markRead(person: string, sessionId: string, seq: number): Promise<void>
  /** The last event that this person read, of those sessions that they read at all. */
  readMarks(person: string, sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>>

  /** Does nothing when the ask's id is there already. What it asked stays in its event. */
  addAsk(ask: AskRecord): Promise<void>
  /** Compare-and-set: changes the ask only while it is in `from`. `changed` tells whether this call did it. */
  settleAsk(id: string, from: AskState, settled: AskRecord, options?: SettleOptions): Promise<SettledAsk>
  /** How often each rule was used, by its id: in one session, or on one day in all of them. */
  ruleUses(filter: UsesFilter): Promise<ReadonlyMap<string, number>>
  /** It was on the wire. Whether the agent heard it is not known yet. */
  markAskDelivered(id: string, deliveredAt: string): Promise<void>
  /** The agent acted on its answer, or nobody is left to hear it: it is not unheard from now on. */
  endDelivery(id: string): Promise<void>
  getAsk(id: string): Promise<AskRecord | undefined>
  listAsks(filter: AskFilter): Promise<readonly AskRecord[]>

  /**
   * Judged again, as after a restart, it is the same call: the last verdict counts. The audit record is added in the same
   * commit, unless the call had this verdict already.
   */
  addSeenCall(call: SeenCall, audit?: NewAuditRecord): Promise<void>
  getSeenCall(sessionId: string, toolUseId: string): Promise<SeenCall | undefined>
  /** In the order in which they were seen. */
  listSeenCalls(filter: SeenFilter): Promise<readonly NumberedCall[]>

  addMessage(message: OutgoingMessage): Promise<void>
  setMessageState(sessionId: string, uuid: string, state: DeliveryState, incarnation: string | null): Promise<void>
  /** The session's messages that are waiting or sent, oldest first. */
  openMessages(sessionId: string): Promise<readonly OutgoingMessage[]>
  getMessage(sessionId: string, uuid: string): Promise<OutgoingMessage | undefined>

  addToken(token: TokenRecord): Promise<void>
  revokeToken(id: string, at: string): Promise<boolean>
  getToken(id: string): Promise<TokenRecord | undefined>
  findToken(hash: string): Promise<TokenRecord | undefined>
  /** The newest, oldest first; with `session`, those of its agent. */
  listTokens(filter: { session?: string; limit: number }): Promise<readonly TokenRecord[]>
  /** Those that can be used at this time; agents' are as many as sessions, and only those with these ids are among them. */
  usableTokens(at: string, agents?: readonly string[]): Promise<readonly TokenRecord[]>

  addGrant(grant: Grant): Promise<void>
  /** `session`: the grant's, if the hub that does it must have that session. */
  revokeGrant(id: string, at: string, by: string, session?: string): Promise<Grant | undefined>
  /** Those that hold; with `all`, those that were revoked too. */
  listGrants(filter: { id?: string; session?: string; all?: boolean }): Promise<readonly Grant[]>

  addAudit(record: NewAuditRecord, options?: WriteOptions): Promise<void>
  listAudit(filter: AuditFilter): Promise<readonly AuditRecord[]>

  /** Puts it in force, as the next version, with its audit record. Resolves with its number. */
  addPolicy(policy: unknown, about: NewPolicy, audit: (version: number) => NewAuditRecord): Promise<number>
  /** The version with this number, or the one in force. */
  getPolicy(version?: number): Promise<KeptPolicy | undefined>
  /** Newest first, without their rules. */
  listPolicies(filter: PolicyFilter): Promise<readonly PolicyRow[]>

  /** Small named documents: the settings, the hub's own identity. */
  getDocument(name: string): Promise<unknown>
  /** `session`: it is a document of this session's, which only the hub that has the session writes. */
  putDocument(name: string, value: unknown, options?: WriteOptions & { readonly session?: string }): Promise<void>
  /**
   * Puts what `change` makes of the document, with nobody else's change in between. Undefined: it stays as it is. `change` is called
   * again if another hub was faster. Resolves with the document as it is then.
   */
  changeDocument(name: string, change: (kept: unknown) => unknown, options?: WriteOptions): Promise<unknown>
}

/**
 * Synced: on disk in full before it resolves, and refused at once while the store is in trouble. Other writes wait until the
 * trouble is over. What people and programs are promised (messages, tokens, grants) is synced without being asked.
 */
export interface WriteOptions {
  readonly synced?: boolean
}

export interface SaveOptions extends WriteOptions {
  /** Nobody needs it now: a hub that starts leaves it in the store. */
  readonly isAtRest?: boolean
}

export interface SessionFilter {
  /** Only those after this one in the list. */
  readonly before?: ListPlace
  readonly state?: SessionState
  /** Words of its title, folder, last line, model or id, in any case. */
  readonly q?: string
  /** Only those in which nothing has happened since. */
  readonly quietSince?: string
  /** Only archived ones. */
  readonly archived?: boolean
  readonly limit: number
}

export interface SessionCount {
  readonly count: number
  readonly events: number
}

/** `lastAgentUuid` finds only sessions at rest whose agent dialled in and may come back. */
export interface SessionKey {
  readonly by: "requestKey" | "agentSessionId" | "lastAgentUuid"
  readonly key: string
}

export interface SettleOptions extends WriteOptions {
  /** Written with the change and only with it: no settled ask without its record, no record of an answer that lost. */
  readonly audit?: NewAuditRecord
  /** The rules that this uses up, in the same way. */
  readonly uses?: CountedUses
}

export interface CountedUses {
  readonly rules: readonly string[]
  /** As in 2030-01-31, in UTC. */
  readonly day: string
}

export type UsesFilter = { readonly session: string } | { readonly day: string }

export interface SettledAsk {
  readonly changed: boolean
  readonly ask: AskRecord
}

export interface AskFilter {
  readonly session?: string
  readonly state?: AskState
  /** Settled with an answer that the agent is not known to have acted on. */
  readonly unheard?: boolean
  /** Default and most: MAX_LISTED. The oldest come first, unless the newest are wanted. */
  readonly limit?: number
  readonly newestFirst?: boolean
}

export interface SeenFilter {
  readonly session?: string
  /** Not before this moment. */
  readonly since?: string
  /** The `number` of the last one that is known. */
  readonly after: number
  readonly limit: number
}

export interface AuditFilter {
  readonly session?: string
  readonly by?: string
  readonly rule?: string
  readonly tool?: string
  /** The machine that a record is about, or that its session is on. */
  readonly runner?: string
  readonly what?: string
  readonly since?: string
  /** Ids between which they stand, without them. */
  readonly after: number
  readonly before?: number
  readonly newestFirst?: boolean
  readonly limit: number
}

export type PolicyRow = PolicyVersionEntry
export type NewPolicy = Omit<PolicyRow, "version">

export interface KeptPolicy extends PolicyRow {
  readonly policy: unknown
}

export interface PolicyFilter {
  readonly before?: number
  readonly limit: number
}

export const MAX_LISTED = 10_000

export type ListPlace = Pick<SessionRecord, "pinned" | "createdAt" | "id">

/** The order of the list of sessions: pinned ones first, then the newest, and of two of one moment the one with the greater id. */
export function isListedBefore(one: ListPlace, other: ListPlace): boolean {
  if (one.pinned !== other.pinned) return one.pinned
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt
  return one.id > other.id
}
