import { randomUUID } from "node:crypto"
import { type Envelope, encode, textOf } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import { type StoredEvent, wireObject } from "../model/event.ts"
import type { OutgoingMessage } from "../model/session-record.ts"
import type { Directory } from "../store/directory.ts"
import type { EventLog } from "../store/event-log.ts"
import type { AgentWire } from "./agent-control.ts"
import { cancelledKey, type SessionHistory } from "./history.ts"
import { TakenMessages } from "./taken-messages.ts"

export interface MessageDeskOptions {
  readonly sessionId: string
  readonly directory: Directory
  readonly log: EventLog
  readonly history: SessionHistory
  readonly now?: (() => Date) | undefined
}

/** Where it stands in the session's log. */
export interface Accepted {
  readonly uuid: string
  readonly seq: number
}

/**
 * Messages that a process that is over did not take: all that it has not confirmed, or what is named, and what
 * was sent after the last that arrived (null: nothing did; left out: not known).
 */
export type NotTaken = "unconfirmed" | { readonly uuids: readonly string[]; readonly lastReceived?: string | null }

const MAX_OPEN = 200
/** The end of the log in which messages are looked for that an agent has not taken up. */
const RECALLED = { limit: 200, maxBytes: 1024 * 1024 }

const RECEIPTS: ReadonlySet<unknown> = new Set(["started", "completed"])

/**
 * User messages on their way to the agent. Each is durable before it is confirmed to its sender, sent once per process,
 * again to the same process after a reconnect (a CLI takes one `uuid` once), and never again to another one.
 */
export class MessageDesk {
  readonly #options: MessageDeskOptions
  readonly #accepting = new Map<string, Promise<Accepted>>()
  readonly #taken = new TakenMessages()
  #open: OutgoingMessage[] = []
  #delivering: Promise<void> = Promise.resolve()

  constructor(options: MessageDeskOptions) {
    this.#options = options
  }

  /** A message whose event did not make it into the log before a kill gets it now. `isAway`: its agent may come back. */
  async load({ isAway }: { readonly isAway: boolean }): Promise<void> {
    const { directory, sessionId, history } = this.#options
    this.#open = [...(await directory.openMessages(sessionId))]
    if (isAway) await this.#recall()
    for (const { seq, line, by, uuid } of this.#open) {
      this.#taken.sent(uuid, parse(line), { by, isOld: true })
      if (seq === 0) await history.record("client", parse(line), { by, key: uuid, line })
    }
  }

