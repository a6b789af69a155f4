import type {
  SearchQuery as ApiSearchQuery,
  AskState,
  AuditRecord,
  ControlCall,
  CreatedSession,
  EnvironmentReply,
  EventQuery,
  GrantRevoked,
  MessageReceipt,
  NewMessage,
  NewSession,
  OutlineMark,
  Runner,
  SearchReply,
  Session,
  SessionPage,
  SessionPatch,
  SessionQuery,
} from "@signalbox/protocol/hub-api"
import type { AskDesk } from "./asks/ask-desk.ts"
import type { Page } from "./asks/whole-ask.ts"
import type { Hubs } from "./cluster/hubs.ts"
import type { Caller } from "./model/access.ts"
import type { Ask } from "./model/ask.ts"
import type { StoredEvent } from "./model/event.ts"
import type { GrantDesk, PolicyDesk, SettingsDesk } from "./policy-desk.ts"
import type { PolicyTests } from "./policy-tests.ts"
import type { Retention } from "./retention.ts"
import type { RunnerFleet } from "./runners/runner-fleet.ts"
import type { RunDesk } from "./runs/run-desk.ts"
import type { AuditFilter } from "./store/directory.ts"

/**
 * The hub's acts, without how it is reached: the HTTP routes, the sockets and the tests all stand on this. Failures are
 * HubErrors. Who may do what was decided before a call gets here, but for what depends on the thing itself.
 */
export interface HubCore {
  createSession(request: NewSession, caller: Caller): Promise<CreatedSession>
  /** By the hub's clock: of several hubs on one store, by the clock that all of them have. */
  readonly now: string
  listSessions(query: SessionQuery): Promise<SessionPage>
  getSession(id: string): Promise<Session>
  patchSession(id: string, patch: SessionPatch, caller: Caller): Promise<Session>
  /** How far this person has read each of these sessions, as far as they have. */
  readMarks(ids: readonly string[], caller: Caller): Promise<Readonly<Record<string, number>>>
  /** Forward only, and not past the last event. Returns the mark as it is then. */
  markRead(id: string, seq: number, caller: Caller): Promise<number>
  /** Stops its agent, keeps its history. */
  endSession(id: string, caller: Caller): Promise<Session>

  sendMessage(id: string, message: NewMessage, caller: Caller): Promise<MessageReceipt>
  cancelMessage(id: string, uuid: string, caller: Caller): Promise<{ cancelled: boolean }>
  interrupt(id: string, caller: Caller): Promise<{ response: unknown }>
  control(id: string, request: ControlCall, caller: Caller): Promise<{ response: unknown }>
  setEnvironment(id: string, variables: Readonly<Record<string, string>>, caller: Caller): Promise<EnvironmentReply>

  readEvents(id: string, query: EventQuery): Promise<EventPage>
  outline(id: string): Promise<readonly OutlineMark[]>
  search(query: SearchQuery): Promise<SearchReply>

  listAsks(query: AskQuery): Promise<Page<Ask>>
  getAsk(id: string): Promise<Ask>
  /** `gone`: whether it no longer holds, or is only noted because the CLI cannot take it back. */
  revokeGrant(id: string, caller: Caller): Promise<GrantRevoked>
  listAudit(query: AuditFilter): Promise<Page<AuditRecord>>

  /** Removes the worktree that was made for it, never with uncommitted changes. */
  removeWorktree(id: string, caller: Caller): Promise<Session>

  changeRunner(id: string, change: { draining: boolean }, caller: Caller): Promise<Runner>
  /** One that is away. Its sessions stay. */
  forgetRunner(id: string, caller: Caller): Promise<Runner>

  /** The desks that need nothing else of the hub. */
  readonly asks: Pick<AskDesk, "answer" | "extend">
  readonly grants: Pick<GrantDesk, "list">
  readonly policy: Pick<PolicyDesk, "told" | "versions" | "version">
  readonly policyTests: Pick<PolicyTests, "test" | "explain" | "suggestions" | "put">
  readonly settings: Pick<SettingsDesk, "settings" | "put">
  readonly retention: Pick<Retention, "purge" | "prune" | "size">
  readonly runners: Pick<RunnerFleet, "list" | "request" | "shared">
  readonly hubs: Hubs
  readonly runs: Pick<RunDesk, "create" | "list" | "get" | "change" | "changeTask">
}

export interface AskQuery {
  readonly state?: AskState
  readonly session?: string
  readonly newestFirst?: boolean
  readonly limit?: number
}

export interface EventPage {
  /** The events, some at a time: each piece is read from the log when it is asked for. */
  readonly pieces: AsyncIterable<readonly StoredEvent[]>
  readonly largestPieceBytes: number
  readonly firstSeq: number
  readonly lastSeq: number
  readonly more: boolean
}

/** `fields` is the query's `in`. */
export interface SearchQuery extends Omit<ApiSearchQuery, "in"> {
  readonly fields?: NonNullable<ApiSearchQuery["in"]>
}
