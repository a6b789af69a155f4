import { randomUUID } from "node:crypto"
import { connectHub } from "@signalbox/client"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { hubKills, runsNow } from "../gate.ts"
import { type AgentProcess, startAgent } from "./agent-process.ts"
import { HubProcess, type Json } from "./hub-process.ts"

/** A day of asks: every turn wants to use a tool, and says something when it was answered. */
const DAY: Scenario = {
  turns: Array.from({ length: 600 }, (_, index) => ({
    steps: [
      { tool: "Bash", input: { command: `touch turn-${index}`, description: "make a file" } },
      { say: `That was turn ${index}.` },
    ],
  })),
}

interface Cell {
  readonly kind: "simulator" | "claude"
  readonly version: string
}

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.dispose()
})

/** So that a failing run can be repeated. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

/** Everybody who works with a hub while it is being killed; each remembers what it was promised. */
class Day {
  readonly messages = new Map<string, { session: string; seq: number }>()
  readonly answers = new Map<string, string>()
  readonly seen = new Map<string, number[]>()
  readonly sessions = new Set<string>()
  readonly agents = new Map<string, AgentProcess>()
  readonly #hub: HubProcess
  readonly #client: ReturnType<typeof connectHub>
  readonly #random: () => number
  readonly #work: Promise<void>[] = []
  /** What went wrong for those who work with the hub. */
  readonly #troubles: string[] = []
  #isSending = true
  #isOver = false

  constructor(hub: HubProcess, random: () => number) {
    this.#hub = hub
    this.#random = random
    this.#client = connectHub({ url: hub.ready.url, token: hub.ready.token })
  }

  async addSession(cell: Cell): Promise<void> {
    const { id, ingress } = await this.#hub.post("/api/sessions", { agent: "external" })
    this.#work.push(this.#keepAgent(id, { ...cell, ...ingress }), this.#send(this.#follow(id)))
  }

  answerAll(): void {
    this.#work.push(this.#answer())
  }

  /** No more messages; what was promised is waited for. */
  async end(): Promise<void> {
    this.#isSending = false
    // On a loaded machine, agents that gave up many times have much left to do.
    await expect.poll(() => this.#busy(), { timeout: 240_000, interval: 100 }).toEqual([])
  }

  async #busy(): Promise<string[]> {
    const { sessions } = await this.#hub.get("/api/sessions?limit=500")
    for (const { next } of sessions) if (next !== undefined) this.#follow(next)
    const current = sessions.filter((session: Json) => session.next === undefined)
    // What 2.1.37 says while the hub is away is lost, the end of a turn too: until its next one nobody can tell.
    const isDone = ({ state, cliVersion }: Json) => state === "idle" || (state === "running" && cliVersion === "2.1.37")
    const words = ({ state, cliVersion, transport, pendingAsks }: Json) =>
      `${state}, ${cliVersion} by ${transport}, ${pendingAsks} asks`
    return [...this.#troubles, ...current.filter((session: Json) => !isDone(session)).map(words)]
  }

  async dispose(): Promise<void> {
    this.#isSending = false
    this.#isOver = true
    this.#client.close()
    for (const agent of this.agents.values()) await agent.dispose()
    await Promise.allSettled(this.#work)
  }

  /** An old CLI gives up after a few seconds, as old CLIs do; somebody starts another. */
  async #keepAgent(id: string, options: Json): Promise<void> {
    while (!this.#isOver) {
      const agent = await startAgent({ ...options, scenario: DAY })
      this.agents.set(id, agent)
      await agent.child.closed
      await agent.dispose()
    }
  }

  #follow(session: string): string {
    this.sessions.add(session)
    if (!this.seen.has(session)) this.#work.push(this.#watch(session))
    return session
  }

