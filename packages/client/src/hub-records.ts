import type { Envelope, ModelUses, TokenCount } from "@signalbox/protocol"
import type { LaunchOptions } from "@signalbox/protocol/launch-options"

/** What a hub tells. A newer hub may tell more than is listed here. */

export type SessionState = "starting" | "idle" | "running" | "waiting" | "disconnected" | "ended"

export interface Session {
  readonly id: string
  readonly title: string | null
  readonly state: SessionState
  /** The CLI's own `session_id`. */
  readonly agentSessionId: string | null
  readonly cwd: string | null
  readonly model: string | null
  readonly permissionMode: string | null
  /** The limit of thinking that somebody set; absent or null is the agent's own default. */
  readonly maxThinkingTokens?: number | null
  readonly cliVersion: string | null
  readonly transport: "runner" | "websocket" | "hybrid" | null
  readonly runner: string | null
  readonly runnerSeenAt?: string
  readonly archived: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly turnStartedAt?: string
  /** Commands and agents that go on beside its turns, as its process last told. */
  readonly backgroundTasks?: number
  readonly lastSeq: number
  readonly lastLine?: string
  readonly lastResult?: Readonly<Record<string, unknown>>
  readonly exit?: Readonly<Record<string, unknown>>
  /** The git worktree that was made for it. */
  readonly worktree?: { readonly path: string; readonly branch: string }
  readonly turns: number
  readonly costUsd: number
  readonly tokens: TokenCount
  /** Tokens and cost by model, sub-agents included; absent until an agent tells them. */
  readonly models?: ModelUses
  readonly pendingAsks: number
  readonly viewers: number
  readonly parent?: string
  readonly next?: string
}

/** A session, and how to start its agent by hand: where it connects, and with which token. */
export interface LaunchedSession extends Session {
  readonly ingress?: { readonly url: string; readonly token: string; readonly command: string; readonly note?: string }
}

export interface LaunchRequest extends LaunchOptions {
  readonly agent?: "claude" | "simulator" | "external" | { readonly command: readonly string[] }
  readonly cwd?: string
  readonly prompt?: string
  readonly model?: string
  readonly permissionMode?: string
  readonly resume?: string
  /** Go on with the most recent conversation that was recorded in the folder. */
  readonly continue?: boolean
  readonly fork?: boolean
  /** With `fork`: the `uuid` of the agent's message after which the rest is left out. */
  readonly resumeAt?: string
  readonly title?: string
  readonly runner?: string
  readonly hooks?: readonly string[]
  readonly worktree?: boolean | { readonly branch?: string }
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The same key again is the same session. One is made up where none is given. */
  readonly requestKey?: string
}

export interface SessionQuery {
  readonly limit?: number
  readonly cursor?: string
  readonly state?: SessionState
  readonly q?: string
}

export interface SessionPage {
  readonly sessions: readonly Session[]
  readonly cursor: string | null
}

export interface HubEvent {
  /** Dense within its session, from 1. */
  readonly seq: number
  readonly at: string
  readonly from: "agent" | "client" | "hub"
  readonly by?: string
  /** The wire's object, untouched. */
  readonly message: Envelope
}

export interface EventQuery {
  readonly after?: number
  readonly before?: number
  readonly around?: number
  readonly limit?: number
}

export interface EventPage {
  readonly events: readonly HubEvent[]
  readonly firstSeq: number
  readonly lastSeq: number
  readonly more: boolean
}

export type AskState = "pending" | "allowed" | "denied" | "expired" | "cancelled" | "superseded" | "orphaned"

export interface Ask {
  readonly id: string
  readonly sessionId: string
  readonly seq: number
  readonly kind: "tool" | "question" | "plan" | "elicitation" | "dialog"
  readonly state: AskState
  readonly requestId: string
  /** The wire's request. */
  readonly request: Readonly<Record<string, unknown>>
  readonly inputHash: string
  readonly toolName?: string
  readonly input?: Readonly<Record<string, unknown>>
  readonly suggestions?: readonly unknown[]
  /** Questions whose agent can be told, in `annotations`, which of them were skipped. */
  readonly skippable?: boolean
  readonly askedAt: string
  readonly expiresAt?: string
  /** Set on an ask that expires: by how much and how often that may still be put off. */
  readonly extension?: { readonly byMs: number; readonly left: number }
  readonly settledAt?: string
  readonly settledBy?: string
  readonly via?: "person" | "policy" | "timeout" | "agent" | "hub"
  readonly rule?: string
  readonly answer?: Readonly<Record<string, unknown>>
  readonly deliveredAt?: string
}

export type AskAnswer = AnswerBody & {
  /** Sent along, it refuses an answer to something other than what was seen. */
  readonly inputHash?: string
  /** The same id again is the same answer. One is made up where none is given. */
  readonly answerId?: string
}

type AnswerBody =
  | {
      readonly behavior: "allow"
      readonly updatedInput?: Readonly<Record<string, unknown>>
      readonly updatedPermissions?: readonly unknown[]
    }
  | { readonly behavior: "deny"; readonly message?: string; readonly interrupt?: boolean }
  | { readonly action: "accept" | "decline" | "cancel"; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly result: unknown }
  | { readonly cancelled: true }
