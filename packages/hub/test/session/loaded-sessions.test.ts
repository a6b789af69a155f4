import { decode } from "@signalbox/protocol"
import { describe, expect, it, vi } from "vitest"
import { HubError } from "../../src/errors.ts"
import { listSessions } from "../../src/session/session-list.ts"
import { keptSession, pendingAsk, waitingMessage } from "../../src/testing/records.ts"
import { FanOut } from "../../src/viewers/fan-out.ts"
import { ALREADY, FakeAgent, setUpSessions } from "./session-setup.ts"

const HOUR = 60 * 60_000

/** A hub's sessions, with a clock that is moved by hand. */
function setUp(before?: ReturnType<typeof setUpSessions>) {
  const time = { ms: 0 }
  const watched = new Set<string>()
  const countOf = (id: string) => Number(watched.has(id))
  const viewers = {
    countOf,
    published: () => undefined,
    changed: () => undefined,
    asked: () => undefined,
    left: () => undefined,
  }
  const how = { clock: () => time.ms, viewers }
  const sessions = setUpSessions(before?.directory, before?.log, how)
  const letGo = async (afterMs: number) => {
    // Once to see that nobody needs it, and once to see that nobody has since.
    await sessions.registry.letGo()
    time.ms += afterMs
    await sessions.registry.letGo()
  }
  return { ...sessions, time, watched, letGo }
}

async function ended(setup: ReturnType<typeof setUp>) {
  const session = setup.registry.create({ agent: "external" })
  const agent = new FakeAgent()
  await agent.attach(session)
  agent.say({ type: "result", uuid: "r1", subtype: "success", result: "done" })
  await session.end({ reason: "stopped" })
  await session.settled()
  return session
}