  async #send(first: string): Promise<void> {
    let session = first
    while (this.#isSending) {
      const uuid = randomUUID()
      const reply = await this.#insist(() =>
        this.#hub.call("POST", `/api/sessions/${session}/messages`, { content: "next", uuid }),
      )
      if (reply.status === 202) this.messages.set(uuid, { session, seq: reply.body.seq })
      // Another process took over, and the conversation goes on in another session.
      if (reply.body.error?.code === "session/rotated") session = this.#follow(reply.body.next)
      await pause(200 + this.#random() * 800)
    }
  }

  async #answer(): Promise<void> {
    try {
      await this.#answerEach()
    } catch (error) {
      if (!this.#isOver) this.#troubles.push(`nobody answers any more: ${String(error)}`)
    }
  }

  async #answerEach(): Promise<void> {
    while (!this.#isOver) {
      for (const ask of await this.#pending()) {
        const behavior = this.#random() < 0.7 ? "allow" : "deny"
        const body = { behavior, answerId: `${ask.id} ${behavior}` }
        const reply = await this.#insist(() => this.#hub.call("POST", `/api/asks/${ask.id}/answer`, body))
        if (reply.status === 200) this.answers.set(ask.id, reply.body.state)
      }
      await pause(50)
    }
  }

  async #pending(): Promise<Json[]> {
    const { status, body } = await this.#insist(() => this.#hub.call("GET", "/api/asks?state=pending"))
    if (status !== 200) throw new Error(`asks are told with ${status}: ${JSON.stringify(body)}`)
    return body.asks
  }

  async #watch(id: string): Promise<void> {
    const seqs: number[] = []
    this.seen.set(id, seqs)
    for await (const item of this.#client.session(id).follow({ after: 0 })) {
      if (item.type === "event") seqs.push(item.seq)
    }
  }

  /** The hub is away now and then: the same call again, as any client would. */
  async #insist<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (this.#isOver) throw error
        await pause(50)
      }
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function everything(hub: HubProcess, id: string): Promise<Json[]> {
  const events: Json[] = []
  for (;;) {
    const page = await hub.get(`/api/sessions/${id}/events?after=${events.length}&limit=500`)
    events.push(...page.events)
    if (!page.more) return events
  }
}

async function check(hub: HubProcess, day: Day): Promise<void> {
  for (const id of day.sessions) {
    const events = await everything(hub, id)
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
    const uuids = events.flatMap((event) => event.message.uuid ?? [])
    expect(new Set(uuids).size, "nothing twice").toBe(uuids.length)
    const requests = events.filter((event) => event.from === "agent").flatMap((event) => event.message.request_id ?? [])
    expect(new Set(requests).size, "no question twice").toBe(requests.length)
    const confirmed = [...day.messages].filter(([, message]) => message.session === id)
    const kept = confirmed.map(([, { seq }]) => events[seq - 1]?.message.uuid)
    expect(kept, "confirmed messages are kept").toEqual(confirmed.map(([uuid]) => uuid))
    const results = events.flatMap((event) =>
      event.message.type === "user" && Array.isArray(event.message.message.content)
        ? event.message.message.content.flatMap((block: Json) => block.tool_use_id ?? [])
        : [],
    )
    expect(new Set(results).size, "no tool was run twice").toBe(results.length)
    // An agent of 2.1.37 may still be at work here: the viewer sees what it says after the events were read, too.
    const seen = day.seen.get(id) ?? []
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(events.length)
    expect(seen, "the viewer saw each once, in order").toEqual(seen.map((_, index) => index + 1))
  }
  for (const [id, state] of day.answers) {
    expect((await hub.get(`/api/asks/${id}`)).state, "an answer that was confirmed stands").toBe(state)
  }
}

const CELLS: readonly (readonly Cell[])[] = [
  [
    { kind: "simulator", version: "2.1.120" },
    { kind: "simulator", version: "2.1.120" },
    { kind: "simulator", version: "2.1.37" },
  ],
  [
    { kind: "claude", version: "2.1.120" },
    { kind: "claude", version: "2.1.37" },
  ],
]

describe("a hub that is killed at random moments", () => {
  for (const cells of CELLS) {
    const kind = cells[0]?.kind ?? "simulator"
    const title = `keeps what it confirmed, once, in order, with the ${kind}`
    if (kind === "claude" && !runsNow("hub", title)) continue
    it(title, async () => {
      const random = seeded(20_261_115)
      const hub = await HubProcess.start()
      open.push(hub)
      const day = new Day(hub, random)
      open.push(day)
      for (const cell of cells) await day.addSession(cell)
      day.answerAll()
      await expect.poll(() => day.answers.size, { timeout: 30_000 }).toBeGreaterThan(0)
      for (let kill = 0; kill < hubKills(kind); kill += 1) {
        await pause(100 + random() * 1_400)
        await hub.kill()
        await hub.startAgain()
      }
      await day.end()
      await check(hub, day)
      expect(day.messages.size).toBeGreaterThan(cells.length)
    }, 900_000)
  }
})
