import { type Envelope, fieldOf, isEnvelope, parseObject, textOf } from "@signalbox/protocol/envelope"
import {
  type AgentCommand,
  type AttachAgent,
  frameNumber,
  type RunnerNote,
  readFromHub,
} from "@signalbox/protocol/runner-wire"
import type { ChildTransport } from "@signalbox/transport"
import { errorText } from "../errors.ts"
import type { KeptLines } from "../lines/kept-lines.ts"
import { HubLink, type LinkSettings } from "../link/hub-link.ts"
import type { AgentRecord } from "../state/state-file.ts"

export interface AgentStreamOptions extends LinkSettings {
  readonly record: AgentRecord
  readonly kept: KeptLines
  readonly mayDial: () => boolean
  /** Away for longer than this, everything goes to disk. */
  readonly spoolAfterMs: number
}

/** Whom the stream tells what comes from the hub. */
interface StreamOwner {
  readonly onLine: (line: string) => void
  readonly onCommand: (command: AgentCommand) => void
  /** Returns the branch that the agent's folder is on now, which the hub then knows. */
  readonly tellBranch: () => string | null
  readonly onUp: () => void
  readonly onDown: () => void
  /** The hub has the last of it. */
  readonly onDelivered: () => void
  readonly onUnknown: (reason: string) => void
}

/** Past this much on its way, what is kept is not read on. */
const HIGH_WATER_BYTES = 1024 * 1024
/** Lines in one frame; the hub refuses frames with very many. */
const FRAME_LINES = 1_000
const RETRY_MS = 1_000

/** The hub's end of an agent: sends what is kept, in order, and again after a reconnect until it is acknowledged. */
export class AgentStream {
  readonly #options: AgentStreamOptions & StreamOwner
  readonly #kept: KeptLines
  readonly #link: HubLink
  /** The number of the last frame that was sent on the connection that is open. */
  #sent = 0
  /** Counts connections: what was read for an earlier one is not sent on a later. */
  #connection = 0
  #isPumping = false
  #isFull = false
  #calls = 0
  #lastNumber: number | undefined
  /** The highest epoch that a hub has greeted this agent with. */
  #epoch = 0
  /** Hubs that greeted with a lower one since. */
  #outdated: { readonly since: number; readonly times: number } | undefined
  /** The hub on the other end has lost the session: nothing it says is taken. */
  #isOutdated = false
  #cancelSpooling = () => undefined as void
  #whenLost = () => undefined as void

