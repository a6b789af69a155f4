import { setTimeout as delay } from "node:timers/promises"
import { type Envelope, textOf, type UnlistedRequest } from "@signalbox/protocol"
import type { Session } from "@signalbox/protocol/hub-api"
import { initializeFields } from "@signalbox/protocol/launch-options"
import type { DeniedCall } from "@signalbox/protocol/runner-wire"
import { Waker } from "@signalbox/transport"
import { HubError } from "../errors.ts"
import type { ControlReply } from "../session/agent-control.ts"
import { isEnforcing } from "../session/kept-record.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { HeardEvent } from "../session/session-hub.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { Directory } from "../store/directory.ts"
import type { FanOut } from "../viewers/fan-out.ts"
import { ClientDesk } from "./client-desk.ts"
import { CONTROL_PART, readKeptPart } from "./client-parts.ts"
import type { Enforcement } from "./enforcement.ts"

export interface ClientDesksOptions {
  readonly directory: Pick<Directory, "getDocument" | "putDocument">
  readonly registry: Pick<SessionRegistry, "loaded">
  /** What a hook's failure means for this session may be another now: for a runner, which answers while the hub is away. */
  readonly hooksChanged?: (session: LiveSession) => void
  readonly enforcement: Enforcement
  readonly trouble: (session: LiveSession, what: string, error: unknown) => void
}

const NOT_IN_TIME = "No hub judged this tool call in time, so its machine's runner denied it."
const GREETING_WAIT_MS = 30_000

