import { type Ask, connectHub, type Hub, HubClientError, type Me, type Session } from "@signalbox/client"
import { freezeClock, hubNow, setClockBy } from "./clock.ts"
import { ReadMarks } from "./read-marks.ts"
import { createValueStore, type ValueStore } from "./value-store.ts"

/** All sessions and asks, as the hub told of them. Asks that were settled while we watched stay, with their outcome. */
export interface Fleet {
  readonly load:
    | { readonly name: "loading" }
    | { readonly name: "ready" }
    | { readonly name: "failed"; readonly why: string }
  readonly sessions: ReadonlyMap<string, Session>
  readonly asks: ReadonlyMap<string, Ask>
  /** There are more sessions than are held here. */
  readonly more: boolean
}

const EMPTY: Fleet = { load: { name: "loading" }, sessions: new Map(), asks: new Map(), more: false }
const PAGE = 200
/** Read at once; older ones when somebody scrolls to them. */
const MAX_SESSIONS = 2000
const OLDER_PAGE = 500
/** Settled asks that are remembered for their outcome. */
const MAX_SETTLED = 200

/** Who is signed in. */
export type Person = Omit<Me, "now">

/** The one place that talks to the hub about all sessions. Screens read it; it reads the stream. */
export class HubStore {
  readonly hub: Hub
  readonly me: ValueStore<Person | undefined> = createValueStore<Person | undefined>(undefined)
  readonly reads = new ReadMarks((session, seq) => this.hub.session(session).markRead(seq).catch(passRefusal))
  readonly fleet: ValueStore<Fleet> = createValueStore(EMPTY)
  readonly connection: ValueStore<Connection> = createValueStore<Connection>({ name: "connecting" })
  /** Counts the times that the stream came back with something missing. */
  readonly gaps = createValueStore(0)
  #watching: AbortController | undefined
  /** Cursor of the sessions that are not held here; null when all are. */
  #older: string | null | undefined
  #isReadingOlder = false
  /** Told by the stream while a page was on its way: newer than the page. */
  #toldSince: { readonly sessions: Set<string>; readonly asks: Set<string> } | undefined
  #changes: { sessions: Map<string, Session>; asks: Map<string, Ask> } | undefined

  constructor(url: string) {
    this.hub = connectHub({
      url,
      reconnect: { baseDelayMs: 500, maxDelayMs: 10_000 },
      onRetry: (tries) => this.#step({ type: "tried", tries }),
    })
    const wake = () => {
      if (document.visibilityState === "visible") return this.hub.retryNow()
      // No frame is drawn any more: what waits for one would wait until somebody looks.
      this.#merge()
      void this.reads.tellNow()
    }
    addEventListener("online", wake)
    document.addEventListener("visibilitychange", wake)
  }

  /** Asks who we are; throws what the hub says when it does not know us. */
  async identify(): Promise<void> {
    const { now: _time, ...person } = await setClockBy(() => this.hub.me())
    this.me.set(person)
  }

  async signIn(credential: { readonly token: string } | { readonly code: string }): Promise<void> {
    const { now: _time, ...person } = await setClockBy(() => this.hub.login(credential))
    this.me.set(person)
    this.#step({ type: "subscribed" })
  }

  async signOut(reason: string): Promise<void> {
    this.stop()
    await this.hub.logout().catch(() => undefined)
    this.forget(reason)
  }

  /** The hub knows us no more. Drafts are the browser's, and stay. */
  forget(reason: string): void {
    this.stop()
    this.me.set(undefined)
    this.fleet.set(EMPTY)
    this.reads.forget()
    this.#older = undefined
    this.#step({ type: "refused", reason })
  }

