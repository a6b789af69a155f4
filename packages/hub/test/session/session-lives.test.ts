import { randomUUID } from "node:crypto"
import fc from "fast-check"
import { expect, it } from "vitest"
import type { KeptLaunch } from "../../src/model/session-record.ts"
import type { Launch } from "../../src/session/agent-seat.ts"
import { ALREADY, FakeAgent, setUpSessions } from "./session-setup.ts"

/** What must be true of a session, whatever happened to it. */
interface Known {
  life: "starting" | "live" | "away" | "parked" | "ended"
  process: string | undefined
  hasConversation: boolean
  asks: number
}

interface Model {
  readonly sessions: Known[]
}

/** A hub, the processes of its agents, and a clock that is moved by hand. */
class World {
  time = 0
  hub = this.#open()
  readonly ids: string[] = []
  readonly agents: FakeAgent[] = []
  /** By prompt: the processes that got it. */
  readonly heard = new Map<string, Set<string>>()

  #open(before?: ReturnType<typeof setUpSessions>) {
    return setUpSessions(before?.directory, before?.log, { clock: () => this.time })
  }

  session(index: number) {
    return this.hub.registry.get(this.ids[index] ?? "")
  }

  agentOf(process: string | undefined): FakeAgent {
    const agent = this.agents.findLast(({ incarnation }) => incarnation === process)
    if (agent === undefined) throw new Error("that process never was")
    return agent
  }

  async settle(): Promise<void> {
    for (const session of this.hub.registry.allLoaded()) {
      await session.taken()
      await session.messages.delivered()
      await session.settled()
    }
  }

  async restart(): Promise<void> {
    await this.settle()
    this.hub = this.#open(this.hub)
    await this.hub.registry.restore()
  }

  async rest(): Promise<void> {
    await this.hub.registry.letGo()
    this.time += 2 * 60 * 60_000
    await this.hub.registry.letGo()
  }

  /** As everybody sees it, in memory or in the store. */
  async phaseOf(index: number) {
    const id = this.ids[index] ?? ""
    const loaded = this.hub.registry.loaded(id)
    return loaded?.phase() ?? (await this.hub.directory.getSession(id))?.record.state
  }

  /** As a CLI does with every message that it takes: a second time the same echo tells nothing. */
  #echo({ sessions }: Model): void {
    for (const { life, process } of sessions) {
      const heard = life === "live" ? this.agentOf(process).heard : []
      for (const message of heard)
        if (message.type === "user") this.agentOf(process).say({ ...message, isReplay: true })
    }
  }

  async check(model: Model): Promise<void> {
    const { sessions } = model
    await this.settle()
    this.#echo(model)
    await this.settle()
    for (const [index, { life, asks }] of sessions.entries()) {
      const phase = await this.phaseOf(index)
      if (life === "live") expect(asks > 0 ? ["waiting"] : ["idle", "running"]).toContain(phase)
      else expect(phase).toBe(PHASES[life])
      expect(this.hub.asks.pendingCount(this.ids[index] ?? "")).toBe(asks)
    }
    for (const agent of this.agents) {
      for (const prompt of agent.prompts) {
        const by = this.heard.get(String(prompt)) ?? new Set()
        this.heard.set(String(prompt), by.add(agent.incarnation))
      }
    }
    // What was said to an agent goes to one process, and never to a second one by itself.
    for (const processes of this.heard.values()) expect(processes.size).toBe(1)
  }
}

const PHASES = { starting: "starting", away: "disconnected", parked: "idle", ended: "ended" } as const

type Act = (world: World, known: Known, index: number, model: Model) => Promise<void>

/** Something that happens to one of the sessions, when it can. */
class Happening implements fc.AsyncCommand<Model, World> {
  readonly name: string
  readonly at: number
  readonly can: (known: Known) => boolean
  readonly act: Act

  constructor(name: string, at: number, [can, act]: (typeof ACTS)[string]) {
    this.name = name
    this.at = at
    this.can = can
    this.act = act
  }

