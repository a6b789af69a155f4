import { randomUUID } from "node:crypto"
import { type Envelope, encode, fieldOf, textOf } from "@signalbox/protocol"
import { readFrontendLine } from "@signalbox/protocol/dialects"
import { HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { Published } from "../session/history.ts"
import type { LiveSession } from "../session/live-session.ts"
import { type ClientPort, refusalLine } from "./ask-view.ts"
import { type ClientHub, RawClient } from "./raw-client.ts"

export interface RelayOptions {
  readonly hub: ClientHub
  /** On loopback, frontends need no token. */
  readonly anonymousRelay: boolean
  /** The policy's switch: whether questions are answered as a plain relay answers them. */
  readonly isAutoApproving: () => boolean
  /** Calls back at each change of the policy, until what it returns is called. */
  readonly watchPolicy: (changed: () => void) => () => void
  readonly trouble: (what: string, error: unknown) => void
}

interface RelayFrontendOptions extends Pick<RelayOptions, "hub" | "isAutoApproving" | "watchPolicy"> {
  readonly caller: Caller
  readonly port: ClientPort
}

const AUTO_APPROVAL_NOTE = "auto-approval is ON: every tool is allowed unseen, as the hub's policy says"
const NO_AUTO_APPROVAL_NOTE = "auto-approval is off: somebody has to answer"

/** A frontend that thinks it is the only one, and that one relay is one agent: it gets every session's lines on one socket. */
export class RelayFrontend {
  readonly #options: RelayFrontendOptions
  readonly #clients = new Map<string, RawClient>()
  readonly #ends: readonly (() => void)[]
  /** As it was last told. */
  #isAutoApproving = false
  #taken: Promise<unknown> = Promise.resolve()

  constructor(options: RelayFrontendOptions) {
    this.#options = options
    const { hub } = options
    const endWatching = hub.fanOut.watchAll({
      published: (id, items) => this.#published(id, items),
      changed: (view) => void this.#clientOf(view.id),
    })
    this.#ends = [endWatching, options.watchPolicy(() => this.#tellAutoApproval())]
    if (this.#hasAgent()) this.#status("claude code is connected")
    this.#tellAutoApproval()
    for (const session of hub.registry.allLoaded()) {
      // This kind of frontend does not ask for what is open.
      const client = session.isEnded ? undefined : this.#clientOf(session.id)
      client?.showInProgress()
      void client?.showOpenAsks()
    }
  }

  take(line: string): Promise<void> {
    const decoded = readFrontendLine(line, { newRequestId: randomUUID })
    if (decoded.kind === "malformed") return Promise.resolve()
    const { message } = decoded
    if (message.type === "keep_alive" || message.type === "auth") return Promise.resolve()
    // One after the other: what is said first arrives first.
    const client = this.#taken.then(async () => {
      const session = await this.#sessionFor(message)
      return session === undefined ? undefined : this.#clientOf(session.id)
    })
    const taken = client.then((named) => ({ taking: named?.takeMessage(message) }))
    this.#taken = taken.catch(() => undefined)
    return this.#answer(taken)
  }

  async #answer(taken: Promise<{ taking: Promise<void> | undefined }>): Promise<void> {
    const { taking } = await taken
    if (taking !== undefined) return taking
    const error = new HubError("session/no-agent", "no agent is connected: start one and send it again")
    this.#options.port.tell(refusalLine(error))
  }

  close(): void {
    for (const end of this.#ends) end()
    for (const client of this.#clients.values()) client.close()
    this.#clients.clear()
  }

  /** By the session it names, an answer by the question it answers, anything else to the only or the latest one. */
  async #sessionFor(message: Envelope): Promise<LiveSession | undefined> {
    const { registry, asks } = this.#options.hub
    const id = textOf(message, "session_id")
    const named =
      id === undefined || id === "" ? undefined : ((await registry.byAgentId(id)) ?? (await registry.find(id)))
    // Where its conversation goes on; when it is over it is nobody else's message.
    if (named !== undefined) return registry.newestOf(named.id)
    const sessions = [...registry.allLoaded()].filter((session) => !session.isEnded)
    const answered = textOf(fieldOf(message, "response"), "request_id")
    if (answered !== undefined) {
      return sessions.find((session) => asks.pendingOf(session.id).some((ask) => ask.requestId === answered))
    }
    const connected = sessions.filter((session) => session.wire !== undefined)
    return newest(connected.length > 0 ? connected : sessions)
  }

  #clientOf(sessionId: string): RawClient | undefined {
    const { hub, caller, port } = this.#options
    const known = this.#clients.get(sessionId)
    const session = hub.registry.loaded(sessionId)
    if (known !== undefined) return known
    if (session === undefined || session.isEnded) return undefined
    // Its session's end is not the end of this socket.
    const client = new RawClient({ hub, session, caller, port: { ...portOf(port), end: () => undefined } })
    this.#clients.set(sessionId, client)
    return client
  }

  #published(sessionId: string, items: readonly Published[]): void {
    if (!this.#clients.has(sessionId)) this.#clientOf(sessionId)?.published(items)
    for (const item of items) {
      if (item.kind === "event" && item.event.from === "hub") this.#noteOf(sessionId, textOf(item.message, "subtype"))
    }
  }

  #noteOf(sessionId: string, subtype: string | undefined): void {
    if (subtype === "connected") this.#status("claude code connected")
    if (subtype === "ended" || subtype === "rotated") {
      this.#clients.get(sessionId)?.close()
      this.#clients.delete(sessionId)
    }
    const isGone = subtype === "disconnected" || subtype === "ended"
    if (isGone && !this.#hasAgent()) this.#status("claude code disconnected")
  }

  #tellAutoApproval(): void {
    const isOn = this.#options.isAutoApproving()
    if (isOn === this.#isAutoApproving) return
    this.#isAutoApproving = isOn
    this.#status(isOn ? AUTO_APPROVAL_NOTE : NO_AUTO_APPROVAL_NOTE)
  }

  #hasAgent(): boolean {
    for (const session of this.#options.hub.registry.allLoaded()) if (session.wire !== undefined) return true
    return false
  }

  /** No CLI says this: the relay does. */
  #status(text: string): void {
    this.#options.port.ask(encode({ type: "status", text }))
  }
}

function portOf(port: ClientPort): Omit<ClientPort, "end"> {
  return {
    event: (line, event) => port.event(line, event),
    delta: (line, isSpeech) => port.delta(line, isSpeech),
    ask: (line) => port.ask(line),
    tell: (line) => port.tell(line),
  }
}

function newest(sessions: readonly LiveSession[]): LiveSession | undefined {
  return sessions.reduce<LiveSession | undefined>(
    (latest, session) =>
      latest !== undefined && latest.record.createdAt > session.record.createdAt ? latest : session,
    undefined,
  )
}
