import type { AskState, AuditRecord, Grant } from "@signalbox/protocol/hub-api"
import type { TokenRecord } from "../model/access.ts"
import type { AskRecord } from "../model/ask.ts"
import type { DeliveryState, KeptSession, OutgoingMessage } from "../model/session-record.ts"

export type NewAuditRecord = Omit<AuditRecord, "id">

/**
 * Everything durable that is not an event. Reads see what was committed. A write resolves when it is durable; writes
 * made in one tick are committed together, in the order they were made, with the events appended in that tick.
 */
export interface Directory {
  /** All at once, at start. */
  loadSessions(): Promise<readonly KeptSession[]>
  saveSession(session: KeptSession, options?: WriteOptions): Promise<void>

  /** Does nothing when the ask's id is there already. What it asked stays in its event. */
  addAsk(ask: AskRecord): Promise<void>
  /** Compare-and-set: changes the ask only while it is in `from`. `changed` tells whether this call did it. */
  settleAsk(id: string, from: AskState, settled: AskRecord, options?: SettleOptions): Promise<SettledAsk>
  markAskDelivered(id: string, deliveredAt: string): Promise<void>
  /** Its answer will reach nobody any more: it is not undelivered from now on. */
  giveUpAnswer(id: string): Promise<void>
  getAsk(id: string): Promise<AskRecord | undefined>
  listAsks(filter: AskFilter): Promise<readonly AskRecord[]>

  addMessage(message: OutgoingMessage): Promise<void>
  setMessageState(sessionId: string, uuid: string, state: DeliveryState, incarnation: string | null): Promise<void>
  /** The session's messages that are waiting or sent, oldest first. */
  openMessages(sessionId: string): Promise<readonly OutgoingMessage[]>
  getMessage(sessionId: string, uuid: string): Promise<OutgoingMessage | undefined>

  addToken(token: TokenRecord): Promise<void>
  revokeToken(id: string, at: string): Promise<boolean>
  listTokens(): Promise<readonly TokenRecord[]>

  addGrant(grant: Grant): Promise<void>
  revokeGrant(id: string, at: string, by: string): Promise<Grant | undefined>
  listGrants(filter: { session?: string; all?: boolean }): Promise<readonly Grant[]>

  addAudit(record: NewAuditRecord, options?: WriteOptions): Promise<void>
  listAudit(filter: { session?: string; after: number; limit: number }): Promise<readonly AuditRecord[]>

  /** Small named documents: the policy, the hub's own identity. */
  getDocument(name: string): Promise<unknown>
  putDocument(name: string, value: unknown, options?: WriteOptions): Promise<void>
}

/**
 * Synced: on disk in full before it resolves, and refused at once while the store is in trouble. Other writes wait until the
 * trouble is over. What people and programs are promised (messages, tokens, grants) is synced without being asked.
 */
export interface WriteOptions {
  readonly synced?: boolean
}

export interface SettleOptions extends WriteOptions {
  /** Written with the change and only with it: no settled ask without its record, no record of an answer that lost. */
  readonly audit?: NewAuditRecord
}

export interface SettledAsk {
  readonly changed: boolean
  readonly ask: AskRecord
}

export interface AskFilter {
  readonly session?: string
  readonly state?: AskState
  /** Settled with an answer that is not known to have been on the wire. */
  readonly undelivered?: boolean
  /** Default and most: MAX_LISTED. The oldest come first, unless the newest are wanted. */
  readonly limit?: number
  readonly newestFirst?: boolean
}

export const MAX_LISTED = 10_000
