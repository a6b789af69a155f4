import type { LaunchOptions } from "@signalbox/protocol/launch-options"
import type { Caller } from "./model/access.ts"
import type { Ask, AskAnswer, AskState } from "./model/ask.ts"
import type { AuditRecord, Grant } from "./model/audit.ts"
import type { StoredEvent } from "./model/event.ts"
import type { HubSettings } from "./model/hub-settings.ts"
import type { NewRun, Run, RunPatch, TaskPatch } from "./model/run.ts"
import type { SessionPhase, SessionRecord } from "./model/session-record.ts"

/**
 * What the hub does, without how it is reached: the HTTP routes, the sockets and the tests all stand on this. Failures are
 * HubErrors. Who may do what was decided before a call gets here, but for what depends on the thing itself.
 */
export interface HubCore {
  createSession(request: NewSession, caller: Caller): Promise<CreatedSession>
  listSessions(query: SessionQuery): Promise<{ sessions: readonly SessionView[]; cursor: string | null }>
  getSession(id: string): SessionView
  patchSession(id: string, patch: { title?: string; archived?: boolean }, caller: Caller): Promise<SessionView>
  /** Stops its agent, keeps its history. */
  endSession(id: string, caller: Caller): Promise<SessionView>

  sendMessage(id: string, message: NewMessage, caller: Caller): Promise<{ uuid: string; seq: number }>
  cancelMessage(id: string, uuid: string, caller: Caller): Promise<{ cancelled: boolean }>
  interrupt(id: string, caller: Caller): Promise<{ response: unknown }>
  control(id: string, request: ControlCall, caller: Caller): Promise<{ response: unknown }>
  setEnvironment(id: string, variables: Readonly<Record<string, string>>, caller: Caller): Promise<EnvironmentReply>

  readEvents(id: string, query: EventQuery): Promise<EventPage>
  outline(id: string): Promise<readonly OutlineMark[]>
  search(query: SearchQuery): Promise<SearchReply>

  listAsks(query: AskQuery): Promise<Page<Ask>>
  getAsk(id: string): Promise<Ask>
  answerAsk(id: string, answer: AskAnswer, how: AnswerOptions): Promise<Ask>
  /** `expiresAt` as its caller saw it. */
  extendAsk(id: string, how: { caller: Caller; expiresAt?: string }): Promise<Ask>

  getSettings(): HubSettings
  putSettings(settings: Partial<HubSettings>, caller: Caller): Promise<HubSettings>
  getPolicy(): unknown
  putPolicy(policy: unknown, caller: Caller): Promise<unknown>
  listGrants(query: { session?: string }): Promise<readonly Grant[]>
  /** `gone`: whether it no longer holds, or is only noted because the CLI cannot take it back. */
  revokeGrant(id: string, caller: Caller): Promise<{ grant: Grant; gone: boolean }>
  listAudit(query: { session?: string; after: number; limit: number }): Promise<Page<AuditRecord>>

  /** Removes the worktree that was made for it, never with uncommitted changes. */
  removeWorktree(id: string, caller: Caller): Promise<SessionView>

  listRunners(): readonly RunnerView[]
  changeRunner(id: string, change: { draining: boolean }, caller: Caller): Promise<RunnerView>
  /** One that is away. Its sessions stay. */
  forgetRunner(id: string, caller: Caller): Promise<RunnerView>
  runnerFolders(id: string, path: string | undefined): Promise<unknown>
  runnerSessions(id: string, cwd: string | undefined): Promise<unknown>
  runnerLog(id: string, lines: number): Promise<unknown>

  createRun(run: NewRun, caller: Caller): Promise<Run>
  changeRun(id: string, patch: RunPatch): Promise<Run>
  /** Tasks are counted from 1. */
  changeRunTask(id: string, task: number, patch: TaskPatch): Promise<Run>
  listRuns(limit: number): Promise<{ runs: readonly Run[]; more: boolean }>
  getRun(id: string): Promise<Run>
}

export interface SessionView extends SessionRecord {
  readonly pendingAsks: number
  readonly viewers: number
}

