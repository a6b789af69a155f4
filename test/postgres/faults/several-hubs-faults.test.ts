import type { Scenario } from "@signalbox/simulator"
import { describe, expect, it, onTestFinished } from "vitest"
import { clusterFaults } from "../../gate.ts"
import type { Json } from "../../hub/hub-process.ts"
import { textsOf } from "../../runner/turns.ts"
import { hasPostgres } from "../server.ts"
import { Answerer, chances, Person } from "./people.ts"
import { FaultStage } from "./stage.ts"

const AGENTS_OF_EACH = 20
const TURNS = 2_000
const POLL = { timeout: 60_000, interval: 50 }
/** Between two faults. */
const WORK_MS = 3_000

/** Speaks for a moment and asks for something, in turn. */
const SCENARIO: Scenario = {
  turns: Array.from({ length: TURNS }, (_, n) => ({
    steps:
      n % 2 === 0
        ? [{ say: `Turn ${n}: one two three four five six seven eight`, pauseMs: 100, chunk: 16 }]
        : [{ tool: "Bash", input: { command: `touch made-${n}`, description: "make a file" } }, { say: `Turn ${n}.` }],
  })),
}

describe.runIf(hasPostgres)("three hubs on a database with a standby, 62 agents on three machines", () => {
  const seed = clusterFaults.seed ?? Math.floor(Math.random() * 2 ** 31)

  it(
    `[CT92] keep every promise through ${clusterFaults.count} faults (seed ${seed})`,
    async () => {
      const chance = chances(seed)
      const stage = await FaultStage.open(SCENARIO, AGENTS_OF_EACH)
      onTestFinished(() => stage.dispose())
      const { token } = stage
      const ids = await stage.launch(AGENTS_OF_EACH)
      // Everybody has dice of their own: what one does changes nothing for another.
      const people = ids.map((id, index) => new Person(id, { token, chance: chances(seed + index + 1) }))
      const answerers = (["allow", "deny"] as const).map(
        (behavior, index) => new Answerer(behavior, { token, chance: chances(seed - index - 1) }),
      )
      const everybody = [...people, ...answerers]
      onTestFinished(async () => {
        for (const one of everybody) await one.leave()
      })
      await stage.settled("the start")
      const seats = await stage.spread()
      for (const one of everybody) await one.sit(seats)
      const kinds = shuffled(Object.keys(stage.faults), chance)
      for (let count = 0; count < clusterFaults.count; count += 1) {
        const kind = kinds[count % kinds.length] ?? ""
        for (const person of people) person.begin()
        const anew = await stage.spread()
        for (const one of everybody) await one.sit(anew)
        await new Promise((resolve) => setTimeout(resolve, WORK_MS))
        const alive = stage.machines.map((machine) => machine.processes())
        const touched = await stage.faults[kind]?.(chance)
        await Promise.all(people.map((person) => person.rest()))

        await check(stage, { people, answerers, kind: `fault ${count + 1}, ${kind}` })
        for (const [index, machine] of stage.machines.entries()) {
          const ended = alive[index]?.filter((pid) => machine !== touched && !machine.processes().includes(pid))
          expect(ended, `${kind}: agents live on`).toEqual([])
        }
      }
    },
    clusterFaults.count * 120_000 + 300_000,
  )
})

interface Seen {
  readonly people: readonly Person[]
  readonly answerers: readonly Answerer[]
  readonly kind: string
}

async function check(stage: FaultStage, { people, answerers, kind }: Seen): Promise<void> {
  const sessions = await stage.settled(kind)
  const heard = { answers: stage.heard(), living: new Set(stage.machines.flatMap((machine) => machine.processes())) }
  const failed = answerers.flatMap((answerer) => answerer.failed)
  expect(failed, `${kind}: every answer is taken${failed.length > 0 ? stage.log : ""}`).toEqual([])
  for (const person of people) {
    const { lastSeq } = sessions.get(person.id) ?? {}
    const look = () => person.events.at(-1)?.seq
    await expect.poll(look, { ...POLL, message: `${kind}: ${person.id} was followed to its end` }).toBe(lastSeq)
    const { events } = person
    expect(
      events.map(({ seq }) => seq),
      `${kind}: no event missing, twice or out of order`,
    ).toEqual(events.map((_, index) => index + 1))
    const uuids = events.flatMap(({ message }) => (typeof message["uuid"] === "string" ? [message["uuid"]] : []))
    expect(new Set(uuids).size, `${kind}: nothing is in the log twice`).toBe(uuids.length)
    for (const [uuid, seq] of person.confirmed)
      expect(events[seq - 1]?.message["uuid"], `${kind}: a confirmed message is where it was confirmed`).toBe(uuid)
    expectOrder(textsOf(events), `${kind}: what ${person.id} said is in its order`)
    await checkAsks(stage, person, { answerers, kind, heard })
  }
  const isAnswered = [...heard.answers.values()].some(({ behaviors }) => behaviors.length > 0)
  expect(isAnswered, `${kind}: simulated agents write down what they are answered`).toBe(true)
  expect(await stage.writtenByTwo(), `${kind}: no two hubs wrote a session under one epoch`).toEqual([])
}

