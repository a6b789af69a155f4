import { randomUUID } from "node:crypto"
import type { ModelUses } from "@signalbox/protocol"
import type { NewSession, Session } from "@signalbox/protocol/hub-api"
import { type LaunchOptions, launchOptionsIn, MACHINE_MODE } from "@signalbox/protocol/launch-options"
import type { LaunchAgent } from "@signalbox/protocol/runner-wire"
import { NO_TOKENS } from "@signalbox/protocol/usage"

export type SessionTransport = NonNullable<Session["transport"]>

/** What is told of a session, and kept. `pendingAsks` and `viewers` are counted when it is told. */
export type SessionRecord = Omit<Session, "pendingAsks" | "viewers" | "owner">

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
  /** The agent's own list of tasks, from which its progress is told. */
  readonly tasks?: KeptTasks
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
  /** The session was saved while its process was at rest: the next message brings it back. */
  readonly isParked?: boolean
  /** The policy judges every tool call of this process. */
  readonly enforce?: true
  /** The process has taken the hook by which the policy judges. */
  readonly isHooked?: true
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

/** A list of tasks that an agent keeps of its own work, by the task's id. It is kept with the session, so it is short. */
export interface KeptTasks {
  readonly list: Readonly<Record<string, { readonly text: string; readonly status: string }>>
  /** Tasks whose id comes with the result of the call that made them, by that call. */
  readonly making: Readonly<Record<string, string>>
}

export interface KeptSession {
  readonly record: SessionRecord
  readonly own: SessionPrivate
}

/** The id of the session in which this one's conversation goes on, as far as there are records of it. */
export async function newestInChain(
  keptOf: (id: string) => Promise<KeptSession | undefined>,
  id: string,
): Promise<string | undefined> {
  const chain = new Set<string>()
  // In case a chain should ever bite its own tail.
  for (let next: string | undefined = id; next !== undefined && !chain.has(next); ) {
    const kept = await keptOf(next)
    if (kept === undefined) break
    chain.add(next)
    next = kept.record.next
  }
  return [...chain].at(-1)
}

/** To whoever has a message for a process that is known not to be judged. */
export const LOST =
  "the policy does not judge every tool call of this session's agent, so it gets no more messages: look at what it did and stop it; the next message then starts it again, judged; or start a new session"

/** Where a session comes from: the one before it, and who asked for it. */
export type Origin = Pick<SessionRecord, "parent" | "parentSeq" | "startedBy">

/** As it is before its agent is here. */
export function newSession(request: NewSession, now: Date, origin: Origin = {}): KeptSession {
  const options = launchOptionsIn(request)
  const at = now.toISOString()
  return {
    record: {
      id: randomUUID(),
      title: request.title ?? null,
      state: "starting",
      agentSessionId: null,
      cwd: request.cwd ?? null,
      model: request.model ?? null,
      // The agent tells later which mode the machine's settings name.
      permissionMode: request.permissionMode === MACHINE_MODE ? null : (request.permissionMode ?? null),
      cliVersion: null,
      transport: null,
      runner: null,
      archived: false,
      pinned: false,
      createdAt: at,
      updatedAt: at,
      lastSeq: 0,
      turns: 0,
      costUsd: 0,
      tokens: NO_TOKENS,
      ...origin,
    },
    own: {
      incarnation: null,
      lastAgentUuid: null,
      costBase: 0,
      initializeReply: null,
      hooks: request.hooks ?? [],
      ...(options === undefined ? {} : { options }),
      requestKey: request.requestKey ?? null,
      agent: request.agent ?? "claude",
    },
  }
}

/**
 * A user message on its way to an agent. `waiting`: not sent yet; `sent`: on the wire to one process; `confirmed`: the
 * agent echoed it or began its turn; `unknown`: sent to a process that died before it confirmed; `cancelled`: taken back.
 */
export type DeliveryState = "waiting" | "sent" | "confirmed" | "unknown" | "cancelled"

export interface OutgoingMessage {
  readonly uuid: string
  readonly sessionId: string
  readonly seq: number
  readonly state: DeliveryState
  readonly incarnation: string | null
  readonly line: string
  readonly by: string
  readonly at: string
}