  constructor(options: AgentStreamOptions & StreamOwner) {
    this.#options = options
    this.#kept = options.kept
    this.#kept.onMore = () => this.#pumpNow()
    this.#link = new HubLink({
      ...options,
      path: `/runner/agents/${options.record.launched.spawn}`,
      onOpen: () => this.#opened(),
      onText: (text) => {
        for (const line of text.split("\n")) if (line !== "") this.#heard(line)
      },
      onLost: () => this.#lost(),
      onUnknown: options.onUnknown,
    })
    this.#spoolSoon()
  }

  get isUp(): boolean {
    return this.#link.isOpen
  }

  /** A try is worth it now. */
  wake(): void {
    this.#link.wake()
  }

  setFull(isFull: boolean): void {
    this.#isFull = isFull
    if (isFull) this.#link.pause()
    else this.#link.resume()
  }

  line(line: string): void {
    this.#kept.addLine(line)
  }

  note(note: RunnerNote): void {
    this.#kept.addNote(note)
  }

  /** Nothing comes any more: when all of it is acknowledged, it is delivered. */
  end(): void {
    this.#lastNumber = this.#kept.last
    this.#checkDelivered()
  }

  async close(reason: string): Promise<void> {
    this.#cancelSpooling()
    this.#whenLost()
    await this.#link.close(reason)
  }

  #opened(): void {
    const { record, kept } = this.#options
    const branch = this.#options.tellBranch()
    this.#cancelSpooling()
    this.#isOutdated = false
    kept.isHubAway = false
    const attach: AttachAgent = {
      op: "attach",
      spawn: record.launched.spawn,
      session: record.session,
      pid: record.launched.pid,
      startedAt: record.startedAt,
      first: kept.first,
      branch,
      ...(this.#lastNumber === undefined ? {} : { isOver: true }),
    }
    this.#link.send(JSON.stringify(attach))
    if (this.#isFull) this.#link.pause()
    this.#sent = kept.first - 1
    this.#connection++
    this.#pumpNow()
    this.#options.onUp()
  }

  #lost(): void {
    this.#whenLost()
    this.#spoolSoon()
    this.#options.onDown()
  }

  #spoolSoon(): void {
    this.#cancelSpooling()
    const spool = () => {
      this.#kept.isHubAway = true
    }
    this.#cancelSpooling = this.#options.clock.after(this.#options.spoolAfterMs, spool, "idle")
  }

  #heard(text: string): void {
    if (this.#isOutdated) return
    const heard = readFromHub(text)
    switch (heard?.kind) {
      case "ack":
        this.#kept.ack(heard.number)
        this.#checkDelivered()
        return
      case "line":
        this.#options.onLine(heard.line)
        return
      case "command":
        if (heard.command.ev === "attached" && !this.#mayGreet(heard.command.epoch)) return
        this.#options.onCommand(heard.command)
        return
      case undefined:
        this.#options.log.warn({ text: text.slice(0, 100) }, "The hub sent something that isn't for an agent")
    }
  }

  /** A hub that wakes after a pause may not know yet that another one has the session, and would bring what is old. */
  #mayGreet(epoch: number | undefined): boolean {
    const { clock, timing, log, record } = this.#options
    const { since, times } = this.#outdated ?? { since: clock.now(), times: 0 }
    // For so long no hub is mistaken about its lease: the database itself was set back, as from a backup.
    if (epoch === undefined || epoch >= this.#epoch || clock.now() - since > timing.outdatedMs) {
      this.#epoch = epoch ?? 0
      this.#outdated = undefined
      return true
    }
    if (times === 0) log.warn({ session: record.session }, "A hub that has lost this session was refused")
    this.#outdated = { since, times: times + 1 }
    this.#isOutdated = true
    this.#link.redial(times)
    return false
  }

  #checkDelivered(): void {
    if (this.#lastNumber === undefined || this.#kept.first <= this.#lastNumber) return
    this.#lastNumber = undefined
    this.#options.onDelivered()
  }

  #pumpNow(): void {
    this.#calls++
    if (!this.#isPumping && this.#link.isOpen) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isPumping = true
    try {
      while (this.#link.isOpen) {
        const calls = this.#calls
        // Questions that came in while it was looked for are looked for again.
        if (!(await this.#sendSome()) && calls === this.#calls) break
      }
      this.#isPumping = false
    } catch (error) {
      this.#options.log.error({ err: error }, `Couldn't read messages kept for the hub: ${errorText(error)}`)
      await new Promise<void>((resolve) => this.#options.clock.after(RETRY_MS, resolve, "idle"))
      this.#isPumping = false
      this.#pumpNow()
    }
  }

  /** False when there is nothing more at present. */
  async #sendSome(): Promise<boolean> {
    const connection = this.#connection
    this.#sent = Math.max(this.#sent, this.#kept.first - 1)
    const frames = await this.#kept.next(this.#sent)
    if (connection !== this.#connection) return true
    const last = frames.at(-1)
    if (last === undefined) return false
    const written = new Promise<void>((resolve) => {
      this.#whenLost = resolve
      for (let from = 0; from < frames.length; from += FRAME_LINES) {
        const isLast = from + FRAME_LINES >= frames.length
        this.#link.send(frames.slice(from, from + FRAME_LINES).join("\n"), isLast ? resolve : undefined)
      }
    })
    this.#sent = frameNumber(last)
    if (this.#link.waitingBytes > HIGH_WATER_BYTES) await written
    return true
  }
}

const MAX_SEEN = 10_000
const MAX_UNDELIVERED = 1_000
/** Past this much waiting for the agent, the hub is not read on. */
const INPUT_HIGH_WATER_CHARS = 4 * 1024 * 1024

export interface AgentInputOptions {
  readonly child: Pick<ChildTransport, "send">
  /** Too much waits for the agent, or no longer does. */
  readonly onFull: (isFull: boolean) => void
}

/** Lines for the agent's standard input: in order, each once. */
export class AgentInput {
  readonly #options: AgentInputOptions
  /** The last so many keys, the oldest first. */
  readonly #seen = new Set<string>()
  readonly #undelivered = new Set<string>()
  #lastReceived: string | null = null
  #waitingChars = 0
  #isFull = false

  constructor(options: AgentInputOptions) {
    this.#options = options
  }

  /** The user messages that came too late to reach the agent, by `uuid`. */
  get undelivered(): readonly string[] {
    return [...this.#undelivered]
  }

  /** The last user message that was written to the agent, by `uuid`. */
  get lastReceived(): string | null {
    return this.#lastReceived
  }

  /** A repeat is not written. */
  write(line: string): { readonly isRepeat: boolean; readonly message: Envelope | undefined } {
    const message = parseLine(line)
    const messageUuid = message?.type === "user" ? textOf(message, "uuid") : undefined
    const answered =
      message?.type === "control_response" ? textOf(fieldOf(message, "response"), "request_id") : undefined
    // The same key again is the same line again.
    const key = messageUuid === undefined ? answered && `answer ${answered}` : `user ${messageUuid}`
    if (key !== undefined && this.#seen.has(key)) return { isRepeat: true, message }
    if (key !== undefined) this.#seen.add(key)
    const [oldest] = this.#seen
    if (oldest !== undefined && this.#seen.size > MAX_SEEN) this.#seen.delete(oldest)
    this.#waitingChars += line.length
    this.#tellFullness()
    // Lines that are sent one after the other arrive so; only how each ended is waited for here.
    void this.#options.child
      .send(line)
      .then(() => this.#received(messageUuid))
      .catch(() => {
        // One that lives and had too much waiting may be given it again.
        if (key !== undefined) this.#seen.delete(key)
        if (messageUuid !== undefined && this.#undelivered.size < MAX_UNDELIVERED) this.#undelivered.add(messageUuid)
      })
      .finally(() => {
        this.#waitingChars -= line.length
        this.#tellFullness()
      })
    return { isRepeat: false, message }
  }

  #received(messageUuid: string | undefined): void {
    if (messageUuid === undefined) return
    this.#lastReceived = messageUuid
    this.#undelivered.delete(messageUuid)
  }

  #tellFullness(): void {
    const isFull = this.#waitingChars > (this.#isFull ? INPUT_HIGH_WATER_CHARS / 2 : INPUT_HIGH_WATER_CHARS)
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    this.#options.onFull(isFull)
  }
}

/** Undefined for a line that is no message. */
export function parseLine(line: string): Envelope | undefined {
  const message = parseObject(line)
  return message !== undefined && isEnvelope(message) ? message : undefined
}
