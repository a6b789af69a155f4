import { randomUUID } from "node:crypto"
import type { Hub, HubEvent, SessionState } from "@signalbox/client"
import { type Envelope, encode, textOf } from "@signalbox/protocol"
import { isEnvelope, parseObject } from "@signalbox/protocol/envelope"
import { deferred } from "@signalbox/transport/pacing"
import { startDeadline } from "../base/deadline.ts"
import { queryClosed, SdkError } from "../base/errors.ts"
import type { AgentLink, LinkEnd } from "../launch/open-agent.ts"
import type { ControlRequestBody, HubCursor, HubOptions } from "../types/options.ts"
import {
  type AttachmentInput,
  initialAttachment,
  isOwedSomething,
  judgeAttachment,
  judgeTurn,
  stepAttachment,
} from "./hub-attachment.ts"
import { HubControl } from "./hub-control.ts"
import { HubEvents } from "./hub-events.ts"
import { agentLost, endedAtWork, hubFailure } from "./hub-failures.ts"
import { HubLines, stamped } from "./hub-lines.ts"

export interface HubLinkOptions {
  readonly hub: Hub
  readonly address: HubOptions
  readonly start: HubCursor
  /** Whether the program wants the pieces of messages in progress. */
  readonly wantsPieces: boolean
  /** Whether it wants to be told of hooks that run beside the agent: a runner always asks for that. */
  readonly wantsHookEvents: boolean
  readonly settings: readonly ControlRequestBody[]
  readonly onCaughtUp: () => void
}

const PATIENCE_MS = 600_000
const SETTLE_MS = 3000
const HOOK_EVENTS: ReadonlySet<string> = new Set(["hook_started", "hook_progress", "hook_response"])

/** A hub's agent as the query's: its events from the log and live, its questions and our lines by the raw door. */
export class HubLink implements AgentLink {
  readonly #closed = deferred<LinkEnd>()
  readonly closed: Promise<LinkEnd> = this.#closed.promise
  readonly #options: HubLinkOptions
  readonly #lines = new HubLines()
  readonly #control: HubControl
  readonly #live = deferred<void>()
  #attachment = initialAttachment
  #isOver = false
  #leaving: NodeJS.Timeout | undefined
  /** Runs while the turn under way may have lost its process. */
  #doubt: { readonly about: "away" | "settle"; readonly callOff: () => void } | undefined

