import { setTimeout as pause } from "node:timers/promises"
import { connectHub, type FollowItem, type Hub, HubClientError } from "@signalbox/client"

const RECONNECT = { baseDelayMs: 50, maxDelayMs: 500 }
const AGAIN_MS = 250
/** Between one look whether an agent is free and the next. */
const LOOK_MS = 200
const TIRED_MS = 120_000
/** An agent whose machine is away cannot be started at present. */
const MACHINE_IS_AWAY = ["session/no-agent"]

type Event = Extract<FollowItem, { type: "event" }>
type Chance = () => number

/** The same seed gives the same numbers. */
export function chances(seed: number): Chance {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Tries again for as long as somebody would who is told that a hub or its database is away. No other refusal passes by itself. */
export async function insist<T>(act: () => Promise<T>, passing: readonly string[] = []): Promise<T> {
  const late = performance.now() + TIRED_MS
  for (;;) {
    try {
      return await act()
    } catch (error) {
      const { status, code } = error instanceof HubClientError ? error : { status: undefined, code: "" }
      const mayPass = status === undefined || status === 503 || passing.includes(code)
      if (!mayPass || performance.now() > late) throw error
      await pause(AGAIN_MS)
    }
  }
}

/** The hubs' addresses, and which of them had each session a moment ago. */
export interface Seats {
  readonly urls: readonly string[]
  readonly owners: ReadonlyMap<string, number>
}

/** All addresses, beginning with the nth hub after the one that has this session. */
function beside({ urls, owners }: Seats, session: string, nth: number): readonly string[] {
  const first = ((owners.get(session) ?? 0) + nth) % urls.length
  return [...urls.slice(first), ...urls.slice(0, first)]
}

interface Somebody {
  readonly token: string
  readonly chance: Chance
}

/** Somebody who gives an agent one turn after the other, and reads along, on another hub than the agent's. */
export class Person {
  readonly id: string
  readonly events: Event[] = []
  /** Confirmed messages, with the numbers that they were confirmed with. */
  readonly confirmed = new Map<string, number>()
  readonly #who: Somebody
  #client: Hub | undefined
  #following: Promise<void> = Promise.resolve()
  #state = ""
  #pending = 0
  #isWorking = false
  #working: Promise<void> = Promise.resolve()

  constructor(id: string, who: Somebody) {
    this.id = id
    this.#who = who
  }

  /** From now on at this hub, from the last event that was seen on. */
  async sit(seats: Seats): Promise<void> {
    await this.leave()
    const url = beside(seats, this.id, 1 + Math.floor(this.#who.chance() * (seats.urls.length - 1)))
    const client = connectHub({ url, token: this.#who.token, reconnect: RECONNECT })
    this.#client = client
    this.#following = this.#follow(client)
    this.#following.catch(() => undefined)
  }

  begin(): void {
    this.#isWorking = true
    this.#working = this.#work()
    this.#working.catch(() => undefined)
  }

  /** Fails if a message was refused for good. */
  async rest(): Promise<void> {
    this.#isWorking = false
    await this.#working
  }

  /** Fails if following failed. */
  async leave(): Promise<void> {
    this.#client?.close()
    await this.#following
  }

  async #follow(client: Hub): Promise<void> {
    for await (const item of client.session(this.id).follow({ after: this.events.at(-1)?.seq ?? 0 })) {
      if (item.type === "event") this.events.push(item)
      if (item.type === "changed") [this.#state, this.#pending] = [item.session.state, item.session.pendingAsks]
    }
  }

  async #work(): Promise<void> {
    while (this.#isWorking) {
      if (this.#pending === 0 && (this.#state === "idle" || this.#state === "ended")) {
        const uuid = crypto.randomUUID()
        const content = `go on ${this.confirmed.size}`
        const send = () => seated(this.#client).session(this.id).send(content, { uuid })
        const { seq } = await insist(send, MACHINE_IS_AWAY)
        this.confirmed.set(uuid, seq)
        await pause(LOOK_MS + this.#who.chance() * 2_000)
      }
      await pause(LOOK_MS)
    }
  }
}

/** Somebody who answers whatever any agent asks, always in the same way and on another hub than the agent's, and races with others who do. */
export class Answerer {
  /** The asks that this answer settled, as its reply says. */
  readonly won = new Set<string>()
  readonly failed: unknown[] = []
  readonly #who: Somebody
  readonly #behavior: "allow" | "deny"
  readonly #seen = new Set<string>()
  /** A client for each order of the addresses, by the first. */
  #clients = new Map<string, Hub>()
  #seats: Seats | undefined
  #watching: Promise<void> = Promise.resolve()

  constructor(behavior: "allow" | "deny", who: Somebody) {
    this.#behavior = behavior
    this.#who = who
  }

  /** From now on at these hubs. */
  async sit(seats: Seats): Promise<void> {
    await this.leave()
    this.#seats = seats
    this.#clients = new Map()
    this.#watching = this.#watch(this.#clientFor("whichever"))
    this.#watching.catch(() => undefined)
  }

  async leave(): Promise<void> {
    for (const client of this.#clients.values()) client.close()
    await this.#watching
  }

  /** Two who answer differently do so on two hubs. */
  #clientFor(session: string): Hub {
    const url = beside(seated(this.#seats), session, this.#behavior === "allow" ? 1 : 2)
    const [first = ""] = url
    const client = this.#clients.get(first) ?? connectHub({ url, token: this.#who.token, reconnect: RECONNECT })
    this.#clients.set(first, client)
    return client
  }

  async #watch(client: Hub): Promise<void> {
    for await (const item of client.watch()) {
      if (item.type !== "ask" || item.ask.state !== "pending" || this.#seen.has(item.ask.id)) continue
      this.#seen.add(item.ask.id)
      void this.#answer(item.ask).catch((error: unknown) => this.failed.push(error))
    }
  }

  async #answer({ id, sessionId }: { readonly id: string; readonly sessionId: string }): Promise<void> {
    const answerId = crypto.randomUUID()
    await pause(this.#who.chance() * 300)
    try {
      const answer = { behavior: this.#behavior, answerId }
      const ask = await insist(() => this.#clientFor(sessionId).answer(id, answer))
      if (ask.state === (this.#behavior === "allow" ? "allowed" : "denied")) this.won.add(id)
    } catch (error) {
      // Somebody else was first, or its agent is gone.
      if (!(error instanceof HubClientError && error.status === 409)) throw error
    }
  }
}

function seated<T>(seat: T | undefined): T {
  if (seat === undefined) throw new Error("they sit nowhere yet")
  return seat
}