  /** A message that the agent has confirmed and not taken up is open no more: the end of the log tells of it. */
  async #recall(): Promise<void> {
    const { directory, log, sessionId } = this.#options
    const { lastSeq } = await log.bounds(sessionId)
    this.#taken.recall(await log.read(sessionId, { before: lastSeq + 1, ...RECALLED }))
    for (const uuid of this.#taken.uuids) {
      if ((await directory.getMessage(sessionId, uuid))?.state === "cancelled") this.#taken.forget(uuid)
    }
  }

  /** How many were sent to no process yet. */
  get waiting(): number {
    return this.#open.filter(({ state }) => state === "waiting").length
  }

  /** How many no process has confirmed yet. */
  get unconfirmed(): number {
    return this.#open.length
  }

  /** Nothing is on its way. `mayWait`: messages of this session may wait in the store. Those that moved here are not found there. */
  isQuiet(mayWait: boolean): boolean {
    const stays = ({ sessionId }: OutgoingMessage) => mayWait && sessionId === this.#options.sessionId
    return this.#accepting.size === 0 && this.#open.every(stays)
  }

  /** Whether the session has this very message already. */
  async has(message: Envelope): Promise<boolean> {
    const uuid = textOf(message, "uuid")
    if (uuid === undefined) return false
    return (await this.#options.log.find(this.#options.sessionId, uuid)) !== undefined
  }

  /** A user message, from whoever. Without a `uuid` it gets one: it is what makes a repeat harmless. */
  accept(message: Envelope, by: string): Promise<Accepted> {
    const uuid = textOf(message, "uuid") ?? randomUUID()
    const underWay = this.#accepting.get(uuid)
    if (underWay !== undefined) return underWay
    const accepting = this.#accept(message, by, uuid).finally(() => this.#accepting.delete(uuid))
    this.#accepting.set(uuid, accepting)
    return accepting
  }

  async #accept(message: Envelope, by: string, uuid: string): Promise<Accepted> {
    const { directory, log, sessionId, history } = this.#options
    const known = await log.find(sessionId, uuid)
    if (known !== undefined && !(await this.#isOnlySaid(known, uuid))) return { uuid, seq: known.seq }
    if (this.#open.length >= MAX_OPEN) throw queueFull(this.#open.length)
    const wire = { ...message, uuid }
    const line = encode(wire)
    const at = (this.#options.now?.() ?? new Date()).toISOString()
    const kept: OutgoingMessage = { uuid, sessionId, seq: 0, state: "waiting", incarnation: null, line, by, at }
    this.#open.push(kept)
    this.#tell(uuid, "queued")
    this.#taken.sent(uuid, wire, { by })
    try {
      const recording = history.record("client", wire, { by, key: uuid, line })
      const [, stored] = await Promise.all([directory.addMessage(kept), recording])
      const seq = stored?.seq ?? (await log.find(sessionId, uuid))?.seq ?? 0
      return { uuid, seq }
    } catch (error) {
      this.#drop(uuid)
      this.#taken.forget(uuid)
      // Its sender is told that it was not taken: half of it must not be found and sent after a restart.
      // Not awaited: a full disk takes it only when there is room again, and the sender is told at once.
      void directory.setMessageState(sessionId, uuid, "cancelled", null).catch(() => undefined)
      throw error
    }
  }

  /**
   * The history has the message, the list of messages to send does not, or has it as cancelled though nobody took it back: an
   * earlier try was refused halfway, and the agent would never get it.
   */
  async #isOnlySaid({ from }: StoredEvent, uuid: string): Promise<boolean> {
    const { directory, sessionId, history, log } = this.#options
    if (from !== "client" || this.holds(uuid)) return false
    const kept = await directory.getMessage(sessionId, uuid)
    if (kept?.state !== "cancelled") return kept === undefined
    // The note of somebody who took it back just now may be on its way into the log.
    await history.settled()
    return (await log.find(sessionId, cancelledKey(uuid))) === undefined
  }

  /** Sends what waits, in order. */
  deliver(wire: AgentWire): Promise<void> {
    this.#delivering = this.#delivering.then(() => this.#deliverAll(wire)).catch(() => undefined)
    return this.#delivering
  }

  /** Resolves when those that are on their way are on the wire. */
  delivered(): Promise<void> {
    return this.#delivering
  }

  /** The same process is back: what it has not confirmed is sent again, and it ignores what it has. */
  sendAgain(wire: AgentWire): Promise<void> {
    this.#open = this.#open.map((message) =>
      message.state === "sent" && message.incarnation === wire.incarnation ? { ...message, state: "waiting" } : message,
    )
    return this.deliver(wire)
  }

  /** Another process took the place: whether the old one took a message before it died is not known. */
  async newProcess(incarnation: string): Promise<readonly OutgoingMessage[]> {
    this.#taken.newProcess()
    const lost = this.#open.filter((message) => message.state === "sent" && message.incarnation !== incarnation)
    for (const message of lost) await this.#settle(message, "unknown")
    return lost
  }

  /** The process is over: what it never took waits again. */
  async takeBack(incarnation: string, notTaken: NotTaken): Promise<void> {
    const { directory } = this.#options
    // One that is just being sent counts as sent, and not as waiting, when it is looked at.
    await this.#delivering
    const back = new Set<OutgoingMessage>()
    for (const message of this.#open) {
      const isSentToIt = message.state === "sent" && message.incarnation === incarnation
      if (isSentToIt && (await this.#isNotTaken(message, notTaken))) back.add(message)
    }
    this.#open = this.#open.map((message) =>
      back.has(message) ? { ...message, state: "waiting", incarnation: null } : message,
    )
    for (const { sessionId, uuid } of back) await directory.setMessageState(sessionId, uuid, "waiting", null)
  }

  async #isNotTaken({ uuid, sessionId }: OutgoingMessage, notTaken: NotTaken): Promise<boolean> {
    if (notTaken === "unconfirmed" || notTaken.uuids.includes(uuid)) return true
    const { lastReceived } = notTaken
    if (lastReceived == null || lastReceived === uuid) return lastReceived === null
    const { log } = this.#options
    const [last, own] = await Promise.all([log.find(sessionId, lastReceived), log.find(sessionId, uuid)])
    // The last that arrived belongs to another session of this conversation: what was meant for this one came after it.
    if (last === undefined || own === undefined) return sessionId === this.#options.sessionId
    return own.seq > last.seq
  }

  /** A line of the agent, before it goes into the log: that has the place where a message which waited was taken up. */
  heard(message: Envelope): void {
    // Its own report is a receipt: what joins a turn that is under way is not echoed, and no turn begins with it.
    if (message.type === "command_lifecycle" && RECEIPTS.has(message["state"]))
      this.confirm(textOf(message, "command_uuid") ?? "")
    for (const { uuid, by, text } of this.#taken.heard(message)) {
      const note = { type: "hub", subtype: "message_taken", message_uuid: uuid, text }
      const how = { by, key: `message_taken:${uuid}`, line: encode(note) }
      void this.#options.history.record("hub", note, how).catch(() => undefined)
    }
  }

  /** The agent echoed it. */
  confirm(uuid: string): void {
    const message = this.#open.find((candidate) => candidate.uuid === uuid)
    if (message !== undefined) void this.#settle(message, "confirmed").catch(() => undefined)
  }

  /** A turn began: what was sent has arrived, with CLIs that echo nothing too. */
  confirmSent(incarnation: string | undefined): void {
    for (const { state, uuid, incarnation: sentTo } of this.#open) {
      if (state === "sent" && (incarnation === undefined || sentTo === incarnation)) this.confirm(uuid)
    }
  }

  /** The conversation goes on elsewhere: what is still on its way goes along. */
  moveTo(next: MessageDesk): void {
    next.#open = [...next.#open, ...this.#open]
    this.#open = []
  }

  /** Whether it waits here, or is on its way and not confirmed. */
  holds(uuid: string): boolean {
    return this.#open.some((message) => message.uuid === uuid)
  }

  /** Whether the history has it, as something that was said to the agent. */
  async wasSaid(uuid: string): Promise<boolean> {
    const { log, sessionId } = this.#options
    return (await log.find(sessionId, uuid))?.from === "client"
  }

  /** Whether it was taken back: a waiting one is, here; a sent one only the agent can take back. */
  async cancel(uuid: string): Promise<boolean> {
    const message = this.#open.find((candidate) => candidate.uuid === uuid)
    if (message?.state !== "waiting") return false
    await this.#settle(message, "cancelled")
    this.#tell(uuid, "cancelled")
    return true
  }

  /** The agent took it back: it goes to no process again. */
  async agentCancelled(uuid: string): Promise<void> {
    const message = this.#open.find((candidate) => candidate.uuid === uuid)
    if (message !== undefined) await this.#settle(message, "cancelled")
  }

  async #deliverAll(wire: AgentWire): Promise<void> {
    const { directory } = this.#options
    for (const message of this.#open.filter((candidate) => candidate.state === "waiting")) {
      if (!this.#open.includes(message)) continue
      // Noted before it is sent: after a kill in between it is "unknown", never sent to a second process by itself.
      await directory.setMessageState(message.sessionId, message.uuid, "sent", wire.incarnation)
      // Taken back, or refused by the store, meanwhile.
      if (!this.#open.includes(message)) continue
      const sent: OutgoingMessage = { ...message, state: "sent", incarnation: wire.incarnation }
      this.#open = this.#open.map((candidate) => (candidate === message ? sent : candidate))
      try {
        await wire.send(parse(message.line))
      } catch {
        // The connection is over, or this agent cannot take the line: it is tried again when the process is back.
        return
      }
    }
  }

  async #settle(message: OutgoingMessage, state: "confirmed" | "unknown" | "cancelled"): Promise<void> {
    this.#drop(message.uuid)
    if (state !== "confirmed") this.#taken.forget(message.uuid)
    await this.#options.directory.setMessageState(message.sessionId, message.uuid, state, message.incarnation)
  }

  #drop(uuid: string): void {
    this.#open = this.#open.filter((message) => message.uuid !== uuid)
  }

  /** Viewers are told how a message is doing. */
  #tell(uuid: string, state: string): void {
    const lifecycle = { type: "command_lifecycle", command_uuid: uuid, state }
    this.#options.history.delta(encode(lifecycle), lifecycle)
  }
}

function parse(line: string): Envelope {
  const message = wireObject(line)
  if (message === undefined) throw new Error("a kept message is no message")
  return message
}

function queueFull(count: number): HubError {
  return new HubError(
    "session/queue-full",
    `${count} messages wait for this agent already: wait until it is back, or cancel some`,
  )
}
