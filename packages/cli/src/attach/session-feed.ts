import type { Ask, AskAnswer, FollowItem, Hub, HubEvent, HubSession, Session } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol"
import { Transcript, thinkingLevelWords, thinkingRequest } from "@signalbox/transcript"

/** The view's contents; another object whenever something changed. */
export interface FeedState {
  readonly session: Session
  readonly asks: readonly Ask[]
  /** Undefined: live. */
  readonly lostAt?: string
  readonly lostBecause?: string
  /** The first event that is loaded, and whether there are some before it. */
  readonly hasEarlier: boolean
  readonly isLoading: boolean
  /** The last failure or confirmation; cleared by the next action, and when the connection is back. */
  readonly notice?: string
  readonly ending?: string
  /** A command of ours to type, with the data directory that this one has. */
  readonly command: (words: string) => string
}

/** Drawing more often would not be readable. */
const FRAME_MS = 50
const FIRST_PAGE = 300
const PAGE = 500
/** A longer history is better read in a file. */
const MAX_EVENTS = 20_000

/** One session as it goes on: its transcript, its asks, and what can be done to it. */
export class SessionFeed {
  #transcript = new Transcript()
  readonly #hub: Hub
  readonly #session: HubSession
  readonly #abort = new AbortController()
  readonly #listeners = new Set<() => void>()
  #state: FeedState
  #firstSeq: number
  #events = 0
  /** The newest events, to begin again from when there are too many. */
  #recent: HubEvent[] = []
  #timer: NodeJS.Timeout | undefined
  #failure: unknown

  constructor(hub: Hub, session: Session, command: FeedState["command"]) {
    this.#hub = hub
    this.#session = hub.session(session.id)
    this.#firstSeq = Math.max(1, session.lastSeq - FIRST_PAGE + 1)
    this.#state = { session, asks: [], hasEarlier: this.#firstSeq > 1, isLoading: true, command }
  }

  get transcript(): Transcript {
    return this.#transcript
  }

  /** The failure that ended following, if there was one. */
  get failure(): unknown {
    return this.#failure
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly state = (): FeedState => this.#state

  /** Follows the session until the view is closed or the hub refuses. */
  async run(): Promise<void> {
    try {
      const items = this.#session.follow({ after: this.#firstSeq - 1, signal: this.#abort.signal })
      for await (const item of items) this.#take(item)
    } catch (error) {
      if (this.#abort.signal.aborted) return
      this.#failure = error
      this.#change({ ending: wordsOf(error) })
    }
  }

  close(): void {
    this.#abort.abort()
    clearTimeout(this.#timer)
    this.#listeners.clear()
  }

  send(text: string): Promise<boolean> {
    return this.#try(() => this.#session.send(text))
  }

  interrupt(): Promise<boolean> {
    return this.#try(() => this.#session.interrupt(), "Interrupted")
  }

  setMode(mode: string): Promise<boolean> {
    return this.#try(() => this.#session.control({ subtype: "set_permission_mode", mode }), `Mode: ${mode}`)
  }

  setModel(model: string): Promise<boolean> {
    return this.#try(() => this.#session.control({ subtype: "set_model", model }), `Model: ${model}`)
  }

  setThinking(tokens: number | null): Promise<boolean> {
    return this.#try(() => this.#session.control(thinkingRequest(tokens)), thinkingLevelWords(tokens))
  }

  async models(): Promise<readonly string[]> {
    const reply = await this.#session.control({ subtype: "initialize" }).catch(() => undefined)
    const models = isObject(reply) ? reply["models"] : undefined
    return Array.isArray(models) ? models.flatMap((model) => textOf(model, "value") ?? []) : []
  }

  answer(ask: Ask, answer: AskAnswer): Promise<boolean> {
    return this.#try(async () => {
      const settled = await this.#hub.answer(ask.id, { ...answer, inputHash: ask.inputHash })
      this.#settle(settled)
    })
  }

  /** The page before what is loaded. */
  async loadEarlier(): Promise<void> {
    if (this.#state.isLoading || !this.#state.hasEarlier) return
    this.#change({ isLoading: true })
    await this.#tell(async () => {
      const page = await this.#session.events({ before: this.#firstSeq, limit: PAGE })
      this.#transcript.fold(page.events)
      this.#events += page.events.length
      this.#firstSeq = page.events[0]?.seq ?? this.#firstSeq
      const isFull = this.#events >= MAX_EVENTS
      const notice = isFull
        ? `Earlier events are not loaded. To read them all: ${this.#state.command(`export ${this.#session.id} --html FILE`)}`
        : undefined
      const hasEarlier = !isFull && page.events.length > 0 && this.#firstSeq > page.firstSeq
      this.#change({ hasEarlier, ...(notice === undefined ? {} : { notice }) })
    })
    this.#change({ isLoading: false })
  }

  tell(notice: string): void {
    this.#change({ notice })
  }

  #take(item: FollowItem): void {
    switch (item.type) {
      case "subscribed": {
        this.#transcript.interruptLive()
        const { lostAt: _at, lostBecause: _because, notice: _notice, ...live } = this.#state
        this.#state = { ...live, asks: [], isLoading: false }
        if (item.verdict === "gap") this.#change({ notice: "Some events are missing from the hub's log" })
        return this.#notify()
      }
      case "event": {
        const { type: _type, ...event } = item
        this.#transcript.fold([event])
        this.#keep(event)
        return this.#notify()
      }
      case "delta":
        this.#transcript.delta(item.message)
        return this.#notify()
      case "ask":
        return this.#settle(item.ask)
      case "changed":
        return this.#change({ session: item.session })
      case "disconnected":
        return this.#change({ lostAt: new Date().toISOString(), lostBecause: item.reason })
      case "read":
      case "purged":
        return undefined
    }
  }

  /** After days of watching only the newest part is kept; the rest is loaded again when somebody scrolls up. */
  #keep(event: HubEvent): void {
    this.#recent.push(event)
    if (this.#recent.length > 2 * PAGE) this.#recent = this.#recent.slice(-PAGE)
    if (++this.#events <= 2 * MAX_EVENTS) return
    this.#transcript = new Transcript()
    this.#transcript.fold(this.#recent)
    for (const ask of this.#state.asks) this.#transcript.ask(ask)
    this.#events = this.#recent.length
    this.#firstSeq = this.#recent[0]?.seq ?? event.seq
    this.#change({ hasEarlier: this.#firstSeq > 1 })
  }

  #settle(ask: Ask): void {
    this.#transcript.ask(ask)
    const others = this.#state.asks.filter(({ id }) => id !== ask.id)
    const asks = ask.state === "pending" ? [...others, ask].sort((a, b) => a.seq - b.seq) : others
    this.#change({ asks })
  }

  /** An action clears the notice before it. */
  #try(work: () => Promise<unknown>, notice?: string): Promise<boolean> {
    const { notice: _before, ...state } = this.#state
    this.#state = state
    this.#notify()
    return this.#tell(work, notice)
  }

  /** Failures are shown in the view; false: it did not work. */
  async #tell(work: () => Promise<unknown>, notice?: string): Promise<boolean> {
    try {
      await work()
      if (notice !== undefined) this.#change({ notice })
      return true
    } catch (error) {
      this.#change({ notice: wordsOf(error) })
      return false
    }
  }

  #change(change: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...change }
    this.#notify()
  }

  #notify(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#state = { ...this.#state }
      for (const listener of this.#listeners) listener()
    }, FRAME_MS)
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
