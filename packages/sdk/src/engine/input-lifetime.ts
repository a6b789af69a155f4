import { type AgentLine, type AgentState, idleAgent, stepAgent } from "../base/wire.ts"

/**
 * When is a run over, so that the agent's input may end? Ending it early is what loses questions: from then on a
 * permission, a hook or an in-process tool cannot be answered. The rule is [Q20]–[Q24] of docs/spec/sdk.md.
 */
export interface RunState {
  /** Prompts that may still yield messages. */
  readonly openPrompts: number
  /** A prompt was a text: whoever gives one leaves the end of the input to us, and may call the agent until its result. */
  readonly hasTextPrompt: boolean
  readonly messagesSent: number
  readonly results: number
  readonly agent: AgentState
}

export type RunInput =
  | { readonly kind: "prompt-opened"; readonly isText: boolean }
  | { readonly kind: "prompt-ended" }
  /** All that was heard so far is history: it happened before we came. */
  | { readonly kind: "caught-up" }
  | ({ readonly kind: "line" } & AgentLine)

export const initialRunState: RunState = {
  openPrompts: 0,
  hasTextPrompt: false,
  messagesSent: 0,
  results: 0,
  agent: idleAgent,
}

export function stepRun(state: RunState, input: RunInput): RunState {
  switch (input.kind) {
    case "prompt-opened":
      return {
        ...state,
        openPrompts: state.openPrompts + 1,
        hasTextPrompt: state.hasTextPrompt || input.isText,
      }
    case "prompt-ended":
      return { ...state, openPrompts: state.openPrompts - 1 }
    case "caught-up":
      return { ...initialRunState, openPrompts: state.openPrompts, messagesSent: state.messagesSent }
    case "line":
      return stepLine(state, input)
  }
}

function stepLine(state: RunState, line: AgentLine): RunState {
  const agent = stepAgent(state.agent, line)
  const { type } = line.message
  if (line.from === "host" && type === "user") return { ...state, agent, messagesSent: state.messagesSent + 1 }
  if (line.from === "agent" && type === "result") return { ...state, agent, results: state.results + 1 }
  return agent === state.agent ? state : { ...state, agent }
}

/** Requests that wait for their answer, and whether the agent may still send one. */
export interface InFlight {
  /** The agent's, that we have not answered. */
  readonly asked: number
  /** Ours, that the agent has not answered. An old CLI never answers one it does not know. */
  readonly calls: number
  /** The program has something to answer with: a callback, a hook, a server of its own. */
  readonly mayBeAsked: boolean
}

/** `settling`: it looks over, but something may be under way that was not heard of; the time says when it will have been. */
export type RunVerdict =
  | { readonly kind: "open" }
  | { readonly kind: "settling"; readonly ms: number }
  | { readonly kind: "over" }

const OPEN: RunVerdict = { kind: "open" }
const OVER: RunVerdict = { kind: "over" }
const SETTLING: RunVerdict = { kind: "settling", ms: 3000 }
const AWAITING_CALLS: RunVerdict = { kind: "settling", ms: 30_000 }

export function judgeRun(state: RunState, inFlight: InFlight): RunVerdict {
  const { agent, messagesSent, results } = state
  if (state.openPrompts > 0 || inFlight.asked > 0) return OPEN
  // Nobody will be asked anything: the end of the iterable is the end of the input, as some agents need to begin.
  const isOneWay = !state.hasTextPrompt && !inFlight.mayBeAsked && agent.tasks.size === 0
  if (messagesSent > 0 && !isOneWay && isAtWork(state)) return OPEN
  if (inFlight.calls > 0) return AWAITING_CALLS
  if (messagesSent === 0 || isOneWay) return OVER
  if (agent.mayWake) return SETTLING
  // Several messages may have been answered by one turn, and only a CLI that reports its state tells that it is done.
  if (agent.reported === "nothing") return results < messagesSent ? SETTLING : OVER
  return agent.owesTurn ? SETTLING : OVER
}

/** A turn that is only awaited may never come: its message may have been answered by the one before. */
function isAtWork({ agent, results }: RunState): boolean {
  const isInTurn = agent.turn === "running" || agent.turn === "compacting"
  return results === 0 || isInTurn || agent.tasks.size > 0 || agent.reported === "busy"
}

export interface InputLifetimeOptions {
  readonly inFlight: () => InFlight
  /** Called once, when the run is over. */
  readonly end: () => void
}

type Phase =
  | { readonly name: "open" }
  | { readonly name: "settling"; readonly timer: NodeJS.Timeout; readonly ms: number }
  | { readonly name: "ended" }
  | { readonly name: "stopped" }

/** Ends the agent's input when the run is over, and not before. */
export class InputLifetime {
  readonly #options: InputLifetimeOptions
  #state: RunState = initialRunState
  #phase: Phase = { name: "open" }

  constructor(options: InputLifetimeOptions) {
    this.#options = options
  }

  /** Whether the agent was told anything that it may answer to. */
  get hasSent(): boolean {
    return this.#state.messagesSent > 0
  }

  step(input: RunInput): void {
    const before = this.#state
    this.#state = stepRun(before, input)
    if (this.#state !== before) this.consider()
  }

  /** Something has changed: is it over now? */
  consider(): void {
    if (this.#phase.name === "ended" || this.#phase.name === "stopped") return
    const verdict = judgeRun(this.#state, this.#options.inFlight())
    if (verdict.kind === "settling") return this.#settle(verdict.ms)
    this.#wake()
    if (verdict.kind === "over") this.#end()
  }

  /** The agent is gone, or its end is brought about in another way. */
  stop(): void {
    this.#wake()
    this.#phase = { name: "stopped" }
  }

  #settle(ms: number): void {
    if (this.#phase.name === "settling" && this.#phase.ms === ms) return
    this.#wake()
    this.#phase = { name: "settling", ms, timer: setTimeout(() => this.#end(), ms) }
  }

  #wake(): void {
    if (this.#phase.name !== "settling") return
    clearTimeout(this.#phase.timer)
    this.#phase = { name: "open" }
  }

  #end(): void {
    this.#phase = { name: "ended" }
    this.#options.end()
  }
}