  /** Watches until `stop`, through losses of the connection. */
  start(): void {
    if (this.#watching !== undefined) return
    this.#watching = new AbortController()
    void this.#watch(this.#watching.signal)
  }

  stop(): void {
    this.#watching?.abort()
    this.#watching = undefined
  }

  retry(): void {
    void this.#load()
  }

  /** The next page of older sessions. One that fails is read when it is asked for again. */
  async readOlder(): Promise<void> {
    const cursor = this.#older
    if (typeof cursor !== "string" || this.#isReadingOlder) return
    this.#isReadingOlder = true
    try {
      const page = await this.hub.sessions({ limit: OLDER_PAGE, cursor })
      if (this.#older !== cursor) return
      this.#older = page.cursor
      this.reads.take(page.read ?? {})
      const now = this.fleet.get()
      // The stream's sessions are newer than the page. Those of the page come last: a list that is nearly in order is sorted in no time.
      const sessions = new Map(now.sessions)
      for (const session of page.sessions) if (!sessions.has(session.id)) sessions.set(session.id, session)
      this.fleet.set({ ...now, sessions, more: page.cursor !== null })
    } catch {
      // The connection's own trouble is told where the connection is.
    } finally {
      this.#isReadingOlder = false
    }
  }

  /** An answer's reply, or a refusal that carries the outcome: as good as the stream, and often sooner. */
  takeAsk(ask: Ask): void {
    const known = this.#changes?.asks.get(ask.id) ?? this.fleet.get().asks.get(ask.id)
    // A settled ask stays so: a reply may be overtaken by the stream.
    if (ask.state === "pending" && known !== undefined && known.state !== "pending") return
    this.#pending().asks.set(ask.id, withInput(ask, known))
  }

  takeSession(session: Session): void {
    this.#pending().sessions.set(session.id, session)
  }

  #drop(sessionId: string): void {
    this.#merge()
    const { sessions, ...now } = this.fleet.get()
    this.fleet.set({ ...now, sessions: new Map([...sessions].filter(([id]) => id !== sessionId)) })
  }

  async #watch(signal: AbortSignal): Promise<void> {
    try {
      for await (const item of this.hub.watch({ signal })) {
        switch (item.type) {
          case "subscribed":
            if (item.verdict === "gap") this.gaps.set(this.gaps.get() + 1)
            this.#step({ type: "subscribed" })
            void this.#load()
            // Either clock may have been set while the connection was lost.
            void setClockBy(() => this.hub.me()).catch(() => undefined)
            void this.reads.tellNow()
            break
          case "read":
            this.reads.take({ [item.sessionId]: item.seq })
            break
          case "changed":
            this.#toldSince?.sessions.add(item.session.id)
            this.takeSession(item.session)
            break
          case "purged":
            this.#drop(item.sessionId)
            break
          case "ask":
            this.#toldSince?.asks.add(item.ask.id)
            this.takeAsk(item.ask)
            break
          case "disconnected":
            this.#step({ type: "disconnected", at: hubNow() })
            break
          case "event":
          case "delta":
            break
        }
      }
    } catch (error) {
      if (signal.aborted) return
      this.#watching = undefined
      if (isRefusal(error)) this.forget(error.message)
      else this.#fail(error)
    }
  }

  #step(input: ConnectionInput): void {
    const next = stepConnection(this.connection.get(), input)
    this.connection.set(next)
    freezeClock(next.name === "lost")
  }

