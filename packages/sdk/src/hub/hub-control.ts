import { type DirectConnection, type DirectEnd, type Hub, openDirect } from "@signalbox/client"
import {
  composeCancel,
  composeError,
  composeRequest,
  type Envelope,
  fieldOf,
  isObject,
  textOf,
} from "@signalbox/protocol"
import { isEnvelope } from "@signalbox/protocol/envelope"
import { Waker } from "@signalbox/transport/pacing"
import { queryClosed } from "../base/errors.ts"
import { PENDING_LISTS, payloadOf } from "../base/wire.ts"
import type { ControlRequestBody } from "../types/options.ts"
import { comeBack, whyRefused } from "./come-back.ts"
import { OpenQuestions } from "./hub-attachment.ts"
import { hubFailure, noteFailure, unreachable } from "./hub-failures.ts"

export interface HubControlOptions {
  readonly hub: Hub
  readonly token: string
  readonly session: string
  readonly patienceMs: number
  /** Asked of the agent once, before the first message. */
  readonly settings: readonly ControlRequestBody[]
  /** A question, its end, or an answer of the agent's. */
  readonly onMessage: (message: Envelope) => void
  readonly onConnection: (isConnected: boolean) => void
  readonly onFailed: (error: Error) => void
}

type Phase =
  | { readonly name: "away" }
  /** Connected, and `initialize` is not answered yet: nothing else is sent. */
  | { readonly name: "greeting"; readonly direct: DirectConnection }
  | { readonly name: "ready"; readonly direct: DirectConnection }
  | { readonly name: "over" }

const MAX_UNLOGGED = 100
const LOST = "the connection to the hub was lost before the answer came; whether the agent has done it is not known"

/**
 * The host's side of the wire on a session: what is said to the agent, and what it asks. It comes back by itself, brings
 * hooks and servers again, and repeats what the hub may not have.
 */
export class HubControl {
  readonly #options: HubControlOptions
  #phase: Phase = { name: "away" }
  #initialize: Envelope | undefined
  /** The `initialize` that the query itself still waits for. */
  #awaited: string | undefined
  #isSet = false
  #servers: Envelope | undefined
  /** Messages that the hub's log has not shown yet. */
  readonly #unlogged = new Map<string, Envelope>()
  /** Our requests without an answer; with a function, one of this class's own. */
  readonly #calls = new Map<string, ((reply: Envelope | undefined) => void) | undefined>()
  readonly #questions = new OpenQuestions()
  readonly #change = new Waker()

  constructor(options: HubControlOptions) {
    this.#options = options
  }

  get openQuestions(): number {
    return this.#questions.size
  }

  start(): void {
    this.#connect().catch((error: unknown) => this.#comeBack(error))
  }

  /** Resolves when it is on its way. Waits while the hub is away. */
  async send(message: Envelope): Promise<void> {
    const request = message.type === "control_request" ? fieldOf(message, "request") : undefined
    if (request?.["subtype"] === "initialize") return this.#sendInitialize(message)
    if (message.type === "control_response") return this.#sendAnswer(message)
    // Some programs never initialize, and a CLI does not insist on it. The hub does: its reply tells what is open.
    if (this.#initialize === undefined) this.#introduce()
    await this.#until(() => this.#phase.name === "ready" && this.#unlogged.size < MAX_UNLOGGED)
    if (request !== undefined) this.#calls.set(textOf(message, "request_id") ?? "", undefined)
    if (request?.["subtype"] === "mcp_set_servers") this.#servers = message
    const uuid = message.type === "user" ? textOf(message, "uuid") : undefined
    if (uuid !== undefined) this.#unlogged.set(uuid, message)
    this.#write(message)
  }

  /** The log has it. True when it is one of ours that had not been seen. */
  confirm(uuid: string): boolean {
    const isOurs = this.#unlogged.delete(uuid)
    if (isOurs) this.#change.wake()
    return isOurs
  }

  close(): void {
    const phase = this.#phase
    this.#phase = { name: "over" }
    if (phase.name === "greeting" || phase.name === "ready") phase.direct.disconnect()
    this.#change.wake()
  }

  #sendInitialize(message: Envelope): void {
    this.#initialize = message
    this.#awaited = textOf(message, "request_id")
    this.#write(message)
  }

