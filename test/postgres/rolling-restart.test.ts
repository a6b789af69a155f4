import { connectHub, type FollowItem, type Hub } from "@signalbox/client"
import type { Ask } from "@signalbox/protocol/hub-api"
import type { Scenario } from "@signalbox/simulator"
import { describe, expect, it, onTestFinished } from "vitest"
import type { Json } from "../hub/hub-process.ts"
import { textsOf } from "../runner/turns.ts"
import { hasPostgres } from "./server.ts"
import { openMachine, sharing, startBeside } from "./several-hubs.ts"

const POLL = { timeout: 120_000, interval: 50 }
const RECONNECT = { baseDelayMs: 50, maxDelayMs: 500 }
const AGENTS = 6
const TURNS = 300
const TOOL = "Bash"

/** Each turn runs a tool, which the policy judges before it runs, or has a person judge in every other turn, and says what it was. */
const WORKING: Scenario = {
  turns: Array.from({ length: TURNS }, (_, n) => ({
    steps: [
      { tool: TOOL, input: { command: `${n % 2 === 0 ? "touch" : "mkdir"} made-${n}`, description: "make something" } },
      { say: `Turn ${n}.` },
    ],
  })),
}

/** A person who gives an agent one turn after the other, and reads along. */
class Person {
  readonly id: string
  readonly items: FollowItem[] = []
  /** The requests that a person answers, as they came. */
  readonly answered = new Set<string>()
  readonly #client: Hub
  readonly #following: Promise<void>
  readonly #answers: Promise<Ask>[] = []
  #isOver = false
  #working: Promise<void> | undefined

  constructor(client: Hub, id: string) {
    this.id = id
    this.#client = client
    this.#following = (async () => {
      for await (const item of client.session(id).follow({ after: 0 })) {
        this.items.push(item)
        if (item.type === "ask" && item.ask.state === "pending") this.#answer(item.ask.id)
      }
    })()
  }

  /** As a program does that repeats what it may repeat, with the client's own means. */
  #answer(ask: string): void {
    if (this.answered.has(ask)) return
    this.answered.add(ask)
    this.#answers.push(this.#client.answer(ask, { behavior: "allow" }))
    this.#answers.at(-1)?.catch(() => undefined)
  }

  get events() {
    return this.items.flatMap((item) => (item.type === "event" ? [item] : []))
  }

  get results(): number {
    return this.events.filter(({ message }) => message.type === "result").length
  }

  begin(): void {
    this.#working = (async () => {
      for (let turn = 1; !this.#isOver && turn < TURNS; turn += 1) {
        await this.#client.session(this.id).send(`go on ${turn}`)
        await expect.poll(() => this.results, POLL).toBe(turn)
      }
    })()
    this.#working.catch(() => undefined)
  }

  async finish(): Promise<void> {
    this.#isOver = true
    await this.#working
    for (const ask of await Promise.all(this.#answers)) expect(ask.state).toBe("allowed")
  }

  async leave(): Promise<void> {
    this.#client.close()
    await this.#following
  }
}

describe.runIf(hasPostgres)("three hubs that are restarted one after the other under load", () => {
  it("[CT91] viewers see no gap and nothing twice, tools that run are not denied by the policy, and no call that may be repeated fails", async () => {
    const hubFlags = await sharing()
    const others = [await startBeside(hubFlags), await startBeside(hubFlags)]
    const addresses = (own: string) => [own, ...others.map(({ ready }) => ready.url)]
    const at = await openMachine({ scenario: WORKING, hubFlags, reach: (own) => addresses(own).join(",") })
    const hubs = [at.hub, ...others]
    const rules = [
      { id: "files", effect: "allow", tool: TOOL, input: { command: "touch *" } },
      { id: "folders", effect: "ask", tool: TOOL, input: { command: "mkdir *" } },
    ]
    expect((await at.hub.call("PUT", "/api/policy", { rules, enforce: "everything" })).status).toBe(200)
    const { token } = at.hub.ready
    const people: Person[] = []
    for (let index = 0; index < AGENTS; index += 1) {
      const { id } = await at.launch()
      await at.isIn(id, "idle")
      const url = addresses(at.hub.ready.url)
      // Each begins at another hub.
      const client = connectHub({
        url: [...url.slice(index % 3), ...url.slice(0, index % 3)],
        token,
        reconnect: RECONNECT,
      })
      const person = new Person(client, id)
      onTestFinished(() => person.leave())
      people.push(person)
    }
    const processes = at.processes()
    for (const person of people) person.begin()
    for (const hub of hubs) {
      const before = people.map(({ results }) => results)
      await expect.poll(() => people.every(({ results }, index) => results > (before[index] ?? 0)), POLL).toBe(true)
      expect(await hub.stop()).toBe(0)
      await hub.startAgain()
    }
    await Promise.all(people.map((person) => person.finish()))
    expect(at.processes()).toEqual(processes)
    for (const person of people) {
      const { events, results } = person
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
      expect(textsOf(events)).toEqual(Array.from({ length: results }, (_, index) => `Turn ${index}.`))
      const outcomes = events.flatMap(({ from, message }) => (from === "agent" ? toolResultsIn(message) : []))
      expect(outcomes.map(({ is_error }) => is_error === true)).toEqual(Array.from({ length: results }, () => false))
      const { asks } = await at.hub.get(`/api/asks?session=${person.id}&limit=1000`)
      const answered = asks.filter(({ via }: Json) => via === "person")
      expect(answered.map(({ id }: Json) => id)).toEqual([...person.answered])
      expect(answered).toHaveLength(Math.floor(results / 2))
      expect(await at.session(person.id)).toMatchObject({ state: "idle", enforce: "everything" })
    }
    expect(people.reduce((sum, { results }) => sum + results, 0)).toBeGreaterThan(AGENTS * hubs.length)
  }, 300_000)
})

function toolResultsIn(message: Json): Json[] {
  const content = message.type === "user" ? message.message.content : []
  return Array.isArray(content) ? content.filter((block: Json) => block.type === "tool_result") : []
}