/** Each turn once. A process that was begun anew may begin its script anew. */
function expectOrder(texts: readonly string[], what: string): void {
  const turns = texts.map((text) => Number(/^Turn (\d+)/.exec(text)?.[1] ?? Number.NaN))
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1] ?? -1
    expect(turn > before || turn <= 1, `${what}: ${turns.join(" ")}`).toBe(true)
  }
}

interface Heard {
  readonly answers: ReturnType<FaultStage["heard"]>
  /** The ids of the agents' processes that live. */
  readonly living: ReadonlySet<number>
}

const BEHAVIORS: Readonly<Record<string, string>> = { allowed: "allow", denied: "deny" }

async function checkAsks(
  stage: FaultStage,
  person: Person,
  { answerers, kind, heard }: Omit<Seen, "people"> & { readonly heard: Heard },
) {
  const asked = person.events.flatMap(({ from, message }: Json) =>
    from === "agent" && message.request?.subtype === "can_use_tool" ? [message] : [],
  )
  const answers = person.events.flatMap(({ from, message }: Json) =>
    from === "client" && message.type === "control_response" ? [String(message.response.request_id)] : [],
  )
  expect(new Set(answers).size, `${kind}: an ask has one answer`).toBe(answers.length)
  const { asks } = await stage.client.request<Json>({
    method: "GET",
    path: `/api/asks?session=${person.id}&limit=1000`,
  })
  const idsOfAsks = asks.map((ask: Json) => String(ask.requestId))
  expect(idsOfAsks.toSorted(byText), `${kind}: each request is one ask`).toEqual(
    asked.map(({ request_id }) => String(request_id)).toSorted(byText),
  )
  const results = new Map<string, boolean[]>()
  for (const { message } of person.events as Json[]) {
    const content = message.type === "user" ? message.message?.content : undefined
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type !== "tool_result") continue
      results.set(block.tool_use_id, [...(results.get(block.tool_use_id) ?? []), block.is_error === true])
    }
  }
  for (const ask of asks as Json[]) {
    expect(["allowed", "denied", "orphaned", "cancelled"], `${kind}: ${ask.id} is settled`).toContain(ask.state)
    const { pid, behaviors } = heard.answers.get(ask.requestId) ?? { pid: undefined, behaviors: [] }
    const behavior = BEHAVIORS[ask.state]
    // A process that is gone may have died before it was answered, or before it could write that down.
    const isCut = behaviors.length === 0 && (pid === undefined || !heard.living.has(pid))
    if (!isCut)
      expect(behaviors, `${kind}: ${ask.id} has one answer on the wire`).toEqual(
        behavior === undefined ? [] : [behavior],
      )
    const winners = answerers.filter(({ won }) => won.has(ask.id))
    expect(winners.length, `${kind}: ${ask.id} has one winner at most`).toBeLessThanOrEqual(1)
    const ran = results.get(ask.request.tool_use_id) ?? []
    expect(ran.length, `${kind}: ${ask.id} was carried out once at most`).toBeLessThanOrEqual(1)
    const isFailure = ran[0]
    if (isFailure !== undefined)
      expect(isFailure, `${kind}: ${ask.id} was carried out as answered`).toBe(ask.state !== "allowed")
  }
}

function byText(one: string, other: string): number {
  return one.localeCompare(other)
}

function shuffled(all: readonly string[], chance: () => number): readonly string[] {
  return all
    .map((one) => [chance(), one] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, one]) => one)
}
