import {
  type AgentLine,
  type AgentState,
  type Envelope,
  fieldOf,
  idleAgent,
  isObject,
  stepAgent,
  textOf,
} from "@signalbox/protocol"
import type { Session, SessionState } from "@signalbox/protocol/hub-api"
import type { AskDesk } from "../asks/ask-desk.ts"
import type { KeptSession, SessionRecord } from "../model/session-record.ts"
import { MessageInProgress, type Published } from "./history.ts"
import type { MessageDesk } from "./message-desk.ts"

/** Whether the process is the one that was here before; unknown when it did not say. Then its answer to `initialize` tells. */
export type Continuity = "same" | "new" | "unknown"

/**
 * Where a session is in its life. `Line` is how its agent is reached and `Launch` a start that is under way; of both only the
 * identity matters here.
 */
export type Life<Line, Launch> =
  /** Nobody is told of it yet: without an agent it comes to nothing. */
  | ({ readonly name: "draft" } & AtRest<Launch>)
  /** A process was started, or is to be by hand, and was not here yet. */
  | { readonly name: "starting" }
  /** `isGreeted`: which process this is was decided, and `initialize` is on its wire. Nothing else goes to it before that. */
  | { readonly name: "live"; readonly line: Line; readonly isGreeted: boolean }
  /** The connection is over; the process may live and come back. */
  | { readonly name: "away" }
  /** Its process was put to rest: to everybody it is idle, and whatever is sent to it brings it back. */
  | ({ readonly name: "parked" } & AtRest<Launch>)
  | ({ readonly name: "ended" } & AtRest<Launch>)

/** Without a process. */
interface AtRest<Launch> {
  /** Something waits for its agent, which is started as soon as its runner can. */
  readonly isAwaited: boolean
  /** The start of its next process. `isStopped`: the session was stopped meanwhile, and that process with it. */
  readonly start: { readonly launch: Launch; readonly isStopped: boolean } | undefined
}

export type LifeInput<Line, Launch> =
  | { readonly kind: "awaited" }
  /** The process cannot be started, and will not be tried again. */
  | { readonly kind: "given-up" }
  | { readonly kind: "launching"; readonly launch: Launch }
  /** A start is over, whatever came of it. */
  | { readonly kind: "launch-over"; readonly launch: Launch }
  /** A process was started, by a runner or by hand. */
  | { readonly kind: "launched" }
  /** Somebody wishes its end. */
  | { readonly kind: "stopped" }
  | { readonly kind: "connected"; readonly line: Line }
  | { readonly kind: "greeted"; readonly line: Line }
  /** Without a line: whichever is here. */
  | { readonly kind: "disconnected"; readonly line?: Line }
  /** Its conversation goes on in another session, which took its line over. */
  | { readonly kind: "handed-over" }
  | { readonly kind: "took-over"; readonly line: Line }
  | { readonly kind: "parked" }
  | { readonly kind: "ended" }

export type LifeEffect<Line> =
  /** Requests over this line will not be answered. */
  | { readonly do: "close"; readonly line: Line }
  /** Those who wait for the agent are told that it is here, or that it will not come. */
  | { readonly do: "tell-arrival"; readonly isHere: boolean }
  /** The sentence in progress will not go on. */
  | { readonly do: "drop-sentence" }
  /** No process is left to hear an answer. */
  | { readonly do: "orphan-asks" }

interface Step<Line, Launch> {
  readonly life: Life<Line, Launch>
  readonly effects: readonly LifeEffect<Line>[]
}

const ALONE = { isAwaited: false, start: undefined } as const

/** Returns what an input makes of a session's life, and what has to be done for it, in this order. Inputs that come too late change nothing. */
export function stepLife<Line, Launch>(life: Life<Line, Launch>, input: LifeInput<Line, Launch>): Step<Line, Launch> {
  const close = life.name === "live" ? [{ do: "close", line: life.line } as const] : []
  switch (input.kind) {
    case "awaited":
    case "given-up":
    case "launching":
    case "launch-over":
    case "stopped":
      return { life: "start" in life ? stepAtRest(life, input) : life, effects: [] }
    case "launched":
      return { life: { name: "starting" }, effects: close }
    case "connected":
      return { life: { name: "live", line: input.line, isGreeted: false }, effects: close }
    case "greeted":
      if (life.name !== "live" || life.line !== input.line) return { life, effects: [] }
      return { life: { ...life, isGreeted: true }, effects: [{ do: "tell-arrival", isHere: true }] }
    case "disconnected":
      if (life.name !== "live" || (input.line !== undefined && life.line !== input.line)) return { life, effects: [] }
      return { life: { name: "away" }, effects: [...close, { do: "drop-sentence" }] }
    case "handed-over":
      // The line goes on elsewhere: what was asked over it is answered there.
      return { life: { name: "ended", ...ALONE }, effects: [{ do: "drop-sentence" }] }
    case "took-over":
      // It speaks, and a new process says nothing before it is spoken to.
      return { life: { name: "live", line: input.line, isGreeted: true }, effects: close }
    case "parked":
    case "ended": {
      if (life.name === "ended" || life.name === input.kind) return { life, effects: [] }
      const start = "start" in life ? life.start : undefined
      return {
        life: { name: input.kind, isAwaited: false, start },
        effects: [...close, { do: "drop-sentence" }, { do: "tell-arrival", isHere: false }, { do: "orphan-asks" }],
      }
    }
  }
}

type Resting<Launch> = Extract<Life<never, Launch>, AtRest<Launch>>
/** The inputs of a session that has no process. */
export type RestInput<Launch> = Extract<
  LifeInput<never, Launch>,
  { kind: "awaited" | "given-up" | "launching" | "launch-over" | "stopped" }
