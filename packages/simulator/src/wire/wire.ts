import type { AgentClock } from "../clock.ts"
import type { Fields, MessageFacts, WireProfile } from "../profiles/profile.ts"
import type { Randomness } from "../randomness.ts"
import type { Outbox } from "./outbox.ts"

/** Writes an agent's messages in the form of its version. */
export class Wire {
  readonly #outbox: Outbox
  readonly #profile: WireProfile
  readonly #clock: AgentClock
  readonly #random: Randomness
  /** Told of every message that goes out, before it does. */
  onMessage: (message: Fields) => void = () => undefined
  sessionId: string
  readonly #tellsState: "all" | "host-only" | false
  #state = "idle"

  constructor(options: {
    outbox: Outbox
    profile: WireProfile
    clock: AgentClock
    random: Randomness
    sessionId: string
    tellsState: "all" | "host-only" | false
  }) {
    this.#outbox = options.outbox
    this.#profile = options.profile
    this.#clock = options.clock
    this.#random = options.random
    this.sessionId = options.sessionId
    this.#tellsState = options.profile.quirks.tellsState ? options.tellsState : false
  }

  emit(message: Fields): void {
    this.onMessage(message)
    this.#outbox.push(JSON.stringify(message))
  }

  /** A line that was put together by hand: deltas come by the hundred thousand. */
  emitLine(line: string): void {
    this.#outbox.push(line)
  }

  get isFull(): boolean {
    return this.#outbox.isFull
  }

  drained(): Promise<void> {
    return this.#outbox.drained()
  }

  /** A `system` message of the later kind: ids at its end. `idsFirst` says which of the two comes first. */
  system(subtype: string, fields: Fields, idsFirst: "session_id" | "uuid" = "session_id"): void {
    const uuid = this.#random.uuid()
    const ids = idsFirst === "uuid" ? { uuid, session_id: this.sessionId } : { session_id: this.sessionId, uuid }
    this.emit({ type: "system", subtype, ...fields, ...ids })
  }

  assistant(message: Fields, extra: Fields = {}, parent: string | null = null): Fields {
    const said = this.#profile.shapes.assistant(message, this.#facts(parent), extra)
    this.emit(said)
    return said
  }

  user(message: Fields, extra: Fields = {}, parent: string | null = null): Fields {
    const said = this.#profile.shapes.user(message, this.#facts(parent), extra)
    this.emit(said)
    return said
  }

  /** A message of the host's, or one in its name, as a replay writes it. */
  replay(content: unknown, uuid: string = this.#random.uuid()): void {
    const timestamp = this.#profile.quirks.timestampsEchoes ? { timestamp: this.timestamp() } : {}
    this.emit({
      type: "user",
      message: { role: "user", content },
      session_id: this.sessionId,
      parent_tool_use_id: null,
      uuid,
      ...timestamp,
      isReplay: true,
    })
  }

  /** Only for hosts that want to be told. */
  tellState(state: "idle" | "running" | "requires_action"): void {
    if (!this.#tellsState || state === this.#state) return
    this.#state = state
    const host = this.#tellsState === "host-only" ? { sdk_host_only: true } : {}
    this.system("session_state_changed", { state, ...host }, "uuid")
  }

  lifecycle(uuid: string | undefined, state: string): void {
    if (uuid === undefined || !this.#profile.quirks.lifecycle) return
    this.emit({
      type: "command_lifecycle",
      command_uuid: uuid,
      state,
      uuid: this.#random.uuid(),
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
    return new Date(this.#clock.now()).toISOString()
  }

  #facts(parent: string | null): MessageFacts {
    return { sessionId: this.sessionId, uuid: this.#random.uuid(), parent, timestamp: this.timestamp() }
  }
}