export interface NewSession extends LaunchOptions {
  readonly agent?: "claude" | "simulator" | "external" | { readonly command: readonly string[] }
  readonly cwd?: string
  readonly prompt?: string
  readonly model?: string
  readonly permissionMode?: string
  readonly resume?: string
  /** Go on with the most recent conversation that was recorded in the folder. */
  readonly continue?: boolean
  readonly fork?: boolean
  /** The `uuid` of the agent's message that a fork begins after. */
  readonly resumeAt?: string
  readonly title?: string
  readonly runner?: string
  readonly hooks?: readonly string[]
  readonly worktree?: boolean | { readonly branch?: string }
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly requestKey?: string
}

/** `ingress` is there for an agent that is started by hand, and only in the reply that made the session. */
export type CreatedSession = SessionView & { readonly ingress?: Ingress }

export interface Ingress {
  readonly url: string
  readonly token: string
  readonly command: string
  readonly note?: string
}

export interface AskQuery {
  readonly state?: AskState
  readonly session?: string
  readonly newestFirst?: boolean
  readonly limit?: number
}

export interface SessionQuery {
  readonly limit: number
  readonly cursor?: string
  readonly state?: SessionPhase
  readonly q?: string
}

export interface NewMessage {
  readonly content: string | readonly unknown[]
  readonly uuid?: string
  readonly priority?: "now" | "next" | "later"
}

export interface ControlCall {
  readonly request: { readonly subtype: string; readonly [field: string]: unknown }
  readonly timeoutMs: number
}

/** Both null when this agent does not tell: an old CLI takes every variable and says nothing. */
export interface EnvironmentReply {
  readonly applied: readonly string[] | null
  readonly refused: readonly string[] | null
}

export interface EventQuery {
  readonly after?: number
  readonly before?: number
  readonly around?: number
  readonly limit: number
}

/** A list whose entries are read when they are asked for. */
export interface Page<T> {
  readonly entries: AsyncIterable<T>
  readonly largestBytes: number
  readonly more: boolean
}

export interface EventPage {
  /** The events, some at a time: each piece is read from the log when it is asked for. */
  readonly pieces: AsyncIterable<readonly StoredEvent[]>
  readonly largestPieceBytes: number
  readonly firstSeq: number
  readonly lastSeq: number
  readonly more: boolean
}

export interface OutlineMark {
  readonly seq: number
  readonly kind: "prompt" | "ask" | "error" | "compaction" | "result"
  readonly label: string
}

export interface SearchQuery {
  readonly q: string
  readonly session?: string
  /** Only of sessions that this runner has, by its id. */
  readonly runner?: string
  /** Only in these: what was said, thought, given to tools, given back, or a session's title. */
  readonly fields?: readonly SearchField[]
  /** Only events between these times: ISO 8601, `from` included. */
  readonly from?: string
  readonly to?: string
  readonly limit: number
}

type SearchField = "text" | "thinking" | "input" | "result" | "title"

export interface SearchReply {
  readonly hits: readonly SearchHit[]
  /** There may be more, older ones. */
  readonly more: boolean
  readonly indexedTo: number
  /** What happened until then can be found. */
  readonly indexedAt: string
}

export interface SearchHit {
  readonly session: string
  readonly seq: number
  readonly at: string
  readonly field: string
  readonly snippet: string
}

export interface AnswerOptions {
  readonly caller: Caller
  readonly inputHash?: string
  readonly answerId?: string
}

export interface RunnerView {
  readonly id: string
  readonly name: string
  readonly connected: boolean
  /** Takes no new agents, because somebody said so. */
  readonly draining: boolean
  readonly seenAt: string
  readonly agents: number
  readonly maxAgents: number
  readonly labels: readonly string[]
  readonly host: string
  readonly platform: string
  /** Version of the runner itself. */
  readonly version: string
  readonly cliVersions: readonly string[]
  readonly hasSimulator: boolean
  readonly home?: string
  /** The `claude` that it would start, or why there is none. */
  readonly claudePath?: string
  readonly claudeProblem?: string
  /** How its agents would sign in; null: no way was found. Absent when it cannot tell. */
  readonly signIn?: string | null
  /** Memory of the runner and its agents together, while the runner is connected. */
  readonly memoryBytes?: number
  /** Its agents' processor use, in per cent of one core. */
  readonly cpuPercent?: number
  readonly freeMemoryBytes?: number
  readonly loadAverage?: number
  readonly usage?: readonly { readonly session: string; readonly memoryBytes: number; readonly cpuPercent: number }[]
}