  check({ sessions }: Readonly<Model>): boolean {
    const known = sessions[this.at % Math.max(1, sessions.length)]
    return known !== undefined && this.can(known)
  }

  async run(model: Model, world: World): Promise<void> {
    const index = this.at % model.sessions.length
    const known = model.sessions[index]
    if (known !== undefined) await this.act(world, known, index, model)
    await world.check(model)
  }

  toString(): string {
    return `${this.name}(${this.at})`
  }
}

/** Something that happens to the hub. */
class HubHappening implements fc.AsyncCommand<Model, World> {
  readonly name: string
  readonly act: (world: World, model: Model) => Promise<void>

  constructor(name: string, act: (world: World, model: Model) => Promise<void>) {
    this.name = name
    this.act = act
  }

  check(): boolean {
    return true
  }

  async run(model: Model, world: World): Promise<void> {
    await this.act(world, model)
    await world.check(model)
  }

  toString(): string {
    return this.name
  }
}

function launchOf(spawn: string | null, before?: KeptLaunch): KeptLaunch {
  const earlier = before === undefined || before.spawn === null ? [] : [before.spawn]
  return { runner: "r", agent: "claude", cwd: null, spawn, earlier }
}

/** The start of a process, which nobody waits for. */
function startOf(spawn: string): Launch {
  return { spawn, done: Promise.resolve() }
}

async function start(world: World, model: Model, parent?: string): Promise<void> {
  const spawn = randomUUID()
  const session = world.hub.registry.draft({}, parent === undefined ? {} : { parent })
  const launch = startOf(spawn)
  session.step({ kind: "launching", launch })
  expect([session.isDraft, session.wants(launch), session.phase()]).toEqual([true, true, "starting"])
  session.expect(launchOf(spawn))
  session.step({ kind: "launch-over", launch })
  world.ids.push(session.id)
  model.sessions.push({ life: "starting", process: spawn, hasConversation: false, asks: 0 })
}

const isLive = ({ life }: Known) => life === "live"
const mayConnect = ({ life }: Known) => life === "starting" || life === "away"
const isUp = (known: Known) => isLive(known) || known.life === "away"