  async #load(): Promise<void> {
    const told = { sessions: new Set<string>(), asks: new Set<string>() }
    this.#toldSince = told
    try {
      const [page, asks] = await Promise.all([this.#readSessions(), this.hub.asks({ state: "pending" })])
      if (this.#toldSince !== told) return
      this.#merge()
      const now = this.fleet.get()
      // Older ones that were read before stay.
      this.#older ??= page.cursor
      const sessions = new Map(page.sessions.map((session) => [session.id, session]))
      for (const [id, session] of now.sessions)
        if (told.sessions.has(id) || !sessions.has(id)) sessions.set(id, session)
      const open = new Map(asks.map((ask) => [ask.id, ask]))
      for (const [id, ask] of now.asks) if (told.asks.has(id) || ask.state !== "pending") open.set(id, ask)
      this.fleet.set({ load: { name: "ready" }, sessions, asks: open, more: this.#older !== null })
    } catch (error) {
      if (this.#toldSince !== told) return
      if (isRefusal(error)) this.forget(error.message)
      else this.#fail(error)
    } finally {
      if (this.#toldSince === told) this.#toldSince = undefined
    }
  }

  async #readSessions(): Promise<{ sessions: readonly Session[]; cursor: string | null }> {
    const sessions: Session[] = []
    let cursor: string | undefined
    do {
      const page = await this.hub.sessions({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
      sessions.push(...page.sessions)
      this.reads.take(page.read ?? {})
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined && sessions.length < MAX_SESSIONS)
    return { sessions, cursor: cursor ?? null }
  }

  #fail(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error)
    const now = this.fleet.get()
    // The shown sessions stay; only a page that has nothing yet says so.
    if (now.load.name !== "ready") this.fleet.set({ ...now, load: { name: "failed", why } })
  }

  /** Many changes in one frame are one change for the screens. */
  #pending(): { sessions: Map<string, Session>; asks: Map<string, Ask> } {
    if (this.#changes === undefined) {
      this.#changes = { sessions: new Map(), asks: new Map() }
      soon(() => this.#merge())
    }
    return this.#changes
  }

  #merge(): void {
    const changes = this.#changes
    this.#changes = undefined
    if (changes === undefined) return
    const now = this.fleet.get()
    const asks = bounded(changed(now.asks, changes.asks))
    this.fleet.set({ ...now, sessions: changed(now.sessions, changes.sessions), asks })
  }
}

/** The same map where nothing changed. */
function changed<T>(now: ReadonlyMap<string, T>, changes: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  if (changes.size === 0) return now
  const next = new Map(now)
  for (const [id, value] of changes) next.set(id, value)
  return next
}

function bounded(asks: ReadonlyMap<string, Ask>): ReadonlyMap<string, Ask> {
  const settled = [...asks.values()].filter(({ state }) => state !== "pending")
  if (settled.length <= MAX_SETTLED) return asks
  const gone = new Set(settled.slice(0, -MAX_SETTLED).map(({ id }) => id))
  return new Map([...asks].filter(([id]) => !gone.has(id)))
}

/** With the next frame, or where no frames are drawn, soon after. */
function soon(run: () => void): void {
  if (document.visibilityState === "visible") requestAnimationFrame(run)
  else setTimeout(run, 50)
}

/** The stream tells a long input once, while the request is open: a settled one keeps what is known of it. */
export function withInput(ask: Ask, known: Ask | undefined): Ask {
  if (ask.input !== undefined || known?.input === undefined) return ask
  return { ...ask, input: known.input, request: known.request }
}

/** A session that is gone, or a hub that keeps no marks: there is nothing to tell again. */
function passRefusal(error: unknown): void {
  if (error instanceof HubClientError && error.status !== undefined && error.status < 500) return
  throw error
}

function isRefusal(error: unknown): error is HubClientError {
  return error instanceof HubClientError && (error.status === 401 || error.status === 403)
}

/** How this page stands with the hub. */
export type Connection =
  | { readonly name: "connecting" }
  | { readonly name: "live" }
  /** `since`: what is shown is as of then. */
  | { readonly name: "lost"; readonly since: number; readonly tries: number }
  | { readonly name: "signed-out"; readonly reason: string }

type ConnectionInput =
  | { readonly type: "subscribed" }
  | { readonly type: "disconnected"; readonly at: number }
  | { readonly type: "tried"; readonly tries: number }
  | { readonly type: "refused"; readonly reason: string }

function stepConnection(state: Connection, input: ConnectionInput): Connection {
  switch (input.type) {
    case "subscribed":
      return { name: "live" }
    case "disconnected":
      return state.name === "lost" ? state : { name: "lost", since: input.at, tries: 1 }
    case "tried":
      return state.name === "lost" ? { ...state, tries: Math.max(state.tries, input.tries) } : state
    case "refused":
      return { name: "signed-out", reason: input.reason }
  }
}
