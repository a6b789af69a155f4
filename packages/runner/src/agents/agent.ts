import {
  type AgentLine,
  type AgentState,
  idleAgent,
  isAtRest,
  type OpenRequest,
  stepAgent,
} from "@signalbox/protocol/agent-state"
import { composeError, composeSuccess, encode, toolDenial } from "@signalbox/protocol/compose"
import type { Envelope } from "@signalbox/protocol/envelope"
import {
  type AgentCommand,
  type AgentExit,
  type DeniedCall,
  eventOfCallback,
  TOOL_EVENT,
} from "@signalbox/protocol/runner-wire"
import type { ChildTransport, Closed, ReadingTurns } from "@signalbox/transport/process"
import type { AgentRecord } from "../state/state-file.ts"
import { AgentInput, AgentStream, type AgentStreamOptions, parseLine } from "./agent-stream.ts"
import { branchOf, ChangeNews, type ChangeReader } from "./folder.ts"
import { HeldHooks } from "./held-hooks.ts"

export interface AgentOptions extends AgentStreamOptions {
  readonly turns: ReadingTurns
  readonly changes: Pick<ChangeReader, "read">
  /** The process is over; what it said may still be on its way to the hub. */
  readonly onExit: (agent: Agent) => void
  /** The hub has everything, or does not want it: nothing is left to do. */
  readonly onOver: (agent: Agent) => void
}

/** Why we end a process that lives. */
interface Ending {
  readonly reason: string
  readonly parked?: boolean
}

type State =
  | { readonly phase: "running"; readonly child: ChildTransport; readonly input: AgentInput }
  | { readonly phase: "ending"; readonly child: ChildTransport; readonly input: AgentInput; readonly ending: Ending }
  | { readonly phase: "exited" }

const STDERR_TAIL_CHARS = 4096

/** One process of an agent, from its launch until the hub has all it said. */
export class Agent {
  readonly record: AgentRecord
  readonly #options: AgentOptions
  readonly #stream: AgentStream
  #state: State = { phase: "exited" }
  #activity: Activity
  #reading: Promise<void> = Promise.resolve()
  #onFailure: Readonly<Record<string, OnFailure>> = {}
  /** Undefined: its hub decides only about what it asks. */
  readonly #held: HeldHooks | undefined
  #endWhenIdle: Ending | undefined
  /** The branch that the hub knows of, or will when it is here; undefined before the first look. */
  #toldBranch: string | null | undefined
  readonly #changes: ChangeNews
  /** Undefined while the hub wants what it says. */
  #unwanted: string | undefined