>

function stepAtRest<Launch>(life: Resting<Launch>, input: RestInput<Launch>): Resting<Launch> {
  switch (input.kind) {
    case "awaited":
      return life.name === "draft" ? life : { ...life, isAwaited: true }
    case "given-up":
      return { ...life, isAwaited: false }
    case "launching":
      // One at a time: two processes would write into one conversation.
      return life.start === undefined ? { ...life, start: { launch: input.launch, isStopped: false } } : life
    case "launch-over":
      return life.start?.launch === input.launch ? { ...life, start: undefined } : life
    case "stopped":
      return { ...life, isAwaited: false, start: life.start && { ...life.start, isStopped: true } }
  }
}

/** Where a session is that was in the store. A hub that was killed may have left its last state behind what happened. */
export function lifeAtStart({ record: { state }, own }: KeptSession): Life<never, never> {
  if (state === "ended") return { name: "ended", ...ALONE }
  // Its process is over. Unless it was put to rest, the hub was killed before all of its end was noted.
  if (own.launch?.spawn === null) return { name: own.launch.isParked === true ? "parked" : "ended", ...ALONE }
  return state === "starting" ? { name: "starting" } : { name: "away" }
}

/** A new session, of which nobody is told yet. */
export const DRAFT: Life<never, never> = { name: "draft", ...ALONE }

/** The state that everybody is told. */
export function phaseOf(life: Life<unknown, unknown>, state: AgentState, pendingAsks: number): SessionState {
  switch (life.name) {
    case "draft":
      return "starting"
    case "starting":
    case "ended":
      return life.name
    case "away":
      return "disconnected"
    case "parked":
      return "idle"
    case "live":
      if (pendingAsks > 0) return "waiting"
      return state.turn !== "none" ? "running" : "idle"
  }
}

const IN_TURN: ReadonlySet<SessionState> = new Set(["running", "waiting", "disconnected"])

/** A session as everybody is told of it. */
export function viewOf(
  { turnStartedAt, ...record }: SessionRecord,
  now: Pick<Session, "state" | "pendingAsks" | "viewers" | "owner">,
): Session {
  // A message that waits for an agent that is not here yet, or was taken back, is no turn.
  const turn = turnStartedAt === undefined || !IN_TURN.has(now.state) ? {} : { turnStartedAt }
  return { ...record, ...turn, ...now }
}

/** A turn that was under way when the hub went down is taken to be still under way, and so is one whose message is on its way. */
export function stateAtStart({ turnStartedAt }: SessionRecord, openMessages = 0): AgentState {
  return turnStartedAt === undefined && openMessages === 0 ? idleAgent : AWAITED
}

/** State of a process that has said nothing yet. Waiting messages are its work, so it is never shown as idle first. */
export function stateOfNew(waiting: number): AgentState {
  return waiting === 0 ? idleAgent : AWAITED
}

const AWAITED = stepAgent(idleAgent, { from: "host", message: { type: "user" } })

/** Follows a session's events, as they are published: they tell what its agent is doing, and what it has got. */
export class AgentProgress {
  readonly inProgress = new MessageInProgress()
  readonly #messages: MessageDesk
  readonly #asks: AskDesk
  /** By which process a line was said, where that is not the one that is here. */
  readonly #others = new WeakMap<Envelope, string>()
  state: AgentState = idleAgent

  constructor(messages: MessageDesk, asks: AskDesk) {
    this.#messages = messages
    this.#asks = asks
  }

  saidByOther(message: Envelope, incarnation: string): void {
    this.#others.set(message, incarnation)
  }

  /** The process that said it, where that is not the one that is here. */
  otherOf(message: Envelope): string | undefined {
    return this.#others.get(message)
  }

  /** `here`: the process that is here. True when it is in another phase than before. */
  follow(item: Published, here: string | undefined): boolean {
    const { message } = item
    const { phase } = this.state
    if (item.kind === "delta") {
      this.inProgress.take(message, item.line)
      this.#step({ from: "agent", message })
    } else if (item.event.from === "agent") this.#followAgent(message, here)
    else if (item.event.from === "client" && message.type === "user") this.#step({ from: "host", message })
    return this.state.phase !== phase
  }

  #followAgent(message: Envelope, here: string | undefined): void {
    const other = this.#others.get(message)
    // Lines of another process tell nothing about the one that is here. Open questions are asks, which outlive the hub.
    const isHeard = other === undefined || here === undefined
    if (isHeard && message.type !== "control_request") this.#step({ from: "agent", message })
    if (message.type === "result" && other === undefined) this.inProgress.clear()
    this.#takeReceipts(message, other ?? here)
  }

  /** An agent's event tells what has reached it: a turn that begins has its messages, a tool that ran had its answer. */
  #takeReceipts(message: Envelope, incarnation: string | undefined): void {
    if (message.type === "system" && message["subtype"] === "init") this.#messages.confirmSent(incarnation)
    if (incarnation === undefined) return
    if (message.type === "result") this.#asks.confirm(incarnation, undefined)
    if (message.type === "user") for (const id of toolResultsIn(message)) this.#asks.confirm(incarnation, id)
  }

  #step(line: AgentLine): void {
    this.state = stepAgent(this.state, line)
  }
}

function toolResultsIn(message: Envelope): readonly string[] {
  const content = fieldOf(message, "message")?.["content"]
  if (!Array.isArray(content)) return []
  return content.flatMap((block) => {
    const id = isObject(block) && block["type"] === "tool_result" ? textOf(block, "tool_use_id") : undefined
    return id === undefined ? [] : [id]
  })
}
