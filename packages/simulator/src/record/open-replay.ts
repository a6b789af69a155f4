import { textOf } from "@signalbox/protocol/envelope"
import type { Transport } from "@signalbox/transport"
import { deferred } from "@signalbox/transport/pacing"
import type { AgentExit } from "../agent/agent.ts"
import { type AgentClock, createClock } from "../clock.ts"
import { createRandomness } from "../randomness.ts"
import type { Replay, ReplayStep } from "./replay-schema.ts"
import { HostInbox, LiveIds, Registrations, ReplayIndex, strayAnswer } from "./replay-state.ts"

export interface ReplayOptions {
  /** The road to the host. */
  readonly transport: Transport
  readonly replay: Replay
  /** 1, the default, is the pace of the recording; 0 as fast as possible. */
  readonly timeScale?: number
  /** The same seed gives the same ids. */
  readonly seed?: number | undefined
  /** Time without a scale: `timeScale` is applied to what it is asked to wait for. */
  readonly clock?: AgentClock
}

export interface ReplayedAgent {
  /** Resolves when the process would be gone, and never rejects. */
  readonly exited: Promise<AgentExit>
  /** Ends it as a signal would, with 143 unless another code is given. */
  terminate(code?: number): void
}

/** Plays a recorded conversation to a host, as the agent. */
export function openReplay(options: ReplayOptions): ReplayedAgent {
  const player = new ReplayPlayer(options)
  return { exited: player.exited, terminate: (code = 143) => player.terminate(code) }
}

/** How long an agent that is busy gives the host for what it did not wait for then either. */
const MID_TURN_GRACE_MS = 1000

type Step<Key extends string> = Extract<ReplayStep, Record<Key, unknown>>

class ReplayPlayer {
  readonly #transport: Transport
  readonly #replay: Replay
  readonly #clock: AgentClock
  readonly #timeScale: number
  readonly #ids: LiveIds
  readonly #index: ReplayIndex
  readonly #inbox = new HostInbox()
  readonly #registered = new Registrations()
  readonly #over = new AbortController()
  /** The host's requests by their recorded names, and ours that were put to it. */
  readonly #bound = new Map<string, string>()
  readonly #asked = new Map<string, string>()
  readonly #exiting = deferred<AgentExit>()
  readonly exited: Promise<AgentExit> = this.#exiting.promise
  #dueAt: number
  /** The kind of request that is waited for just now. */
  #awaiting: string | undefined

  constructor({ transport, replay, timeScale = 1, seed, clock = createClock(1) }: ReplayOptions) {
    this.#transport = transport
    this.#replay = replay
    this.#clock = clock
    this.#timeScale = timeScale
    this.#ids = new LiveIds(createRandomness(seed))
    this.#index = new ReplayIndex(replay.replay)
    this.#dueAt = clock.now()
    void this.#listen()
    void this.#play()
  }

  terminate(code: number): void {
    this.#over.abort()
    this.#inbox.end()
    this.#exiting.resolve({ code })
  }