/** The desks of all sessions, each made when a client first brings something or comes. */
export class ClientDesks {
  readonly #options: ClientDesksOptions
  readonly #desks = new Map<string, ClientDesk>()
  readonly #greeted = new Map<string, Waker>()
  readonly #kept = new Set<string>()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: ClientDesksOptions) {
    this.#options = options
  }

  /** Before its agent comes: what kept clients had brought is part of the first `initialize`. */
  async restore(session: LiveSession): Promise<void> {
    if (session.isEnded || this.#desks.has(session.id)) return
    const kept = await this.#options.directory.getDocument(documentOf(session.id))
    const parts = (Array.isArray(kept) ? kept : []).flatMap((part) => readKeptPart(part) ?? [])
    if (parts.length === 0) return
    this.#kept.add(session.id)
    this.of(session).restore(parts)
  }

  /** The session is another hub's now, and what clients brought to it with it. */
  left({ id }: LiveSession): void {
    this.#desks.delete(id)
    this.#kept.delete(id)
    this.#greeted.get(id)?.wake()
    this.#greeted.delete(id)
  }

  of(session: LiveSession): ClientDesk {
    const known = this.#desks.get(session.id)
    if (known !== undefined && known.session.gone === undefined) return known
    const { trouble, hooksChanged, enforcement } = this.#options
    const desk = new ClientDesk({
      session,
      enforcement,
      trouble,
      keep: (changed) => this.#keep(changed),
      hooksChanged: (changed) => hooksChanged?.(changed.session),
    })
    // A session that is another hub's now, or another object here, gets none that outlives this call.
    if (session.gone === undefined) this.#desks.set(session.id, desk)
    return desk
  }

  /** For those who leave: a session that is over has no desk any more, and gets none for that. */
  find({ id }: LiveSession): ClientDesk | undefined {
    return this.#desks.get(id)
  }

  /** Whether clients have brought something to this session, or are there. */
  has({ id }: LiveSession): boolean {
    return this.#desks.has(id)
  }

  /** By the ids of callbacks: what each is answered with when nobody can be asked. */
  hookFailures(session: LiveSession): Readonly<Record<string, "open" | "block">> {
    return this.#desks.get(session.id)?.hookFailures ?? {}
  }

  deniedByRunner(session: LiveSession, call: DeniedCall): Promise<void> {
    return this.#options.enforcement.deniedElsewhere(session, call, NOT_IN_TIME)
  }

  /** For LiveSession: a request of the agent's that is no ask, or the end of one. False: nobody takes it. */
  call(session: LiveSession, message: Envelope): boolean {
    const desk = isEnforcing(session.kept) ? this.of(session) : this.#desks.get(session.id)
    if (desk === undefined) return false
    if (message.type !== "control_cancel_request") return desk.agentCalls.call(message)
    desk.agentCalls.cancel(textOf(message, "request_id") ?? "")
    return true
  }

  /** What goes into the hub's first `initialize` to this process. */
  greeting(session: LiveSession, incarnation: string): Readonly<Record<string, unknown>> {
    const { hooks, options } = session.kept.own
    const launched = initializeFields(options ?? {})
    if (!this.#desks.has(session.id) && hooks.length === 0 && !isEnforcing(session.kept)) return launched
    return { ...launched, ...this.of(session).sync.greet(incarnation) }
  }

  /** An event of a process whose every tool call the policy judges. */
  heard(session: LiveSession, event: HeardEvent): void {
    this.#options.enforcement.heard(session, event)
  }

  /** The same process is back. */
  returned(session: LiveSession): void {
    this.#desks.get(session.id)?.agentCalls.sendAgain()
  }

  /** `initialize` is over, answered or not: who waited for it goes on, and the agent gets what clients brought meanwhile. */
  greeted(session: LiveSession): void {
    this.#greeted.get(session.id)?.wake()
    this.#greeted.delete(session.id)
    this.#desks
      .get(session.id)
      ?.sync.run()
      .catch((error: unknown) => this.#options.trouble(session, "what clients brought did not reach the agent", error))
  }

  /** Resolves when the session's agent has answered the hub's `initialize`, or after a while without. */
  async whenGreeted(session: LiveSession): Promise<void> {
    if (session.kept.own.initializeReply !== null) return
    const greeted = this.#greeted.get(session.id) ?? new Waker()
    this.#greeted.set(session.id, greeted)
    await Promise.race([greeted.wait(), delay(GREETING_WAIT_MS, undefined, { ref: false })])
  }

  /** `mcp_set_servers` over REST: one more part of the union. */
  async setServers(session: LiveSession, request: UnlistedRequest): Promise<ControlReply> {
    if (session.wire === undefined) throw new HubError("session/no-agent", "no agent is connected to take the servers")
    const { servers: given } = request
    const servers = typeof given === "object" && given !== null ? { ...given } : {}
    const reply = await this.of(session).bring(CONTROL_PART, { servers, isAsked: true })
    return reply ?? { subtype: "success", response: { added: [], removed: [], errors: {} } }
  }

  /** Until what this returns is called. */
  watch(fanOut: FanOut): () => void {
    return fanOut.watchAll({ changed: (view) => this.#changed(view), purged: (id) => this.#drop(id) })
  }

  /** A session that goes on in another takes its clients along; one that is over keeps nothing. */
  #changed(view: Session): void {
    const desk = this.#desks.get(view.id)
    if (desk === undefined) return
    const next = view.next === undefined ? undefined : this.#options.registry.loaded(view.next)
    if (next !== undefined && desk.session.id !== next.id) this.#move(desk, view.id, next)
    else if (view.state === "ended") this.#drop(view.id)
  }

  forgetToken(tokenId: string): void {
    for (const desk of this.#desks.values()) desk.forgetToken(tokenId)
  }

  /** What is to be kept is kept when this resolves. */
  async settled(): Promise<void> {
    await this.#writing
  }

  #move(desk: ClientDesk, from: string, next: LiveSession): void {
    this.#desks.delete(from)
    desk.moveTo(next, this.#desks.get(next.id))
    this.#desks.set(next.id, desk)
    this.#write(from, [])
    this.#keep(desk)
  }

  #drop(sessionId: string): void {
    this.#desks.delete(sessionId)
    if (this.#kept.has(sessionId)) this.#write(sessionId, [])
  }

  #keep(desk: ClientDesk): void {
    this.#write(desk.session.id, desk.keptParts)
  }

  #write(sessionId: string, parts: readonly unknown[]): void {
    const { directory, registry } = this.#options
    if (parts.length === 0 && !this.#kept.delete(sessionId)) return
    if (parts.length > 0) this.#kept.add(sessionId)
    // Fenced: what another hub's clients bring, once it has the session, must stand.
    const written = directory.putDocument(documentOf(sessionId), parts, { session: sessionId })
    this.#writing = Promise.all([this.#writing, written])
      .then(() => undefined)
      .catch((error: unknown) => {
        const session = registry.loaded(sessionId)
        if (session !== undefined) this.#options.trouble(session, "what clients brought could not be kept", error)
      })
  }
}

function documentOf(sessionId: string): string {
  return `clients/${sessionId}`
}
