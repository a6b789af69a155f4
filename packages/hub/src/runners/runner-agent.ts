import { defined, type Envelope, encodeForAgent, fieldOf, isObject, textOf } from "@signalbox/protocol"
import {
  type AgentExit,
  type AttachAgent,
  type DeniedCall,
  encodeAck,
  encodeCommand,
  encodeLineForAgent,
  type FolderChanges,
  type FromRunner,
  type RunnerNote,
  readFromRunner,
} from "@signalbox/protocol/runner-wire"
import { COME_BACK, type ReadingTurns } from "@signalbox/transport"
import type { HubMetrics } from "../operations/metrics.ts"
import type { AgentWire } from "../session/agent-control.ts"
import { LineRouter } from "../session/agent-intake.ts"
import { endsSentence } from "../session/history.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { DoorSocket, TakenLines } from "./door-socket.ts"

export interface RunnerAgentOptions {
  readonly socket: DoorSocket
  readonly attach: AttachAgent
  readonly session: LiveSession
  readonly registry: SessionRegistry
  /** The lines of the process that this hub has. */
  readonly taken: TakenLines
  readonly metrics: HubMetrics
  readonly turns: ReadingTurns
  /** Nobody is read while the store does not keep up. */
  readonly journal: { room(): Promise<void> }
  /** Clients' hooks decide how a callback is answered while the hub is away. */
  readonly clients: {
    hookFailures(session: LiveSession): Readonly<Record<string, "open" | "block">>
    deniedByRunner(session: LiveSession, call: DeniedCall): Promise<void>
  }
  readonly exited: (session: LiveSession, spawn: string, exit: AgentExit) => Promise<void>
  readonly onTrouble: (error: unknown) => void
  /** Where hubs share a store: the epoch under which this one has a session, if it does. */
  readonly epochOf: ((session: string) => number | undefined) | undefined
}

type Note = Extract<FromRunner, { kind: "note" }>

const TRANSPORT = "runner"

/**
 * An agent on a runner: its lines go to the session they belong to, and that session speaks through it. A number is
 * acknowledged when all up to it is durable; until then the runner has it, and brings it again.
 */
export class RunnerAgent implements AgentWire {
  readonly transport = TRANSPORT
  readonly hearsOnce = true
  /** Its session is known by its spawn. */
  readonly isReturning = false
  readonly incarnation: string
  readonly #options: RunnerAgentOptions
  readonly #router: LineRouter
  /** How much the store had refused of each session before we came. */
  readonly #refused = new Map<LiveSession, number>()
  #acking: Promise<void> | undefined
  #isGivenUp = false

  constructor(options: RunnerAgentOptions) {
    this.#options = options
    this.incarnation = options.attach.spawn
    this.#router = new LineRouter({ ...options, isBound: true, spawn: this.incarnation })
    this.#watch(options.session)
  }

  get session(): LiveSession {
    return this.#router.session
  }

  /** Its spawn names the process for good. */
  renew(): void {
    throw new Error("a runner's agent is never another process than it said")
  }

  async send(message: Envelope): Promise<void> {
    this.#options.registry.refuseIfLapsed(this.session)
    await this.#options.socket.send(encodeLineForAgent(encodeForAgent(message, this.session.traits)))
  }

  /** Ends the connection alone: the process is the runner's, and is stopped by it. */
  closeWith(code: number, reason: string): Promise<void> {
    // Elsewhere, or here later: what is not durable by now is brought again.
    if (code === COME_BACK) this.#leaveRest()
    return this.#options.socket.end(code, reason)
  }