const ACTS: Record<string, readonly [(known: Known) => boolean, Act]> = {
  connect: [
    mayConnect,
    async (world, known, index) => {
      const isSame = known.life === "away" && world.agents.some(({ incarnation }) => incarnation === known.process)
      const agent = isSame ? new FakeAgent(known.process, ALREADY) : new FakeAgent(known.process)
      world.agents.push(agent)
      await agent.attach(await world.session(index), isSame ? "same" : "new")
      known.life = "live"
    },
  ],
  lines: [isLive, async (world, known) => world.agentOf(known.process).say({ type: "result", uuid: randomUUID() })],
  message: [
    ({ life }) => life !== "ended",
    async (world, _known, index) => void (await (await world.session(index)).send({ content: randomUUID() }, "ann")),
  ],
  ask: [
    isLive,
    async (world, known) => {
      const request = { subtype: "can_use_tool", tool_name: "Bash", input: {}, tool_use_id: randomUUID() }
      world.agentOf(known.process).say({ type: "control_request", request_id: randomUUID(), request })
      known.asks += 1
    },
  ],
  answer: [
    ({ asks }) => asks > 0,
    async (world, known, index) => {
      const [ask] = world.hub.asks.pendingOf(world.ids[index] ?? "")
      await world.hub.asks.answer(ask?.id ?? "", { behavior: "allow" }, { by: "ann", via: "person" })
      known.asks -= 1
    },
  ],
  away: [
    isLive,
    async (world, known, index) => {
      await (await world.session(index)).detach(world.agentOf(known.process), "gone")
      known.life = "away"
    },
  ],
  park: [
    isUp,
    async (world, known, index) => {
      const session = await world.session(index)
      session.letGo("idle")
      await session.messages.takeBack(known.process ?? "", "unconfirmed")
      const over = () => session.changeOwn({ launch: launchOf(null, session.kept.own.launch) })
      await session.park({ reason: "idle", over })
      Object.assign(known, { life: "parked", asks: 0 })
    },
  ],
  wake: [
    ({ life }) => life === "parked",
    async (world, known, index) => {
      const session = await world.session(index)
      known.process = randomUUID()
      const [launch, second] = [startOf(known.process), startOf(randomUUID())]
      session.step({ kind: "launching", launch })
      session.step({ kind: "launching", launch: second })
      expect([session.wants(launch), session.wants(second)]).toEqual([true, false])
      session.expect(launchOf(known.process, session.kept.own.launch))
      session.step({ kind: "launch-over", launch })
      expect([session.launch, session.isAwaited]).toEqual([undefined, false])
      known.life = "starting"
    },
  ],
  failToWake: [
    ({ life }) => life === "parked" || life === "ended",
    async (world, _known, index) => {
      const session = await world.session(index)
      const launch = startOf(randomUUID())
      const { isAwaited } = session
      session.step({ kind: "launching", launch })
      await world.rest()
      // What is being started has its session in memory.
      expect(world.hub.registry.loaded(session.id)).toBe(session)
      session.step({ kind: "launch-over", launch })
      expect([session.launch, session.isAwaited]).toEqual([undefined, isAwaited])
    },
  ],
  stopWhileWaking: [
    ({ life }) => life === "parked",
    async (world, known, index) => {
      const session = await world.session(index)
      const launch = startOf(randomUUID())
      session.step({ kind: "launching", launch })
      session.step({ kind: "stopped" })
      await session.end({ reason: "stopped" })
      expect([session.launch, session.wants(launch), session.isAwaited]).toEqual([launch, false, false])
      session.step({ kind: "launch-over", launch })
      Object.assign(known, { life: "ended", asks: 0 })
    },
  ],
  stop: [
    () => true,
    async (world, known, index) => {
      const session = await world.session(index)
      const { launch } = session.kept.own
      if (launch !== undefined) session.changeOwn({ launch: launchOf(null, launch) })
      await session.end({ reason: "stopped" })
      Object.assign(known, { life: "ended", asks: 0 })
    },
  ],
  rotate: [
    (known) => isLive(known) && known.asks === 0,
    async (world, known, index, model) => {
      const session = await world.session(index)
      const next = await world.hub.registry.route(session, { type: "system", session_id: randomUUID() }, true)
      if (known.hasConversation) {
        expect(next).not.toBe(session)
        known.life = "ended"
        world.ids.push(next.id)
        const { process } = known
        model.sessions.push({ life: "live", process, hasConversation: true, asks: 0 })
        world.agentOf(process).goOnIn(next)
      } else expect(next).toBe(session)
      known.hasConversation = true
    },
  ],
  fork: [() => true, async (world, _known, index, model) => start(world, model, world.ids[index])],
}

/** Most that can happen happens to sessions that have an agent: they should not all be stopped soon. */
const RARE = new Set(["stop", "fork", "park", "stopWhileWaking"])

const happenings = [
  fc.constant(new HubHappening("launch", (world, model) => start(world, model))),
  fc.constant(
    new HubHappening("restart", async (world, { sessions }) => {
      await world.restart()
      for (const known of sessions) if (known.life === "live") known.life = "away"
    }),
  ),
  fc.constant(new HubHappening("rest", (world) => world.rest())),
  ...Object.entries(ACTS).flatMap(([name, act]) =>
    Array.from({ length: RARE.has(name) ? 1 : 4 }, () => fc.nat(5).map((at) => new Happening(name, at, act))),
  ),
]

it("[HS66] whatever happens to sessions, in whichever order, each is where it should be, and nothing is said twice", async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(happenings, { maxCommands: 60, size: "max" }), async (commands) => {
      const [model, world] = [{ sessions: [] }, new World()]
      for (let launched = 0; launched < 2; launched++) await start(world, model)
      await fc.asyncModelRun(() => ({ model, real: world }), commands)
    }),
    { numRuns: 150 },
  )
})
