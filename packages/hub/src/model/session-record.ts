import type { ModelUses, TokenCount } from "@signalbox/protocol"
import type { LaunchOptions } from "@signalbox/protocol/launch-options"
import type { LaunchAgent } from "@signalbox/protocol/runner-wire"

export type SessionPhase = "starting" | "idle" | "running" | "waiting" | "disconnected" | "ended"
export type SessionTransport = "runner" | "websocket" | "hybrid"

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
  /** As somebody set it and the process confirmed; absent or null is the agent's own default. */
  readonly maxThinkingTokens?: number | null
  readonly cliVersion: string | null
  readonly transport: SessionTransport | null
  /** The id of the runner whose agent it is. */
  readonly runner: string | null
  /** When that runner last came or went. */
  readonly runnerSeenAt?: string
  readonly archived: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly turnStartedAt?: string
  /** Commands and agents that go on beside its turns, as its process last told; absent when it never did. */
  readonly backgroundTasks?: number
  readonly lastSeq: number
  readonly lastLine?: string
  /** Who interrupted the turn that goes on; its result then is no failure. */
  readonly interruptedBy?: string
  readonly lastResult?: {
    readonly subtype: string
    readonly isError: boolean
    readonly at: string
    /** Its event: whoever has seen that knows of it. Absent in records of an older hub. */
    readonly seq?: number
    readonly interruptedBy?: string
  }
  readonly exit?: SessionExit
  /** The git worktree that was made for it. */
  readonly worktree?: { readonly path: string; readonly branch: string }
  readonly turns: number
  readonly costUsd: number
  readonly tokens: TokenCount
  /** By model, sub-agents included; absent until a result tells it. */
  readonly models?: ModelUses
  /** The session this one came from, and the one that followed it. */
  readonly parent?: string
  readonly next?: string
}

/** How its last process ended. */
export interface SessionExit {
  readonly reason: string
  readonly code?: number
  readonly signal?: string
  readonly at: string
}

/** What the hub must know of a session after a restart and tells nobody. */
interface SessionPrivate {
  /** The agent's process as far as we can tell processes apart; asks and answers belong to one. */
  readonly incarnation: string | null
  /** The `uuid` of the last event from this agent: the upgrade's reply carries it. */
  readonly lastAgentUuid: string | null
  /** Wire totals are cumulative per process: what earlier processes of this session had used. */
  readonly costBase: number
  /** The process before, and what those before it had used: its last result may come when the next is here already. */
  readonly earlierCost?: { readonly incarnation: string; readonly base: number; readonly models?: ModelUses }
  /** The same as `costBase`, by model. */
  readonly modelBase?: ModelUses
  /** The reply to the hub's own `initialize`, from which every client's is answered. */
  readonly initializeReply: Readonly<Record<string, unknown>> | null
  /** Hook events named when the session was made; older CLIs cannot take them later. */
  readonly hooks: readonly string[]
  /** Options that every process of the session is started and greeted with. */
  readonly options?: LaunchOptions
  /** The same key again is the same session. */
  readonly requestKey: string | null
  /** "external", "claude", "simulator" or a command. */
  readonly agent: unknown
  /** How a runner started it: what it takes to start it again. */
  readonly launch?: KeptLaunch
}

/** The last launch of a session's agent on a runner. `env` may hold secrets: it is kept for the next launch and never told. */
export interface KeptLaunch {
  readonly runner: string
  readonly agent: LaunchAgent
  readonly cwd: string | null
  readonly model?: string
  readonly permissionMode?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The process that lives, as far as the hub knows. */
  readonly spawn: string | null
  /** Those before it, latest last: what they said may still be on its way. */
  readonly earlier: readonly string[]
  /** The runner of each process of `earlier` that is on another one, by its spawn. Older hubs did not keep it. */
  readonly elsewhere?: Readonly<Record<string, string>>
  /** The runner put it to rest: the next message brings it back. */
  readonly isParked: boolean
  /** What its conversation goes on from: a fork has none of its own until its agent is here. */
  readonly begins?: Beginning
}

export interface Beginning {
  /** Whose beginning it is: the session that a process moves on to, as after a /clear, did not begin so. */
  readonly session: string
  /** The CLI's own id of the conversation. */
  readonly resume: string
  readonly fork?: true
  readonly resumeAt?: string
}

export interface KeptSession {
  readonly record: SessionRecord
  readonly own: SessionPrivate
}