describe("sessions in memory and in the store", () => {
  it("[HS65] one that has ended is let go after a minute, and comes back as it was", async () => {
    const setup = setUp()
    const session = await ended(setup)
    const view = session.view()
    await setup.letGo(59_000)
    expect(setup.registry.loaded(session.id)).toBe(session)
    await setup.letGo(60_000)
    expect(setup.registry.loaded(session.id)).toBeUndefined()
    expect(await setup.directory.unfinishedSessions()).toEqual([])
    expect((await setup.registry.get(session.id)).view()).toEqual(view)
    // To be looked at makes it no session that the next start must load.
    expect(await setup.directory.unfinishedSessions()).toEqual([])
  })

  it("[HS65] whoever still has one that was let go has the one that is found", async () => {
    const setup = setUp()
    const session = await ended(setup)
    await setup.letGo(HOUR)
    session.change({ title: "changed by who still has it" })
    await expect.poll(() => setup.registry.loaded(session.id)).toBe(session)
    expect(await setup.registry.find(session.id)).toBe(session)
  })

  it("[HS65] two who ask at once get the same session", async () => {
    const before = setUp()
    const { id } = await ended(before)
    await before.letGo(HOUR)
    const { registry } = setUp(before)
    const [one, other, newest] = await Promise.all([registry.get(id), registry.find(id), registry.newestOf(id)])
    expect(other).toBe(one)
    expect(newest).toBe(one)
  })

  it("[HS65] a session is kept while it has an agent, a process, a message, an ask or somebody who watches", async () => {
    const setup = setUp()
    const { registry, watched, letGo } = setup
    const here = registry.create({ agent: "external" })
    await new FakeAgent().attach(here)
    const waiting = registry.create({ agent: "external" })
    await waiting.send({ content: "later" }, "ann")
    const seen = registry.create({ agent: "external" })
    watched.add(seen.id)
    const running = registry.create({})
    const launch = { runner: "r", agent: "claude", cwd: null, earlier: [] } as const
    running.expect({ ...launch, spawn: "p1" })
    const idle = registry.create({ agent: "external" })
    await letGo(HOUR)
    await letGo(HOUR)
    expect([...registry.allLoaded()]).toEqual([here, waiting, seen, running])
    expect((await registry.get(idle.id)).phase()).toBe("starting")
  })

  it("[HS65] an idle session is let go after an hour, and its agent comes back to it", async () => {
    const setup = setUp()
    const session = setup.registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    await setup.registry.route(session, { type: "system", session_id: "c1" })
    await session.detach(agent, "gone")
    await setup.letGo(HOUR - 1)
    expect(setup.registry.loaded(session.id)).toBe(session)
    await setup.letGo(HOUR)
    expect(setup.registry.loaded(session.id)).toBeUndefined()
    const later = setUp(setup)
    const again = await later.registry.byAgentId("c1")
    expect(again?.phase()).toBe("disconnected")
    if (again === undefined) throw new Error("it is gone")
    await new FakeAgent("p1", ALREADY).attach(again, "same")
    expect(again.phase()).toBe("idle")
    await again.settled()
    expect(await later.directory.unfinishedSessions()).toEqual([session.id])
  })

  it("[HS65] two agents that name one conversation at once do not both get it", async () => {
    const before = setUp()
    const old = before.registry.create({ agent: "external" })
    const gone = new FakeAgent("p0")
    await gone.attach(old)
    await before.registry.route(old, { type: "system", session_id: "c1" })
    await old.detach(gone, "gone")
    await before.letGo(HOUR)
    const { registry } = setUp(before)
    const dialled = [registry.create({ agent: "external" }), registry.create({ agent: "external" })]
    await Promise.all(dialled.map((session, index) => new FakeAgent(`p${index + 1}`).attach(session)))
    const routed = await Promise.all(
      dialled.map((session) => registry.route(session, { type: "system", session_id: "c1" })),
    )
    expect(routed.map(({ id }) => id)).toContain(old.id)
    // The second takes the place of the first, as it does when it comes later.
    const homes = [...registry.allLoaded()].filter((session) => session.wire !== undefined)
    expect(homes).toHaveLength(1)
  })

  it("[HS63] a hub that starts loads what is unfinished and nothing else, with asks and messages", async () => {
    const { directory, registry, asks } = setUp()
    for (const id of ["over", "asked", "sent", "moved", "newest"]) {
      const state = id === "over" || id === "moved" ? "ended" : "disconnected"
      const kept = keptSession(id, { state, ...(id === "moved" && { next: "newest" }) })
      await directory.saveSession(kept, { isAtRest: true })
    }
    await directory.addAsk(pendingAsk("a1", { sessionId: "asked" }))
    await directory.addMessage(waitingMessage("m1", 0, { sessionId: "sent" }))
    await directory.addMessage(waitingMessage("m2", 0, { sessionId: "moved" }))
    await registry.restore()
    expect([...registry.allLoaded()].map(({ id }) => id)).toEqual(["asked", "sent", "moved", "newest"])
    expect(asks.pendingOf("asked")).toHaveLength(1)
    expect(registry.loaded("sent")?.messages.waiting).toBe(1)
    expect(registry.loaded("newest")?.messages.holds("m2")).toBe(true)
  })

  it("[HS65] a record that a kill left behind its log has caught up when it is loaded", async () => {
    const { directory, log, registry } = setUp()
    await directory.saveSession(keptSession("s", { state: "idle" }))
    const line = JSON.stringify({ type: "result", subtype: "success", result: "done", uuid: "u1" })
    await log.append("s", [{ at: 5, from: "agent", key: "u1", line }])
    await registry.restore()
    expect(registry.loaded("s")?.record).toMatchObject({ lastSeq: 1, turns: 1 })
    expect(decode(line, "agent").kind).toBe("known")
  })

  it("[HS64] [DR100] the list has sessions in memory and in the store in one order, a page at a time", async () => {
    const { directory, registry } = setUp()
    const ids = Array.from({ length: 23 }, (_, index) => `s${String(index).padStart(2, "0")}`)
    for (const [index, id] of ids.entries()) {
      const createdAt = new Date(Date.UTC(2030, 0, 1 + index)).toISOString()
      const state = index % 3 === 0 ? "ended" : "disconnected"
      await directory.saveSession(keptSession(id, { createdAt, state, title: `t${index % 2}` }), { isAtRest: true })
      if (index % 4 === 0) await registry.get(id)
    }
    const viewers = new FanOut()
    const pages = async (query: { state?: "ended"; q?: string }, limit: number) => {
      const listed: string[] = []
      let cursor: string | null = null
      do {
        const at: { cursor?: string } = cursor === null ? {} : { cursor }
        const page = await listSessions({ registry, directory, viewers }, { limit, ...query, ...at })
        expect(page.sessions.length).toBeLessThanOrEqual(limit)
        listed.push(...page.sessions.map(({ id }) => id))
        cursor = page.cursor
      } while (cursor !== null)
      return listed
    }
    const newestFirst = ids.toReversed()
    for (const limit of [1, 2, 5, 22, 23, 500]) expect(await pages({}, limit)).toEqual(newestFirst)
    const isEnded = (id: string) => Number(id.slice(1)) % 3 === 0
    expect(await pages({ state: "ended" }, 3)).toEqual(newestFirst.filter(isEnded))
    const isOdd = (id: string) => Number(id.slice(1)) % 2 === 1
    expect(await pages({ q: " T1 " }, 3)).toEqual(newestFirst.filter(isOdd))
    // Pins come first, of those in memory and of those in the store.
    const pins = ["s08", "s03"]
    for (const id of pins) {
      const kept = registry.loaded(id) ?? (await registry.get(id))
      kept.change({ pinned: true })
      await kept.settled()
    }
    const pinnedFirst = [...pins, ...newestFirst.filter((id) => !pins.includes(id))]
    for (const limit of [1, 2, 5, 500]) expect(await pages({}, limit)).toEqual(pinnedFirst)
    for (const id of pins) registry.loaded(id)?.change({ pinned: false })
    expect(await pages({}, 3)).toEqual(newestFirst)
    // What is in memory knows more than its row.
    await registry.loaded("s04")?.end({ reason: "stopped" })
    expect(await pages({ state: "ended" }, 3)).toEqual(newestFirst.filter((id) => isEnded(id) || id === "s04"))
  })
})

describe("a session that hubs share", () => {
  it.each(["cannot be read", "is gone"])(
    "[CT10] is not this hub's if its record %s once it is claimed",
    async (how) => {
      const owned = new Set<string>()
      const nothing = async () => undefined
      const claim = async (id: string) => {
        owned.add(id)
        const read = vi.spyOn(directory, "getSession")
        if (how === "is gone") read.mockResolvedValueOnce(undefined)
        else read.mockRejectedValueOnce(new HubError("store/failed", "The database cannot be read"))
      }
      const drop = (id: string) => void owned.delete(id)
      const ownership = {
        isCurrent: true,
        begin: drop,
        claim,
        take: nothing,
        takeUnsaved: nothing,
        release: nothing,
        drop,
      }
      const { registry, directory } = setUpSessions(undefined, undefined, { ownership })
      await directory.saveSession(keptSession("s"))
      await registry.find("s").catch(() => undefined)
      expect(owned).toEqual(new Set())
      expect(registry.loaded("s")).toBeUndefined()
    },
  )
})