  /** Nothing more is taken here. */
  #leaveRest(): void {
    this.#isGivenUp = true
    this.#options.taken.goBack()
  }

  giveUp(): void {
    void this.closeWith(COME_BACK, "the store did not take it").catch(() => undefined)
  }

  /** Clients' hooks came or went. */
  tellHooks(): void {
    const onFailure = this.#options.clients.hookFailures(this.session)
    this.#options.socket.send(encodeCommand({ ev: "hooks", onFailure })).catch(() => undefined)
  }

  /** Until the connection is over. Never rejects. */
  async run(): Promise<void> {
    const { metrics, onTrouble, socket, turns } = this.#options
    metrics.agentConnected(TRANSPORT)
    await this.#takePlace().catch(onTrouble)
    const attached = this.#attach().catch(onTrouble)
    this.#options.taken.begin()
    this.#ackSoon()
    try {
      for await (const share of turns.shares(socket.lines)) await this.#take(share)
    } catch (error) {
      onTrouble(error)
      // A line that could not be dealt with was not acknowledged: it comes again.
      void socket.end(COME_BACK, "the hub could not take it").catch(() => undefined)
    }
    const reason = await socket.closed
    await this.session.detach(this, reason).catch(onTrouble)
    await attached
    await this.#acking
    metrics.agentDisconnected(TRANSPORT)
  }

  /** To the session's live process. What an earlier one left behind is taken, and that is all. */
  async #attach(): Promise<void> {
    const { session, socket, attach, epochOf } = this.#options
    const epoch = epochOf?.(attach.session)
    // Another hub claimed it a moment ago: the agent belongs there.
    if (epochOf !== undefined && epoch === undefined) return this.closeWith(COME_BACK, "the session is another hub's")
    socket.send(encodeCommand({ ev: "attached", ...defined({ epoch }) })).catch(() => undefined)
    if (!this.#isLive()) return
    this.tellHooks()
    const attaching = session.attach(this, session.kept.own.incarnation === this.incarnation ? "same" : "new")
    this.#takeBranch(this.#options.attach.branch ?? null)
    await attaching
  }

  /** An older connection of the same process is a dead socket. */
  async #takePlace(): Promise<void> {
    const { session } = this.#options
    const before = session.wire
    if (before === undefined || !this.#isLive()) return
    // Lines that it has not read come again here: there they would be taken for what an ended process left behind.
    if (before instanceof RunnerAgent && before.incarnation === this.incarnation) before.#leaveRest()
    await session.detach(before, "connected again")
    void before.closeWith(1000, "connected again").catch(() => undefined)
  }

  #isLive(): boolean {
    const { session, attach } = this.#options
    if (attach.isOver === true) return false
    return session.kept.own.launch?.spawn === this.incarnation && !session.isEnded && !session.isParked
  }

  async #take(share: readonly string[]): Promise<void> {
    const { metrics, journal, onTrouble } = this.#options
    metrics.linesReceived({ lines: share.length, bytes: share.reduce((bytes, text) => bytes + text.length, 0) })
    for (const text of share) {
      if (this.#isGivenUp) return
      const item = readFromRunner(text)
      if (item === undefined) onTrouble(new Error("a runner said what is no line of an agent"))
      else if (this.#options.taken.isNew(item.number) || this.#isLastWord(item)) {
        const taken = this.#takeItem(item)
        if (taken !== undefined) await taken
      }
    }
    this.#ackSoon()
    await this.session.history.room()
    await journal.room()
  }

  /** A runner that lost its count with its spool may number it too low, and it is told once: it counts. */
  #isLastWord(item: FromRunner): boolean {
    return this.#options.attach.isOver === true && item.kind === "note" && readNote(item.note)?.kind === "exited"
  }

  /** Awaited only if there is something to await. */
  #takeItem(item: FromRunner): void | Promise<void> {
    const key = `spawn:${this.incarnation}:${item.number}`
    if (item.kind === "note") return this.#takeNote(item, key)
    const decoded = this.#router.read(item.line)
    // Deltas of a sentence in progress are kept by the runner until it is complete: a hub that restarts hears it whole.
    const isWhole = decoded.kind !== "malformed" && endsSentence(decoded.message)
    const routed = this.#router.take(decoded, key)
    if (routed !== undefined) return this.#takeRouted(routed, item.number, isWhole)
    this.#options.taken.took(item.number, isWhole)
    return undefined
  }

  async #takeRouted(routed: Promise<void>, number: number, isWhole: boolean): Promise<void> {
    await routed
    this.#watch(this.session)
    this.#options.taken.took(number, isWhole)
  }

  async #takeNote({ note: said, number }: Note, key: string): Promise<void> {
    const { taken, exited, onTrouble } = this.#options
    const note = readNote(said)
    if (note?.kind === "exited") await exited(this.session, this.incarnation, note.exit)
    else if (note?.kind === "hook-answered") {
      const { requestId, how, denied } = note
      const noted = await this.session.history.note("hook_answered", { requestId, how, by: "runner" }, key)
      if (noted !== undefined && denied !== undefined) await this.#options.clients.deniedByRunner(this.session, denied)
    } else if (note?.kind === "branch") this.#takeBranch(note.branch)
    else if (note?.kind === "changes") this.#takeChanges(note.changes)
    else onTrouble(new Error("a runner's note cannot be read"))
    // The folder's news come in the middle of sentences too, which the runner must keep.
    taken.took(number, note?.kind !== "branch" && note?.kind !== "changes")
  }

  /** Questions that follow are judged by this branch. A process that is over says nothing about the one that lives. */
  #takeBranch(branch: string | null): void {
    const { session } = this
    if (!session.isSpokenForBy(this.incarnation) || (session.record.branch ?? null) === branch) return
    if (branch === null) session.forget("branch")
    else session.change({ branch })
  }

  #takeChanges(changes: FolderChanges | null): void {
    const { session } = this
    if (!session.isSpokenForBy(this.incarnation)) return
    if (changes === null) session.forget("changes")
    else session.change({ changes })
  }

  #watch(session: LiveSession): void {
    if (!this.#refused.has(session)) this.#refused.set(session, session.history.refused)
  }

  #ackSoon(): void {
    if (this.#acking !== undefined || this.#isGivenUp || this.#options.taken.due === undefined) return
    this.#acking = this.#ackAll()
  }

  /** There is something to wait for: it is never over before it is known to be under way. */
  async #ackAll(): Promise<void> {
    const { taken, socket, onTrouble } = this.#options
    try {
      for (let upTo = taken.due; upTo !== undefined && !this.#isGivenUp; upTo = taken.due) {
        for (const session of this.#refused.keys()) await session.taken()
        if ([...this.#refused].some(([session, refused]) => session.history.refused > refused)) {
          return this.giveUp()
        }
        // A question could not become an ask meanwhile.
        if (this.#isGivenUp) return
        const ack = taken.settled(upTo, this.session.inProgress.isUnderWay)
        // Everything is durable in the sessions that the conversation went on from.
        for (const session of this.#refused.keys()) if (session !== this.session) this.#refused.delete(session)
        if (ack !== undefined) await socket.send(encodeAck(ack))
      }
    } catch (error) {
      // The connection is over: what was not acknowledged comes again.
      onTrouble(error)
    } finally {
      // With the last look at what is due, not a tick after it: what comes in between would wait for the next line.
      this.#acking = undefined
    }
  }
}

const MAX_TEXT_CHARS = 16 * 1024

/** A runner's note, looked at: a newer runner may have others. */
function readNote(value: unknown): RunnerNote | undefined {
  if (!isObject(value)) return undefined
  if (value["kind"] === "exited") return { kind: "exited", exit: readExit(fieldOf(value, "exit") ?? {}) }
  if (value["kind"] === "branch") return { kind: "branch", branch: readBranch(value["branch"]) }
  if (value["kind"] === "changes") return { kind: "changes", changes: readChanges(value["changes"]) }
  if (value["kind"] !== "hook-answered") return undefined
  const how = value["how"] === "block" ? "block" : "open"
  const denied = fieldOf(value, "denied")
  const call = denied && { toolName: nameIn(denied, "toolName"), toolUseId: nameIn(denied, "toolUseId") }
  return { kind: "hook-answered", requestId: textOf(value, "requestId") ?? "", how, ...defined({ denied: call }) }
}

function nameIn(value: Readonly<Record<string, unknown>>, field: string): string | undefined {
  return textOf(value, field)?.slice(0, MAX_NAME_CHARS)
}

const MAX_NAME_CHARS = 256
const MAX_BRANCH_CHARS = 1024

/** One that is longer than git's own could be is as good as unknown: rules for a branch then ask. */
export function readBranch(value: unknown): string | null {
  return typeof value === "string" && value.length <= MAX_BRANCH_CHARS ? value : null
}

function readChanges(value: unknown): FolderChanges | null {
  if (!isObject(value)) return null
  const { files, added, removed } = value
  return isCount(files) && isCount(added) && isCount(removed) ? { files, added, removed } : null
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
}

function readExit(value: Readonly<Record<string, unknown>>): AgentExit {
  const { code, undelivered, lastReceived } = value
  const signal = textOf(value, "signal")
  const stderrTail = textOf(value, "stderrTail")?.slice(-MAX_TEXT_CHARS)
  return {
    reason: textOf(value, "reason")?.slice(0, MAX_TEXT_CHARS) ?? "its process ended",
    ...(typeof code === "number" && Number.isInteger(code) ? { code } : {}),
    ...(signal === undefined ? {} : { signal }),
    ...(stderrTail === undefined || stderrTail === "" ? {} : { stderrTail }),
    ...(value["parked"] === true ? { parked: true } : {}),
    ...(Array.isArray(undelivered) ? { undelivered: undelivered.filter((uuid) => typeof uuid === "string") } : {}),
    ...(lastReceived === null || typeof lastReceived === "string" ? { lastReceived } : {}),
  }
}

/** Clients' hooks came or went in this session. */
export function tellHooks({ wire }: LiveSession): void {
  if (wire instanceof RunnerAgent) wire.tellHooks()
}
