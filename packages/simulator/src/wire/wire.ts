import type { Transport } from "@signalbox/transport"
import { Waker } from "@signalbox/transport/pacing"
import type { AgentClock } from "../clock.ts"
import type { Launch } from "../launch/launch.ts"
import type { Fields, WireProfile } from "../profiles/profile.ts"
import type { Randomness } from "../randomness.ts"

/** The parts of an agent that all others need. */
export interface AgentBasics {
  readonly profile: WireProfile
  readonly launch: Launch
  readonly clock: AgentClock
  readonly random: Randomness
  readonly wire: Wire
}

interface WireOptions extends Pick<AgentBasics, "profile" | "clock" | "random"> {
  readonly outbox: Outbox
  readonly sessionId: string
  readonly env: Launch["env"]
}

/** Writes an agent's messages in the form of its version. */
export class Wire {
  readonly #agent: WireOptions
  sessionId: string
  #state = "idle"

  constructor(agent: WireOptions) {
    this.#agent = agent
    this.sessionId = agent.sessionId
  }

  emit(message: Fields): void {
    this.#agent.outbox.push(JSON.stringify(message))
  }

  get outbox(): Outbox {
    return this.#agent.outbox
  }

  /** A `system` message of the later kind: ids at its end. `idsFirst` says which of the two comes first. */
  system(subtype: string, fields: Fields, idsFirst: "session_id" | "uuid" = "session_id"): void {
    const uuid = this.#agent.random.uuid()
    const ids = idsFirst === "uuid" ? { uuid, session_id: this.sessionId } : { session_id: this.sessionId, uuid }
    this.emit({ type: "system", subtype, ...fields, ...ids })
  }

  assistant(message: Fields, extra: Fields = {}, parent: string | null = null): Fields {
    return this.#say("assistant", message, extra, parent)
  }

  user(message: Fields, extra: Fields = {}, parent: string | null = null): Fields {
    return this.#say("user", message, extra, parent)
  }

  /** A message of the host's, or one in its name, as a replay writes it. */
  replay(content: unknown, uuid: string = this.#agent.random.uuid(), extra: Fields = {}): void {
    const timestamp = this.#agent.profile.quirks.timestampsEchoes ? { timestamp: this.timestamp() } : {}
    this.emit({
      type: "user",
      message: { role: "user", content },
      session_id: this.sessionId,
      parent_tool_use_id: null,
      uuid,
      ...timestamp,
      isReplay: true,
      ...extra,
    })
  }

  /** Only for hosts that want to be told. */
  tellState(state: "idle" | "running" | "requires_action"): void {
    const { profile, env } = this.#agent
    const isForAll = env["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] === "1"
    const isTold = isForAll || env["CLAUDE_CODE_SDK_READS_SESSION_STATE"] === "1"
    if (!isTold || !profile.quirks.tellsState || state === this.#state) return
    this.#state = state
    this.system("session_state_changed", { state, ...(isForAll ? {} : { sdk_host_only: true }) }, "uuid")
  }

  lifecycle(uuid: string | undefined, state: string): void {
    if (uuid === undefined || !this.#agent.profile.quirks.lifecycle) return
    this.emit({
      type: "command_lifecycle",
      command_uuid: uuid,
      state,
      uuid: this.#agent.random.uuid(),
      session_id: this.sessionId,
    })
  }

  success(requestId: string, payload?: unknown): void {
    const response = payload === undefined ? {} : { response: payload }
    this.emit({ type: "control_response", response: { subtype: "success", request_id: requestId, ...response } })
  }

  error(requestId: string, error: string, extra: Fields = {}): void {
    const response = { subtype: "error", request_id: requestId, error, ...extra }
    this.emit({ type: "control_response", response })
  }

  timestamp(): string {
    return new Date(this.#agent.clock.now()).toISOString()
  }

  #say(kind: "assistant" | "user", message: Fields, extra: Fields, parent: string | null): Fields {
    const { profile, random } = this.#agent
    const facts = { sessionId: this.sessionId, uuid: random.uuid(), parent, timestamp: this.timestamp() }
    const said = profile.shapes[kind](message, facts, extra)
    this.emit(said)
    return said
  }
}

// Few enough that they die young: lines that outlive a sweep of the young generation cost a third of a flood.
const FULL_AT = 512

/**
 * The lines an agent has said and its transport has not taken yet. Saying is never awaited, so that what belongs
 * together stays together; whoever says a great deal waits for `room` now and then, and that bounds memory.
 */
export class Outbox {
  readonly #transport: Transport
  #waiting: string[] = []
  #isPumping = false
  #isMuted = false
  #hasGivenUp = false
  readonly #change = new Waker()

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Nothing more goes out. */
  mute(): void {
    this.#isMuted = true
  }

  push(line: string): void {
    if (this.#isMuted) return
    this.#waiting.push(line)
    if (!this.#isPumping) void this.#pump()
  }

  get isFull(): boolean {
    return this.#waiting.length > FULL_AT
  }

  /** Resolves when everything said so far is gone, or can never go. */
  async drained(): Promise<void> {
    while (this.#isPumping && !this.#hasGivenUp) await this.#change.wait()
  }

  /** For one that is told to go: a host that does not read keeps it no longer than this. */
  giveUpAfter(ms: number): void {
    const timer = setTimeout(() => {
      this.#hasGivenUp = true
      this.#change.wake()
    }, ms)
    void this.drained().then(() => clearTimeout(timer))
  }

  async #pump(): Promise<void> {
    this.#isPumping = true
    // Lets the lines of one step gather: a transport that batches gets them together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const lines = this.#waiting
      this.#waiting = []
      try {
        await this.#sendAll(lines)
      } catch {
        // Nobody listens any more. The agent goes on, as a CLI does whose output is closed.
        this.#waiting = []
      }
    }
    this.#isPumping = false
    this.#change.wake()
  }

  /** A transport that need not be waited for gives the same promise every time: that one is waited for once. */
  async #sendAll(lines: readonly string[]): Promise<void> {
    let settled: Promise<void> | undefined
    for (const line of lines) {
      const taken = this.#transport.send(line)
      if (taken === settled) continue
      await taken
      settled = taken
    }
  }
}
