export type SessionPhase = "starting" | "idle" | "running" | "waiting" | "disconnected" | "ended"
export type SessionTransport = "runner" | "websocket" | "hybrid"

export interface TokenCount {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheCreation: number
}

/** What is told of a session, and kept. `pendingAsks` and `viewers` are counted when it is told. */
export interface SessionRecord {
  readonly id: string
  readonly title: string | null
  readonly state: SessionPhase
  /** The CLI's own `session_id`. */
  readonly agentSessionId: string | null
  readonly cwd: string | null
  readonly model: string | null
  readonly permissionMode: string | null
  readonly cliVersion: string | null
  readonly transport: SessionTransport | null
  readonly runner: string | null
  readonly runnerSeenAt?: string
  readonly archived: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly turnStartedAt?: string
  readonly lastSeq: number
  readonly lastLine?: string
  readonly lastResult?: { readonly subtype: string; readonly isError: boolean; readonly at: string }
  readonly exit?: { readonly reason: string; readonly code?: number; readonly signal?: string; readonly at: string }
  readonly turns: number
  readonly costUsd: number
  readonly tokens: TokenCount
  /** The session this one came from, and the one that followed it. */
  readonly parent?: string
  readonly next?: string
}

/** What the hub must know of a session after a restart and tells nobody. */
interface SessionPrivate {
  /** The agent's process as far as we can tell processes apart; asks and answers belong to one. */
  readonly incarnation: string | null
  /** The `uuid` of the last event from this agent: the upgrade's reply carries it. */
  readonly lastAgentUuid: string | null
  /** Wire totals are cumulative per process: what earlier processes of this session had used. */
  readonly costBase: number
  /** The reply to the hub's own `initialize`, from which every client's is answered. */
  readonly initializeReply: Readonly<Record<string, unknown>> | null
  /** Hook events named when the session was made; older CLIs cannot take them later. */
  readonly hooks: readonly string[]
  /** The same key again is the same session. */
  readonly requestKey: string | null
  /** "external", "claude", "simulator" or a command. */
  readonly agent: unknown
}

export interface KeptSession {
  readonly record: SessionRecord
  readonly own: SessionPrivate
}