  /** On our own behalf: nobody waits for the reply. */
  #introduce(): void {
    this.#initialize = composeRequest("initialize", { subtype: "initialize" })
    this.#write(this.#initialize)
  }

  /**
   * Before we are ready too: the answer to `initialize` waits for what the agent asks of a server that we bring. But a question
   * of a connection that was lost is answered only when the greeting has told that it is still open: answered earlier, it
   * would be found among the open ones and asked again.
   */
  async #sendAnswer(message: Envelope): Promise<void> {
    const id = textOf(fieldOf(message, "response"), "request_id") ?? ""
    let wasDoubtful = false
    await this.#until(() => {
      const isDoubtful = this.#questions.doubtful.has(id)
      wasDoubtful ||= isDoubtful
      return this.#phase.name === "ready" || (this.#phase.name === "greeting" && !isDoubtful)
    })
    const isOpen = this.#questions.open.delete(id)
    if (wasDoubtful && !isOpen) return
    this.#write(message)
  }

  #write(message: Envelope): void {
    if (this.#phase.name !== "greeting" && this.#phase.name !== "ready") return
    try {
      this.#phase.direct.write(message)
    } catch {
      // Lost just now. What matters is said again when it is back, and calls are told that they are lost.
    }
  }

  async #until(isSo: () => boolean): Promise<void> {
    for (;;) {
      if (this.#phase.name === "over") throw queryClosed()
      if (isSo()) return
      await this.#change.wait()
    }
  }

  async #connect(): Promise<void> {
    const { hub, token, session } = this.#options
    const direct = await openDirect({ url: hub.address(), token, session })
    if (this.#phase.name === "over") return direct.disconnect()
    this.#phase = { name: "greeting", direct }
    if (this.#initialize !== undefined) this.#write(this.#initialize)
    void this.#read(direct)
  }

  async #read(direct: DirectConnection): Promise<void> {
    try {
      for await (const message of direct.messages) this.#take(message)
    } catch {
      // More waits to be read than is kept: it is a lost connection like any other.
    }
    direct.disconnect()
    this.#lost(await direct.closed)
  }

  /** The agent's lines are in the log, and read there. Here is what is between it and us alone. */
  #take(message: Envelope): void {
    const { onMessage, onFailed } = this.#options
    const requestId = textOf(message, "request_id")
    switch (message.type) {
      case "control_response":
        return this.#takeAnswer(message)
      case "control_request":
        if (requestId !== undefined) this.#questions.open.add(requestId)
        return onMessage(message)
      case "control_cancel_request":
        if (requestId !== undefined) this.#questions.open.delete(requestId)
        return onMessage(message)
      case "hub": {
        const failure = noteFailure(message, (uuid) => this.#unlogged.has(uuid))
        return failure === undefined ? undefined : onFailed(failure)
      }
      default:
        return undefined
    }
  }

  #takeAnswer(message: Envelope): void {
    const id = textOf(fieldOf(message, "response"), "request_id") ?? ""
    if (id === textOf(this.#initialize, "request_id")) return this.#takeGreeting(message)
    const settle = this.#calls.get(id)
    this.#calls.delete(id)
    if (settle === undefined) this.#options.onMessage(message)
    else settle(message)
  }

  #takeGreeting(message: Envelope): void {
    const response = fieldOf(message, "response")
    const pending = PENDING_LISTS.flatMap((list) => response?.[list] ?? [])
      .filter(isObject)
      .filter(isEnvelope)
    const isFirst = this.#awaited !== undefined
    this.#awaited = undefined
    // The query takes up by itself what an answer that it waits for says is pending.
    if (isFirst) this.#options.onMessage(message)
    // The program has a doubtful one already, and its answer waits for this greeting.
    const isKnown = (question: Envelope) => this.#questions.doubtful.has(textOf(question, "request_id") ?? "")
    if (!isFirst) for (const question of pending) if (!isKnown(question)) this.#options.onMessage(question)
    const ids = pending.flatMap((question) => textOf(question, "request_id") ?? [])
    if (this.#phase.name !== "greeting") return
    // Settled while we were away, or a hook's or a server's, which nobody waits for any more.
    for (const id of this.#questions.confirm(ids)) this.#options.onMessage(composeCancel(id))
    void this.#becomeReady(this.#phase.direct)
  }

  async #becomeReady(direct: DirectConnection): Promise<void> {
    if (this.#servers !== undefined) this.#write(this.#servers)
    if (!this.#isSet) {
      const isSet = await this.#set()
      if (!isSet) return
      this.#isSet = true
    }
    if (this.#phase.name !== "greeting" || this.#phase.direct !== direct) return
    for (const message of this.#unlogged.values()) this.#write(message)
    this.#phase = { name: "ready", direct }
    this.#options.onConnection(true)
    this.#change.wake()
  }

  /** False: the connection was lost meanwhile, or the agent refused. */
  async #set(): Promise<boolean> {
    for (const [index, request] of this.#options.settings.entries()) {
      const id = `setting-${index}`
      const reply = new Promise<Envelope | undefined>((resolve) => this.#calls.set(id, resolve))
      this.#write(composeRequest(id, request))
      const response = fieldOf(await reply, "response")
      if (response === undefined) return false
      try {
        payloadOf(response, request.subtype)
      } catch (error) {
        this.#options.onFailed(hubFailure(error))
        return false
      }
    }
    return true
  }

  #lost({ code, reason }: DirectEnd): void {
    if (this.#phase.name === "over") return
    this.#phase = { name: "away" }
    this.#questions.doubtAll()
    this.#options.onConnection(false)
    const calls = [...this.#calls]
    this.#calls.clear()
    for (const [id, settle] of calls) {
      if (settle === undefined) this.#options.onMessage(composeError(id, LOST, "hub_connection_lost"))
      else settle(undefined)
    }
    // The session is over: its log says so, and is read by others.
    if (code === 1000 || code === 1001) return
    const why = reason === "" ? `code ${code}` : reason
    if (code === 4001) void whyRefused(this.#options, why).then(this.#options.onFailed)
    else this.#comeBack(unreachable(`the hub closed the connection: ${why}`))
  }

  #comeBack(lost: unknown): void {
    const { hub, session, patienceMs, onFailed } = this.#options
    const pause = (ms: number) => this.#pause(ms)
    const isWanted = () => this.#phase.name === "away"
    const connect = () => this.#connect()
    comeBack({ hub, session, patienceMs, pause, isWanted, connect }, lost).catch(onFailed)
  }

  /** Ends early when it is over. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#change.add(done)
    })
  }
}