  async #listen(): Promise<void> {
    for await (const line of this.#transport.lines) {
      this.#inbox.take(line)
      await this.#answerStrays()
    }
    this.#inbox.end()
  }

  async #play(): Promise<void> {
    for (const [at, step] of this.#replay.replay.entries()) {
      if (this.#index.done.has(at)) continue
      this.#index.done.add(at)
      const goesOn = await this.#do(step)
      if (!goesOn || this.#over.signal.aborted) return this.terminate(this.#replay.exitCode ?? 0)
    }
    await this.#until(() => false)
    this.terminate(this.#replay.exitCode ?? 0)
  }

  /** False when there is nobody left to play to. */
  async #do(step: ReplayStep): Promise<boolean> {
    if ("user" in step) return this.#awaitUser(step)
    if ("request" in step) return this.#awaitRequest(step)
    if ("answered" in step) {
      const id = this.#asked.get(step.answered)
      await this.#until(() => id === undefined || this.#inbox.answered.has(id))
      return true
    }
    await this.#waitFor(step.afterMs ?? 0)
    if ("ask" in step) return this.#ask(step)
    if ("reply" in step) return this.#reply(step)
    if ("raw" in step) return this.#send(step.raw)
    if ("cancel" in step) {
      const request_id = this.#asked.get(step.cancel)
      return request_id === undefined || this.#send(JSON.stringify({ type: "control_cancel_request", request_id }))
    }
    return this.#emit(step.emit)
  }

  async #awaitUser({ user, midTurn }: Step<"user">): Promise<boolean> {
    const graceMs = midTurn === true ? MID_TURN_GRACE_MS : undefined
    const came = await this.#until(() => this.#inbox.users.length > 0, graceMs)
    if (!came) return midTurn === true && !this.#inbox.isEnded
    const [then, now] = [textOf(user, "uuid"), this.#inbox.users.shift()]
    if (then !== undefined && now !== undefined) this.#ids.learn(then, now)
    return true
  }

  /** A host that goes on to its next message does not mean to ask any more. */
  async #awaitRequest({ request, as, midTurn }: Step<"request">): Promise<boolean> {
    const { subtype } = request
    const isThere = () => this.#inbox.requests.some((waiting) => waiting.subtype === subtype)
    const isOptional = midTurn === true && subtype !== "interrupt"
    this.#awaiting = subtype
    await this.#until(() => isThere() || this.#inbox.users.length > 0, isOptional ? MID_TURN_GRACE_MS : undefined)
    this.#awaiting = undefined
    const live = this.#inbox.takeRequest(subtype)
    if (live !== undefined) this.#bound.set(as, live.id)
    if (subtype === "initialize") this.#registered.initialize(request, live?.request)
    return true
  }

  async #ask({ ask, as }: Step<"ask">): Promise<boolean> {
    const request = this.#registered.translate(ask)
    if (request === undefined) return true
    const request_id = this.#ids.of(as)
    this.#asked.set(as, request_id)
    return this.#send(this.#ids.rewrite(JSON.stringify({ type: "control_request", request_id, request })))
  }

  /** To a request of the host's; or the echo of an answer of its own, which newer versions send back. */
  async #reply({ reply, to }: Step<"reply">): Promise<boolean> {
    const request_id = this.#bound.get(to) ?? this.#asked.get(to)
    if (request_id === undefined) return true
    const { subtype, ...rest } = reply
    const response = { subtype, request_id, ...rest }
    return this.#send(this.#ids.rewrite(JSON.stringify({ type: "control_response", response })))
  }

  #emit(message: Step<"emit">["emit"]): Promise<boolean> {
    for (const name of ["uuid", "session_id"]) {
      const id = textOf(message, name)
      if (id !== undefined) this.#ids.of(id)
    }
    return this.#send(this.#ids.rewrite(JSON.stringify(message)))
  }

  async #send(line: string): Promise<boolean> {
    try {
      await this.#transport.send(line)
      return true
    } catch {
      // Nobody listens any more.
      return false
    }
  }

  /** Along one line of time, so that a thousand short waits are as long as they were together. */
  async #waitFor(afterMs: number): Promise<void> {
    this.#dueAt += afterMs * this.#timeScale
    const ms = this.#dueAt - this.#clock.now()
    if (this.#timeScale > 0 && ms >= 1) await this.#clock.pause(ms, this.#over.signal)
  }

  /** True when it holds; false when no more can come, or the grace is over. */
  async #until(holds: () => boolean, graceMs?: number): Promise<boolean> {
    let isLate = false
    const late = deferred<void>()
    const giveUp = () => {
      isLate = true
      late.resolve()
    }
    const cancel = graceMs === undefined ? () => undefined : this.#clock.timeout(graceMs, giveUp)
    try {
      while (!holds()) {
        // Taken before anything is looked at, so that nothing that comes in meanwhile is slept through.
        const changed = this.#inbox.changes.wait()
        if (this.#inbox.isEnded || isLate || this.#over.signal.aborted) return false
        await this.#answerEarly()
        if (!holds()) await Promise.race([changed, late.promise])
      }
      return true
    } finally {
      cancel()
      // The next step is timed from now on: how long the host took is its own affair.
      this.#dueAt = Math.max(this.#dueAt, this.#clock.now())
    }
  }

  /** While we wait for the host, it may wait for us: what it asked is answered before its place. */
  async #answerEarly(): Promise<void> {
    for (const name of this.#bound.keys()) await this.#replyNow(name)
    for (const live of this.#inbox.requests.slice()) {
      const at = this.#index.requestFor(live.subtype)
      const step = at === undefined ? undefined : this.#replay.replay[at]
      if (live.subtype === this.#awaiting) continue
      if (at === undefined || step === undefined || !("request" in step)) continue
      this.#index.done.add(at)
      this.#inbox.takeRequest(live.subtype)
      this.#bound.set(step.as, live.id)
      if (live.subtype === "initialize") this.#registered.initialize(step.request, live.request)
      await this.#replyNow(step.as)
    }
  }

  async #replyNow(name: string): Promise<void> {
    for (const at of this.#index.repliesTo(name)) {
      const step = this.#replay.replay[at]
      if (step === undefined || !("reply" in step)) continue
      this.#index.done.add(at)
      await this.#reply(step)
    }
  }

  /** Requests that the recorded host never made have no recorded answer. */
  async #answerStrays(): Promise<void> {
    for (const stray of this.#inbox.requests.slice()) {
      const isWanted = stray.subtype === this.#awaiting || this.#index.requestFor(stray.subtype) !== undefined
      if (isWanted) continue
      this.#inbox.requests.splice(this.#inbox.requests.indexOf(stray), 1)
      await this.#send(JSON.stringify({ type: "control_response", response: strayAnswer(stray) }))
    }
  }
}
