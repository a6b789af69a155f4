import { constants } from "node:os"
import type { Closed, Transport } from "@signalbox/transport"
import { deferred } from "@signalbox/transport/pacing"
import { createClock } from "../clock.ts"
import { createRandomness, type Randomness } from "../randomness.ts"
import { type FaultSignal, parseFault } from "./parse-fault.ts"
import {
  beginFaults,
  createFaultPlan,
  type FaultAction,
  type FaultPlan,
  floodLines,
  stepFaults,
  unmetFaults,
} from "./plan.ts"

/** Effects that no line has. */
export interface FaultEffects {
  /** The process ends, or what stands for it. What was written before has left. */
  exit(code: number): void | Promise<void>
  kill(signal: FaultSignal): void | Promise<void>
  /** Breaks the connection off without a word. */
  cut(): void | Promise<void>
  /** Writes text that is not a whole line. */
  writePiece(text: string): Promise<void>
}

interface FaultyOptions {
  readonly plan: FaultPlan
  readonly effects: FaultEffects
  /** Not the agent's own ids: a fault must not change what comes after it. */
  readonly random: Randomness
}

const MAX_LATE_LINES = 1000
const FLOOD_BATCHES_PER_SECOND = 100

/** A transport on which things go wrong as planned: `stepFaults` says what, this does it. */
export class FaultyTransport implements Transport {
  readonly lines: AsyncIterable<string>
  readonly closed: Promise<Closed>
  readonly #abandoning = deferred<void>()
  /** Resolves when nothing is written any more, whatever is still under way. */
  readonly abandoned: Promise<void> = this.#abandoning.promise
  readonly #inner: Transport
  readonly #options: FaultyOptions
  /** Faults keep real time: no time scale shortens them. */
  readonly #clock = createClock()
  readonly #over = new AbortController()
  readonly #late = new Set<Promise<void>>()
  #plan: FaultPlan
  #last: Promise<void>
  #hanging: Promise<void> | undefined
  ignoresTerm = false

  constructor(inner: Transport, options: FaultyOptions) {
    this.#inner = inner
    this.#options = options
    this.lines = this.#read()
    this.closed = inner.closed
    const { plan, actions } = beginFaults(options.plan)
    this.#plan = plan
    // Not before whoever opens this has what the effects are about.
    this.#last = Promise.resolve()
      .then(() => this.#performAll(actions))
      .catch(() => undefined)
  }

  send(line: string): Promise<void> {
    const sent = this.#last.then(() => this.#write(line))
    this.#last = sent.catch(() => undefined)
    return sent
  }

  async close(reason?: string): Promise<void> {
    await this.settled()
    await this.#inner.close(reason)
  }

  /** Resolves when every line that was held back has gone. */
  async settled(): Promise<void> {
    await this.#last
    await Promise.all(this.#late)
  }

  /** Ends every wait; nothing is written any more. */
  abandon(): void {
    this.#over.abort()
    this.#abandoning.resolve()
  }

  /** Faults whose place has not come. */
  unmet(): string[] {
    return unmetFaults(this.#plan)
  }

  async *#read(): AsyncGenerator<string> {
    for await (const line of this.#inner.lines) {
      await this.#hanging
      yield line
    }
    // A process that hangs does not notice that its input has ended.
    await this.#hanging
  }

  async #write(line: string): Promise<void> {
    const { plan, actions } = stepFaults(this.#plan, line)
    this.#plan = plan
    await this.#performAll(actions)
  }

  async #performAll(actions: readonly FaultAction[]): Promise<void> {
    for (const action of actions) {
      if (this.#over.signal.aborted) return
      await this.#perform(action)
    }
  }

  async #perform(action: FaultAction): Promise<void> {
    const { effects } = this.#options
    switch (action.do) {
      case "send":
        return this.#inner.send(action.line)
      case "piece":
        return effects.writePiece(action.text)
      case "wait":
        return this.#pause(action.ms)
      case "late":
        return this.#sendLate(action.line, action.ms)
      case "hang":
        this.#hanging = this.#pause(action.ms)
        return this.#hanging
      case "flood":
        return this.#flood(action)
      case "exit":
        this.abandon()
        return effects.exit(action.code)
      case "kill":
        // A process that was stopped may be told to go on.
        if (action.signal !== "SIGSTOP") this.abandon()
        return effects.kill(action.signal)
      case "cut":
        return effects.cut()
      case "ignore-term":
        this.ignoresTerm = true
        return
    }
  }

  #pause(ms: number): Promise<void> {
    return this.#clock.pause(ms, this.#over.signal)
  }