  /** Without a child it is what an earlier runner left: over, and only to be delivered. */
  constructor(options: AgentOptions, child?: ChildTransport) {
    this.record = options.record
    this.#options = options
    this.#activity = restingActivity(options.clock.now())
    this.#stream = new AgentStream({
      ...options,
      onLine: (line) => this.#send(line),
      onCommand: (command) => this.#command(command),
      onUp: () => this.#touch(),
      tellBranch: () => this.#tellBranch(),
      onDown: () => this.#hubIsAway(),
      onDelivered: () => this.#options.onOver(this),
      onUnknown: (reason) => this.#hubKnowsNothing(reason),
    })
    this.#changes = new ChangeNews({
      read: () => options.changes.read(options.record.launched.cwd),
      tell: (changes) => this.#stream.note({ kind: "changes", changes }),
      clock: options.clock,
    })
    if (child === undefined) return
    if (options.record.enforce === true) {
      this.#held = new HeldHooks({ clock: options.clock, deny: (requestId, call) => this.#denyHeld(requestId, call) })
    }
    const input = new AgentInput({ child, onFull: (isFull) => this.#stream.setFull(isFull) })
    this.#state = { phase: "running", child, input }
    this.#reading = this.#read(child)
  }

  get incarnation(): string {
    return this.record.launched.spawn
  }

  get isLiving(): boolean {
    return this.#state.phase !== "exited"
  }

  /** Settles when the process is gone; undefined while nobody ends it. */
  get leaving(): Promise<unknown> | undefined {
    return this.#state.phase === "ending" ? this.#state.child.closed : undefined
  }

  get activity(): Activity {
    return this.#activity
  }

  wake(): void {
    this.#stream.wake()
  }

  /** Takes leave of an agent whose process an earlier runner had; a word about its end is added unless there is one. */
  finish(exit: AgentExit | undefined): void {
    if (exit !== undefined) this.#stream.note({ kind: "exited", exit })
    this.#stream.end()
  }

  /** Ends its input, and the process and its group if that does not end them. Resolves when it is over. */
  async stop(ending: Ending): Promise<void> {
    const state = this.#state
    if (state.phase === "exited") return
    if (state.phase === "running") this.#state = { ...state, phase: "ending", ending }
    await state.child.close(ending.reason)
  }

  /** At once, with its whole group. */
  async kill(reason: string): Promise<void> {
    const state = this.#state
    if (state.phase === "exited") return
    if (state.phase === "running") this.#state = { ...state, phase: "ending", ending: { reason } }
    state.child.kill("SIGKILL")
    await state.child.closed
  }

  /** Stops it now if it is idle, or else when it next is. */
  stopWhenIdle(ending: Ending): void {
    this.#endWhenIdle = ending
    this.#endIfIdle()
  }

  /** Called when the process has ended. Its last lines are kept, however much waits for the hub. */
  async close(reason: string): Promise<void> {
    await this.#stream.close(reason)
    this.#options.kept.letIn()
    await this.#reading
    await this.#options.kept.close()
  }

  /** Lets go of everything, on disk too. */
  async remove(): Promise<void> {
    await this.#stream.close("delivered")
    await this.#options.kept.remove()
  }

  async #read(child: ChildTransport): Promise<void> {
    for await (const share of this.#options.turns.shares(child.lines)) {
      for (const line of share) this.#heard(line)
      await this.#options.kept.room()
    }
    this.#exited(await child.closed, child.stderrTail())
  }

  #heard(line: string): void {
    const message = tellingLine(line)
    if (message !== undefined && WITH_BRANCH.has(message.type)) {
      this.#tellBranch()
      this.#changes.look()
    }
    this.#stream.line(line)
    if (message !== undefined) {
      this.#step({ from: "agent", message })
      this.#held?.heard(message, line)
      if (!this.#stream.isUp) this.#answerOpen("hook")
    }
    this.#endIfIdle()
  }

  #send(line: string): void {
    if (this.#state.phase === "exited") return
    this.#touch()
    this.#write(line)
  }

  /** The hub came, or said something: whatever follows, the agent is not forgotten. */
  #touch(): void {
    this.#activity = { ...this.#activity, lastAt: this.#options.clock.now() }
  }

  #step(line: AgentLine): void {
    this.#activity = stepActivity(this.#activity, line, this.#options.clock.now())
  }

  #command(command: AgentCommand): void {
    if (command.ev === "hooks") this.#onFailure = command.onFailure
    // It may be another hub than the one that was asked.
    else for (const line of this.#held?.lines ?? []) this.#stream.line(line)
  }

  /** Before a question, so that a rule for a branch sees the one that its folder is on now. A connection begins with it. */
  #tellBranch(): string | null {
    const branch = branchOf(this.record.launched.cwd) ?? null
    if (this.#toldBranch !== undefined && this.#toldBranch !== branch) this.#stream.note({ kind: "branch", branch })
    this.#toldBranch = branch
    return branch
  }

  /** A hook or a call that nobody answers hangs the turn for good; everything else can wait for the hub. */
  #hubIsAway(): void {
    this.#answerOpen("hook")
    this.#answerOpen("call")
  }

  #answerOpen(kind: "hook" | "call"): void {
    for (const [requestId, request] of this.#activity.agent.open) {
      if (request.kind !== kind) continue
      if (request.kind === "call") this.#write(callAnswer(requestId))
      else if (request.kind === "hook" && this.#held?.has(requestId) !== true) {
        const how = this.#onFailure[request.callbackId] ?? this.#unlisted(request)
        const isWritten = this.#write(hookAnswer(requestId, request, how))
        if (isWritten) this.#stream.note({ kind: "hook-answered", requestId, how })
      }
    }
  }

  /** A hook that no hub has said anything about. In an enforced agent one that the hub did not register may be for anything. */
  #unlisted({ callbackId }: HookCall): OnFailure {
    return this.record.enforce === true && eventOfCallback(callbackId) === undefined ? "block" : "open"
  }

  #denyHeld(requestId: string, denied: DeniedCall): void {
    if (!this.#write(encode(composeSuccess(requestId, toolDenial(HELD_REASON))))) return
    this.#stream.note({ kind: "hook-answered", requestId, how: "block", denied })
  }

  /** False if it was written before, or nobody is left to hear it. */
  #write(line: string): boolean {
    if (this.#state.phase === "exited") return false
    const { isRepeat, message } = this.#state.input.write(line)
    if (isRepeat) return false
    if (message !== undefined) this.#step({ from: "host", message })
    if (message !== undefined) this.#held?.written(message)
    return true
  }

  #hubKnowsNothing(reason: string): void {
    this.#unwanted = reason
    const why = `the hub does not know this session${reason === "" ? "" : `: ${reason}`}`
    this.#options.log.warn({ incarnation: this.incarnation, session: this.record.session }, `Stopped an agent: ${why}`)
    if (this.#state.phase === "exited") this.#options.onOver(this)
    else void this.stop({ reason: why })
  }

  #endIfIdle(): void {
    if (this.#endWhenIdle === undefined || this.#state.phase !== "running") return
    // One that is between two turns is looked at again by whoever wants it to end.
    if (!mayEnd(this.#activity, this.#options.clock.now())) return
    void this.stop(this.#endWhenIdle)
  }

  #exited(closed: Closed, stderr: string): void {
    const state = this.#state
    if (state.phase === "exited") return
    const exit = exitOf(closed, stderr, state.phase === "ending" ? state.ending : undefined)
    const { undelivered, lastReceived } = state.input
    this.#state = { phase: "exited" }
    this.#changes.end()
    this.#held?.releaseAll()
    this.#options.log.info(
      { incarnation: this.incarnation, session: this.record.session },
      `Agent ended: ${exit.reason}`,
    )
    const late = undelivered.length === 0 ? {} : { undelivered }
    this.#stream.note({ kind: "exited", exit: { ...exit, ...late, lastReceived } })
    this.#options.onExit(this)
    if (this.#unwanted !== undefined) this.#options.onOver(this)
    else this.#stream.end()
  }
}

function exitOf(closed: Closed, stderr: string, ending: Ending | undefined): AgentExit {
  const { exitCode, signal } = closed.error?.details ?? {}
  const code = closed.by === "peer" && closed.error === undefined ? 0 : exitCode
  return {
    reason: ending?.reason ?? closed.reason,
    ...(typeof code === "number" ? { code } : {}),
    ...(typeof signal === "string" ? { signal } : {}),
    ...(stderr === "" ? {} : { stderrTail: stderr.slice(-STDERR_TAIL_CHARS) }),
    ...(ending?.parked === true ? { parked: true } : {}),
  }
}

/** The agent's state, and since when: the governor decides by these. */
export interface Activity {
  readonly agent: AgentState
  /** When the agent last said, or was told, something that counts. */
  readonly lastAt: number
  readonly turnEndedAt: number
}

/** A message that was written in the middle of a turn begins its own at once when that one ends, or was a part of it. */
const NEXT_TURN_MS = 1_000

export function restingActivity(now: number): Activity {
  return { agent: idleAgent, lastAt: now, turnEndedAt: Number.NEGATIVE_INFINITY }
}

export function stepActivity(before: Activity, line: AgentLine, now: number): Activity {
  const agent = stepAgent(before.agent, line)
  if (agent === before.agent) return before
  const hasEnded = before.agent.turn !== "none" && agent.turn === "none"
  return { agent, lastAt: now, turnEndedAt: hasEnded ? now : before.turnEndedAt }
}

/** Idle, and not only between two turns. */
export function mayEnd({ agent, turnEndedAt }: Activity, now: number): boolean {
  return isAtRest(agent) && now - turnEndedAt >= NEXT_TURN_MS
}

/**
 * The types that tell what an agent is doing. A line without any of these words is not parsed, so that the stream of deltas costs
 * nothing here; the order of the keys is the agent's own affair.
 */
const TELLING = /"(?:control_request|control_cancel_request|result|system|assistant)"/

/** Questions, which rules judge by the branch, and what begins and ends a turn, so that people see it. */
const WITH_BRANCH: ReadonlySet<string> = new Set(["control_request", "result", "system"])

/** Undefined for a line that tells nothing about what the agent is doing. */
function tellingLine(line: string): Envelope | undefined {
  return TELLING.test(line) ? parseLine(line) : undefined
}

type OnFailure = "open" | "block"

type HookCall = Extract<OpenRequest, { kind: "hook" }>

const HOOK_REASON = "the hub that decides about this is away, and this hook blocks when it cannot be asked"
const HELD_REASON = "The policy decides about every tool call, and its hub did not answer in time. Try again later."
const CALL_REASON = "the hub was away while this was asked, so that its answer is lost: try again"

/** The runner's answer to a hook, given in place of a hub that is away. */
function hookAnswer(requestId: string, { event }: HookCall, how: OnFailure): string {
  return encode(composeSuccess(requestId, how === "open" ? {} : blocking(event)))
}

/** The runner's answer to a call of an agent, such as one of a tool, whose own answer will not come any more. */
function callAnswer(requestId: string): string {
  return encode(composeError(requestId, CALL_REASON))
}

function blocking(event: string): Readonly<Record<string, unknown>> {
  const block = { decision: "block", reason: HOOK_REASON }
  if (event !== TOOL_EVENT) return block
  return { ...block, ...toolDenial(HOOK_REASON) }
}