  constructor(options: HubLinkOptions) {
    const { hub, address, start, settings } = options
    const patienceMs = address.patienceMs ?? PATIENCE_MS
    this.#options = options
    this.#control = new HubControl({
      hub,
      token: address.token,
      session: start.session,
      patienceMs,
      settings,
      onMessage: (message) => {
        this.#lines.push(encode(message))
        this.#considerLeaving()
      },
      onConnection: (isConnected) => this.#step({ kind: "connection", isConnected }),
      onFailed: (error) => this.#fail(error),
    })
    const events = new HubEvents({
      hub,
      start,
      patienceMs,
      onEvent: (event, cursor) => this.#takeEvent(event, cursor),
      onDelta: (message) => this.#takeDelta(message),
      onCaughtUp: (state) => this.#caughtUp(state),
      onState: (state) => this.#step({ kind: "state", state }),
    })
    this.#control.start()
    events.run().then(
      (note) => this.#ended(note),
      (error: unknown) => this.#fail(hubFailure(error)),
    )
  }

  get batches(): AsyncIterable<readonly string[]> {
    return this.#lines.batches
  }

  async send(line: string): Promise<void> {
    await this.#live.promise
    const message = withUuid(messageIn(line))
    const uuid = message.type === "user" ? textOf(message, "uuid") : undefined
    await this.#control.send(message)
    if (uuid !== undefined) this.#step({ kind: "sent", uuid })
    else this.#considerLeaving()
  }

  endInput(): void {
    this.#step({ kind: "end-wanted" })
  }

  close(reason: string): Promise<void> {
    this.#end({ by: "us", reason })
    return Promise.resolve()
  }

  terminate(reason: string): Promise<void> {
    return this.close(reason)
  }

  async #takeEvent(event: HubEvent, cursor: HubCursor): Promise<void> {
    const { owed } = this.#attachment
    const message = this.#shown(event)
    if (message !== undefined) this.#lines.push(stamped(encode(message), cursor))
    const uuid = textOf(event.message, "message_uuid") ?? ""
    if (event.from === "hub" && event.message["subtype"] === "message_unknown" && owed.has(uuid)) {
      return this.#fail(messageUnknown(uuid))
    }
    this.#tellIdleAfter(event)
    this.#step({ kind: "event", event })
    await this.#lines.room()
  }

  /** Questions are asked by the raw door, control traffic is others', and our own messages we know. */
  #shown({ from, message }: HubEvent): Envelope | undefined {
    if (from === "hub") return message
    if (from === "agent") {
      const isHookEvent = message.type === "system" && HOOK_EVENTS.has(textOf(message, "subtype") ?? "")
      const isUnwanted = isHookEvent && !this.#options.wantsHookEvents
      return message.type === "control_request" || isUnwanted ? undefined : message
    }
    if (message.type !== "user" || this.#control.confirm(textOf(message, "uuid") ?? "")) return undefined
    return { ...message, isReplay: true }
  }

  async #takeDelta(message: Envelope): Promise<void> {
    if (message.type === "stream_event" && !this.#options.wantsPieces) return
    // The hub's own, about messages that wait at the hub; an agent's has a `uuid`.
    if (message.type === "command_lifecycle" && message["uuid"] === undefined) return
    this.#lines.push(encode(message))
    await this.#lines.room()
  }

  async #caughtUp(state: SessionState): Promise<void> {
    await this.#lines.dealtWith()
    if (this.#isOver) return
    this.#options.onCaughtUp()
    const isBusy = state === "running" || state === "waiting"
    this.#lines.push(stateLine(isBusy ? "running" : "idle"))
    this.#step({ kind: "caught-up", state })
    this.#live.resolve()
  }

  /** An agent that does not say when it is idle is so after a result, unless another message waits for it. */
  #tellIdleAfter({ from, message }: HubEvent): void {
    const { isLive, reportsState } = this.#attachment
    if (isLive && !reportsState && from === "agent" && message.type === "result") this.#lines.push(stateLine("idle"))
  }

  #step(input: AttachmentInput): void {
    this.#attachment = stepAttachment(this.#attachment, input)
    this.#considerTurn()
    this.#considerLeaving()
  }

  /** A turn whose process is gone gets no result, and nobody would say so. */
  #considerTurn(): void {
    const verdict = judgeTurn(this.#attachment)
    if (verdict === "lost") return this.#loseTurn("another process has taken the place of the agent's")
    if (verdict === this.#doubt?.about || this.#isOver) return
    this.#doubt?.callOff()
    this.#doubt = undefined
    if (verdict === "sound") return
    const ms = verdict === "away" ? (this.#options.address.patienceMs ?? PATIENCE_MS) : SETTLE_MS
    const why = verdict === "away" ? `the agent went away and did not come back within ${ms} ms` : "its process is gone"
    this.#doubt = { about: verdict, callOff: startDeadline(ms, () => this.#loseTurn(why)) }
  }

  #loseTurn(why: string): void {
    this.#fail(agentLost(this.#options.start.session, why))
  }

  #ended(note: Envelope | undefined): void {
    if (note !== undefined && isOwedSomething(this.#attachment)) {
      return this.#fail(endedAtWork(this.#options.start.session, note))
    }
    this.#end({ by: "peer", reason: "the session is over" })
  }

  #considerLeaving(): void {
    const verdict = judgeAttachment(this.#attachment, this.#control.openQuestions)
    if (verdict === "leave") return this.#end({ by: "us", reason: "the run is over" })
    if (verdict === "settle" && !this.#isOver) {
      this.#leaving ??= setTimeout(() => this.#end({ by: "us", reason: "the run is over" }), SETTLE_MS)
      return
    }
    clearTimeout(this.#leaving)
    this.#leaving = undefined
  }

  #fail(error: Error): void {
    const told = error instanceof SdkError ? error : new SdkError("hub/refused", error.message, { cause: error })
    this.#end({ by: "peer", reason: error.message, error: told })
  }

  /** Detaches. What has arrived is still read. */
  #end(end: LinkEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#leaving)
    this.#doubt?.callOff()
    this.#control.close()
    this.#options.hub.close()
    this.#lines.end()
    this.#live.resolve()
    this.#closed.resolve(end)
  }
}

/** For the query alone: it is not yielded. */
function stateLine(state: "running" | "idle"): string {
  return encode({ type: "system", subtype: "session_state_changed", state, sdk_host_only: true })
}

/** It is by its `uuid` that a message sent twice is one. */
function withUuid(message: Envelope): Envelope {
  return message.type === "user" && message["uuid"] === undefined ? { ...message, uuid: randomUUID() } : message
}

function messageIn(line: string): Envelope {
  const value = parseObject(line)
  if (value === undefined || !isEnvelope(value)) throw queryClosed()
  return value
}

function messageUnknown(uuid: string): SdkError {
  const message =
    "the agent's process died before it confirmed a message, and another took its place; whether it was taken is not known"
  return new SdkError("hub/message-unknown", message, { details: { uuid } })
}
