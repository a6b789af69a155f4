import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { connectHub, type FollowItem, type Hub, HubClientError } from "@signalbox/client"

const RECONNECT = { baseDelayMs: 50, maxDelayMs: 500 }
const AGAIN_MS = 250
/** Between one look whether an agent is free and the next. */
const LOOK_MS = 200
const TIRED_MS = 120_000

type Event = Extract<FollowItem, { type: "event" }>

/** Addresses of all hubs, beginning with this one. */
export function fromHub(urls: readonly string[], first: number): readonly string[] {
  const at = first % urls.length
  return [...urls.slice(at), ...urls.slice(0, at)]
}

/** Tries again for as long as somebody would who is told that a hub, its database or a machine is away. */
export async function insist<T>(act: () => Promise<T>, isFinal = (_status: number) => false): Promise<T> {
  const late = performance.now() + TIRED_MS
  for (;;) {
    try {
      return await act()
    } catch (error) {
      const status = error instanceof HubClientError ? error.status : undefined
      if ((status !== undefined && isFinal(status)) || performance.now() > late) throw error
      await pause(AGAIN_MS)
    }
  }
}

/** Somebody who gives an agent one turn after the other, and reads along on some hub. */
export class Person {
  readonly id: string
  readonly events: Event[] = []
  /** Confirmed messages, with the numbers that they were confirmed with. */
  readonly confirmed = new Map<string, number>()
  readonly #client: Hub
  readonly #following: Promise<void>
  #state = ""
  #pending = 0
  #isWorking = false
  #working: Promise<void> = Promise.resolve()

  constructor({ id, urls, token }: { id: string; urls: readonly string[]; token: string }) {
    this.id = id
    this.#client = connectHub({ url: urls, token, reconnect: RECONNECT })
    this.#following = this.#follow()
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
    this.#client.close()
    await this.#following
  }

  async #follow(): Promise<void> {
    for await (const item of this.#client.session(this.id).follow({ after: 0 })) {
      if (item.type === "event") this.events.push(item)
      if (item.type === "changed") [this.#state, this.#pending] = [item.session.state, item.session.pendingAsks]
    }
  }

  async #work(): Promise<void> {
    while (this.#isWorking) {
      if (this.#pending === 0 && (this.#state === "idle" || this.#state === "ended")) {
        const uuid = randomUUID()
        const content = `go on ${this.confirmed.size}`
        const { seq } = await insist(() => this.#client.session(this.id).send(content, { uuid }))
        this.confirmed.set(uuid, seq)
        await pause(LOOK_MS + Math.random() * 2_000)
      }
      await pause(LOOK_MS)
    }
  }
}

/** Somebody who answers whatever any agent asks, always in the same way, and races with others who do. */
export class Answerer {
  /** The asks that this answer settled, as its reply says. */
  readonly won = new Set<string>()
  readonly failed: unknown[] = []
  readonly #client: Hub
  readonly #watching: Promise<void>
  readonly #behavior: "allow" | "deny"
  readonly #seen = new Set<string>()

  constructor(behavior: "allow" | "deny", { urls, token }: { urls: readonly string[]; token: string }) {
    this.#behavior = behavior
    this.#client = connectHub({ url: urls, token, reconnect: RECONNECT })
    this.#watching = this.#watch()
    this.#watching.catch(() => undefined)
  }

  async leave(): Promise<void> {
    this.#client.close()
    await this.#watching
  }

  async #watch(): Promise<void> {
    for await (const item of this.#client.watch()) {
      if (item.type !== "ask" || item.ask.state !== "pending" || this.#seen.has(item.ask.id)) continue
      this.#seen.add(item.ask.id)
      void this.#answer(item.ask.id).catch((error: unknown) => this.failed.push(error))
    }
  }

  async #answer(id: string): Promise<void> {
    const answerId = randomUUID()
    await pause(Math.random() * 300)
    try {
      const answer = { behavior: this.#behavior, answerId }
      const ask = await insist(
        () => this.#client.answer(id, answer),
        (status) => status === 409,
      )
      if (ask.state === (this.#behavior === "allow" ? "allowed" : "denied")) this.won.add(id)
    } catch (error) {
      // Somebody else was first, or its agent is gone.
      if (!(error instanceof HubClientError && error.status === 409)) throw error
    }
  }
}
