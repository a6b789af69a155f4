import { setTimeout as pause } from "node:timers/promises"
import type { Session } from "@signalbox/protocol/hub-api"
import type { WebSocket } from "ws"
import { HubError } from "../errors.ts"
import type { Ask } from "../model/ask.ts"
import { FanOut } from "./fan-out.ts"
import { FellowLink, type Known } from "./fellow-link.ts"
import type { FoundSession, WatchedSession } from "./stream-viewer.ts"

interface FellowPlace {
  readonly id: string
  readonly url: string
}

/** The other hubs, as those who follow their sessions need them. */
interface FellowHubs {
  /** Those that are alive. */
  readonly membership: { readonly others: readonly FellowPlace[] }
  /** The hub that has the session, unless it is this one or none. */
  readonly ownership: { fellowOf(session: string): Promise<FellowPlace | undefined> }
  readonly fellows: { stream(fellow: FellowPlace): WebSocket }
  /** Another hub may have replaced it. */
  readonly secret: { load(): Promise<void> }
}

export interface FollowingOptions {
  readonly hubs: FellowHubs
  /** Tells of this hub's own sessions. */
  readonly own: FanOut
  /** Whether anybody watches here. */
  readonly isWatched: () => boolean
  /** A session that is this hub's, or nobody's. Fails with `hub/moved` if another hub has it. */
  readonly load: (session: string) => Promise<WatchedSession>
  readonly isHere: (session: string) => boolean
  /** As the store has them. */
  readonly store: { getSession(id: string): Promise<Session>; getAsk(id: string): Promise<Ask> }
  readonly trouble: (what: string, error: unknown) => void
}

const LOOK_MS = 1_000
/** Longer than it takes until a dead hub's sessions are taken over. */
const PATIENCE_MS = 20_000
const PAUSE_MS = 200
const ON_ITS_WAY: ReadonlySet<string> = new Set(["hub/moved", "hub/unreachable"])

/** What the other hubs have, for those who watch here: each hub is followed once, however many they are. */
export class Following {
  readonly #options: FollowingOptions
  readonly #links = new Map<string, FellowLink>()
  readonly #finding = new Map<string, Promise<FoundSession>>()
  readonly #timer: NodeJS.Timeout
  #isOver = false
  /** Tells those who watch all sessions. Apart from this hub's own, of which alone the other hubs are told. */
  readonly fanOut = new FanOut()

  constructor(options: FollowingOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#timer.unref()
  }

  /** Wherever it is. Waits while it goes from one hub to another, and until a dead hub's are taken over. */
  find(session: string): Promise<FoundSession> {
    const underWay = this.#finding.get(session)
    if (underWay !== undefined) return underWay
    const finding = this.#find(session).finally(() => this.#finding.delete(session))
    this.#finding.set(session, finding)
    return finding
  }

  /** Somebody has come who watches. */
  connect(): void {
    if (this.#isOver || !this.#options.isWatched()) return
    for (const fellow of this.#options.hubs.membership.others) this.#linkTo(fellow)
  }

  /** The open asks of other hubs, as far as they have told of them. */
  *openAsks(session: string | undefined): Iterable<Ask> {
    for (const link of this.#links.values()) yield* link.openAsks(session)
  }

  close(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    for (const link of this.#links.values()) link.close()
  }

  async #find(session: string): Promise<FoundSession> {
    const { hubs, load, own } = this.#options
    const late = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        const fellow = await hubs.ownership.fellowOf(session)
        if (fellow === undefined) return { session: await load(session), fanOut: own }
        return await this.#linkTo(fellow).follow(session)
      } catch (error) {
        const isOnItsWay = error instanceof HubError && ON_ITS_WAY.has(error.code)
        if (!isOnItsWay || this.#isOver || performance.now() > late) throw error
        await pause(PAUSE_MS)
      }
    }
  }

  #linkTo(fellow: FellowPlace): FellowLink {
    const { hubs, trouble } = this.#options
    const known = this.#links.get(fellow.id)
    if (known !== undefined) return known
    const link = new FellowLink({
      url: fellow.url,
      dial: () => hubs.fellows.stream(fellow),
      fanOut: this.fanOut,
      onCaughtUp: (missed) => void this.#tellAnew(missed),
      onRefused: () =>
        void hubs.secret.load().catch((error: unknown) => trouble("the hubs' secret could not be read", error)),
    })
    this.#links.set(fellow.id, link)
    return link
  }

  #look(): void {
    const { hubs, isWatched } = this.#options
    const alive = new Set(hubs.membership.others.map(({ id }) => id))
    for (const [id, link] of this.#links) {
      if (alive.has(id) && (isWatched() || !link.isIdle)) link.look()
      else {
        this.#links.delete(id)
        link.close()
        if (!alive.has(id)) void this.#tellAnew(link.known)
      }
    }
    this.connect()
  }

  /** Where people hear of the session, also those who follow it over the link to the hub that has it now. */
  #fanOutsOf(session: string): ReadonlySet<FanOut> {
    return new Set([this.fanOut, ...[...this.#links.values()].flatMap((link) => link.fanOutsOf(session))])
  }

  /** What changed while its hub could not tell is in the store. Never rejects. */
  async #tellAnew({ sessions, asks }: Known): Promise<void> {
    const { store, isHere, trouble } = this.#options
    const isToldBy = (session: string) => isHere(session) || [...this.#links.values()].some((link) => link.has(session))
    try {
      for (const id of sessions) {
        const view = await store.getSession(id).catch(unlessUnknown)
        if (isToldBy(id)) continue
        for (const fanOut of this.#fanOutsOf(id)) {
          if (view === undefined) fanOut.purged(id)
          else fanOut.changed(view)
        }
      }
      for (const id of asks) {
        const ask = await store.getAsk(id).catch(unlessUnknown)
        if (ask === undefined || ask.state === "pending") continue
        for (const fanOut of this.#fanOutsOf(ask.sessionId)) fanOut.asked(ask)
      }
    } catch (error) {
      trouble("what other hubs did meanwhile could not be read", error)
    }
  }
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof HubError && error.status === 404)) throw error
  return undefined
}
