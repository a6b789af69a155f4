import { expect, it } from "vitest"
import { movedError } from "../../src/store/store-failure.ts"
import { FakeAgent, setUpSessions } from "./session-setup.ts"

const question = {
  type: "control_request",
  request_id: "r1",
  request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t1" },
}

it("[CT24] what is left of a session that went to another hub and came back ends nothing of it", async () => {
  const { registry, asks } = setUpSessions()
  const before = registry.create({ agent: "external" })
  await new FakeAgent("p1").attach(before)
  await before.settled()
  registry.depart(before, movedError(before.id))
  const session = await registry.get(before.id)
  expect(session).not.toBe(before)
  const agent = new FakeAgent("p1")
  await agent.attach(session, "same")
  agent.say(question)
  await expect.poll(() => asks.pendingCount(session.id)).toBe(1)
  before.wantAgent()
  await expect(before.end({ reason: "its process is gone" })).rejects.toThrow("another hub's")
  await expect(before.park({ reason: "idle" })).rejects.toThrow("another hub's")
  expect(asks.pendingCount(session.id)).toBe(1)
  expect(session.isEnded).toBe(false)
})

it("[CT24] a start whose session went to another hub meanwhile is not wanted any more", () => {
  const { registry } = setUpSessions()
  const session = registry.draft({ agent: "claude" })
  const launch = { spawn: "p1", done: Promise.resolve() }
  session.step({ kind: "launching", launch })
  expect(session.wants(launch)).toBe(true)
  registry.depart(session, movedError(session.id))
  expect(session.wants(launch)).toBe(false)
})

it("[CT10] a session that was being loaded when the hub lost its lease is not this hub's", async () => {
  const before = setUpSessions()
  const { id } = before.registry.create({ agent: "external" })
  await before.registry.loaded(id)?.settled()
  const held = new Set<string>()
  const ownership = {
    isCurrent: true,
    begin: () => undefined,
    claim: async () => void held.add(id),
    take: async () => undefined,
    takeUnsaved: async () => undefined,
    release: async () => undefined,
    drop: () => void held.delete(id),
  }
  const { registry, directory } = setUpSessions(before.directory, before.log, { ownership })
  const read = directory.getSession.bind(directory)
  directory.getSession = async (wanted) => {
    if (held.size > 0) registry.giveUp()
    return read(wanted)
  }
  await expect(registry.get(id)).rejects.toThrow("another hub's")
  expect([registry.loaded(id), held.size]).toEqual([undefined, 0])
  directory.getSession = read
  expect((await registry.get(id)).id).toBe(id)
})

it("[HR30] a hub that is killed while a process ends knows that process, or that it is over", async () => {
  const { registry, directory } = setUpSessions()
  const session = registry.create({ agent: "external" })
  await new FakeAgent("p1").attach(session)
  await session.settled()
  const kept: (readonly [string | null, string | undefined])[] = []
  const save = directory.saveSession.bind(directory)
  directory.saveSession = (saved, how) => {
    kept.push([saved.own.lastAgentUuid, saved.record.exit?.reason])
    return save(saved, how)
  }
  await session.end({ reason: "gone", over: () => session.changeOwn({ lastAgentUuid: "over" }) })
  await session.settled()
  expect(kept.filter(([, reason]) => reason === undefined).map(([own]) => own)).not.toContain("over")
  expect(kept.at(-1)).toEqual(["over", "gone"])
})

it("[HS66] the session in which a conversation goes on is made in the commit that says so of the one before", async () => {
  const { registry, directory } = setUpSessions()
  const before = registry.create({ agent: "external" })
  const agent = new FakeAgent("p1")
  await agent.attach(before)
  registry.claimAgentId(before, "one")
  await before.settled()
  const saved: (readonly [string, string | undefined])[] = []
  let committed: typeof saved = []
  const save = directory.saveSession.bind(directory)
  directory.saveSession = (kept, how) => {
    // As the journal does: what is written from the first write on, until its turn comes, is one commit.
    if (saved.length === 0) setImmediate(() => (committed = [...saved]))
    saved.push([kept.record.id, kept.record.next])
    return save(kept, how)
  }
  const next = await registry.route(before, { type: "assistant", session_id: "two" })
  await expect.poll(() => committed.length).toBeGreaterThan(0)
  expect(next.id).not.toBe(before.id)
  expect(committed).toContainEqual([before.id, next.id])
})

it("[HR30] a process is over also when the requests that it left cannot be closed now: they are when the hub is back", async () => {
  const { registry, directory, asks, log } = setUpSessions()
  const session = registry.create({ agent: "external" })
  const agent = new FakeAgent("p1")
  await agent.attach(session)
  agent.say(question)
  await expect.poll(() => asks.pendingCount(session.id)).toBe(1)
  const settle = directory.settleAsk.bind(directory)
  directory.settleAsk = () => Promise.reject(new Error("the disk is full"))
  await session.end({ reason: "gone" })
  await session.settled()
  expect([session.record.exit?.reason, asks.pendingCount(session.id)]).toEqual(["gone", 1])
  asks.close()
  directory.settleAsk = settle
  await setUpSessions(directory, log).registry.get(session.id)
  expect((await directory.listAsks({ session: session.id })).map(({ state }) => state)).toEqual(["orphaned"])
})

it("[HS22] a message that joined a running turn is confirmed by the agent's report, and that turn is over with its result", async () => {
  const { registry, directory, log } = setUpSessions()
  const session = registry.create({ agent: "external" })
  const agent = new FakeAgent("p1")
  await agent.attach(session)
  const uuids = [
    "11111111-1111-4111-8111-111111111111",
    "22222222-2222-4222-8222-222222222222",
    "33333333-3333-4333-8333-333333333333",
  ] as const
  for (const uuid of uuids) await session.send({ content: "go", uuid }, "somebody")
  await session.messages.delivered()
  const [first, joined, unheard] = uuids
  agent.say({ type: "user", uuid: first, isReplay: true, message: { role: "user", content: "go" } })
  agent.say({ type: "command_lifecycle", command_uuid: joined, state: "started" })
  agent.say({ type: "result", subtype: "success", is_error: false, uuid: "44444444-4444-4444-8444-444444444444" })
  await session.taken()
  await session.settled()
  expect((await directory.openMessages(session.id)).map(({ uuid }) => uuid)).toEqual([unheard])
  const again = setUpSessions(directory, log)
  const restored = await again.registry.get(session.id)
  await new FakeAgent("p1").attach(restored, "same")
  expect(restored.view().state).toBe("idle")
})