  async #sendLate(line: string, ms: number): Promise<void> {
    if (this.#late.size >= MAX_LATE_LINES) await Promise.race(this.#late)
    const sent = this.#pause(ms)
      .then(() => (this.#over.signal.aborted ? undefined : this.#inner.send(line)))
      // The host is gone: the agent goes on without it.
      .catch(() => undefined)
      .finally(() => this.#late.delete(sent))
    this.#late.add(sent)
  }

  /** Never more than a batch ahead of what the host takes, and never faster than asked. */
  async #flood({ perSecond, seconds, sessionId }: Extract<FaultAction, { do: "flood" }>): Promise<void> {
    const clock = this.#clock
    const batch = Math.ceil(perSecond / FLOOD_BATCHES_PER_SECOND)
    const startedAt = clock.now()
    let sent = 0
    let taken: Promise<void>[] = []
    for (const line of floodLines(perSecond * seconds, sessionId, () => this.#options.random.uuid())) {
      taken.push(this.#inner.send(line))
      if (++sent % batch !== 0) continue
      await Promise.all(taken)
      taken = []
      if (this.#over.signal.aborted) return
      const earlyMs = (sent / perSecond) * 1000 - (clock.now() - startedAt)
      // Also when it is late: a road that takes everything at once would leave no time for anything else.
      await this.#pause(Math.max(0, earlyMs))
    }
    await Promise.all(taken)
  }
}

/** Without a seed faults come as they came the last time: a fault one cannot see again is of no use. */
const DEFAULT_SEED = 1

/** The faults of one agent, over its road to the host; undefined where nothing is to go wrong. */
export function openFaulty(
  transport: Transport,
  specs: readonly string[],
  options: { seed: number | undefined; sessionId: string; effects: FaultEffects },
): FaultyTransport | undefined {
  if (specs.length === 0) return undefined
  const { seed = DEFAULT_SEED, sessionId, effects } = options
  const plan = createFaultPlan(specs.map(parseFault), seed, sessionId)
  return new FaultyTransport(transport, { plan, effects, random: createRandomness(seed) })
}

/** Puts an agent's faults over its road, once it has a session; `end` ends the agent. */
export type OpenFaults = (agent: { sessionId: string; end: (code: number) => void }) => FaultyTransport | undefined

/** The faults of the scenario, and those asked for besides. */
export function faultsOver(options: {
  readonly transport: Transport
  readonly scenario?: { readonly faults?: readonly string[] } | undefined
  readonly faults?: readonly string[]
  readonly seed?: number | undefined
  readonly faultEffects?: Partial<FaultEffects>
}): OpenFaults {
  const { transport, scenario, faults = [], seed, faultEffects } = options
  const specs = [...(scenario?.faults ?? []), ...faults]
  return ({ sessionId, end }) => {
    const effects = { ...effectsInProcess(transport, end), ...faultEffects }
    return openFaulty(transport, specs, { seed, sessionId, effects })
  }
}

/** For an agent that is no process of its own: it ends, and the connection with it. */
function effectsInProcess(transport: Transport, end: (code: number) => void): FaultEffects {
  const exit = async (code: number) => {
    end(code)
    await transport.close("the agent has ended")
  }
  return {
    exit,
    kill: (signal) => (signal === "SIGSTOP" ? undefined : exit(128 + constants.signals[signal])),
    cut: () => transport.close("the connection broke off"),
    writePiece: (text) => transport.send(text),
  }
}
