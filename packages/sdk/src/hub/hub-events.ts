import type { FollowItem, Hub, HubEvent, SessionState } from "@signalbox/client"
import { type Envelope, textOf } from "@signalbox/protocol"
import { startDeadline } from "../base/deadline.ts"
import { SdkError } from "../base/errors.ts"
import type { HubCursor } from "../types/options.ts"
import { sessionEnded, unreachable } from "./hub-failures.ts"

export interface HubEventsOptions {
  readonly hub: Hub
  readonly start: HubCursor
  readonly patienceMs: number
  /** Each event once, in order. The log is not read on until it resolves. */
  readonly onEvent: (event: HubEvent, cursor: HubCursor) => Promise<void>
  readonly onDelta: (message: Envelope) => Promise<void>
  /** All that the log had when we came has been told. The events that follow wait until it resolves. */
  readonly onCaughtUp: (state: SessionState) => Promise<void>
  /** The session's state, as the hub sees it; this may overtake events. */
  readonly onState: (state: SessionState) => void
}

/** The end of following one session; undefined where it goes on. */
type Course =
  /** The conversation goes on in another session. */
  | { readonly name: "moved"; readonly next: string }
  /** `note` is the hub's, on how the agent ended. */
  | { readonly name: "over"; readonly note?: Envelope }

/** A session's lines, from the cursor on: first from the hub's log, then live, without a gap or a duplicate. */
export class HubEvents {
  readonly #options: HubEventsOptions
  #cursor: HubCursor
  #state: SessionState | undefined
  /** The end of the log when we came. */
  #target: number | undefined
  #isLive = false
  #endPatience: (() => void) | undefined
  #lost: SdkError | undefined

  constructor(options: HubEventsOptions) {
    this.#options = options
    this.#cursor = options.start
  }

  /**
   * Resolves when the session is over, with the hub's note of it, or following was ended from outside; rejects when it
   * cannot be followed.
   */
  async run(): Promise<Envelope | undefined> {
    try {
      for (;;) {
        const course = await this.#follow()
        if (course.name !== "moved") return course.name === "over" ? course.note : undefined
        this.#cursor = { session: course.next, after: 0 }
        this.#state = undefined
        this.#target = undefined
      }
    } finally {
      this.#endPatience?.()
    }
  }

  async #follow(): Promise<Course> {
    const { session, after } = this.#cursor
    const giveUp = new AbortController()
    try {
      for await (const item of this.#options.hub.session(session).follow({ after, signal: giveUp.signal })) {
        const course = await this.#take(item, giveUp)
        if (course !== undefined) return course
      }
      return { name: "over" }
    } catch (error) {
      throw this.#lost ?? error
    }
  }

  async #take(item: FollowItem, giveUp: AbortController): Promise<Course | undefined> {
    switch (item.type) {
      case "subscribed":
        this.#endPatience?.()
        if (item.verdict === "gap") throw gap(this.#cursor, item.lastSeq)
        this.#target ??= item.lastSeq
        return undefined
      case "changed":
        this.#state = item.session.state
        if (this.#isLive) this.#options.onState(item.session.state)
        await this.#considerCaughtUp()
        return undefined
      case "event":
        return this.#takeEvent(item)
      case "delta":
        await this.#options.onDelta(item.message)
        return undefined
      case "disconnected":
        this.#waitFor(giveUp, item.reason)
        return undefined
      case "ask":
      case "read":
      case "purged":
        return undefined
    }
  }

  async #takeEvent(event: HubEvent): Promise<Course | undefined> {
    const { from, message, seq } = event
    this.#cursor = { session: this.#cursor.session, after: seq }
    await this.#options.onEvent(event, this.#cursor)
    const next = from === "hub" && message["subtype"] === "rotated" ? textOf(message, "next") : undefined
    if (next !== undefined) return { name: "moved", next }
    if (from === "hub" && message["subtype"] === "ended" && this.#isLive) return { name: "over", note: message }
    await this.#considerCaughtUp()
    return undefined
  }

  async #considerCaughtUp(): Promise<void> {
    if (this.#isLive || this.#state === undefined || this.#cursor.after < (this.#target ?? 0)) return
    if (this.#state === "ended") throw sessionEnded(this.#cursor.session)
    this.#isLive = true
    await this.#options.onCaughtUp(this.#state)
  }

  #waitFor(giveUp: AbortController, reason: string): void {
    const { patienceMs } = this.#options
    this.#endPatience?.()
    this.#endPatience = startDeadline(patienceMs, () => {
      this.#lost = unreachable(`the hub went away (${reason}) and did not come back within ${patienceMs} ms`)
      giveUp.abort()
    })
  }
}

function gap({ session, after }: HubCursor, lastSeq: number): SdkError {
  const message = `the log of session ${session} has nothing to go on from after event ${after}: its last is ${lastSeq}. Begin with after: 0`
  return new SdkError("hub/gap", message, { details: { session, after, lastSeq } })
}
