import { describe, expect, it } from "vitest"
import { HubError } from "../../src/errors.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { FakeAgent, setUpSessions } from "./session-setup.ts"

const WAIT = { timeout: 15_000, interval: 5 }

/** Notes that a message was sent when the test lets it. */
class SlowDirectory extends MemoryDirectory {
  readonly held: (() => void)[] = []

  override async setMessageState(...change: Parameters<MemoryDirectory["setMessageState"]>): Promise<void> {
    if (change[2] === "sent") await new Promise<void>((resolve) => void this.held.push(resolve))
    return super.setMessageState(...change)
  }
}

/** Refuses the next messages, and knows nothing of the log, which may take them. The next asks cannot be read. */
class RefusingDirectory extends MemoryDirectory {
  refusals = 0
  unreadable = 0

  override getAsk(...asked: Parameters<MemoryDirectory["getAsk"]>): ReturnType<MemoryDirectory["getAsk"]> {
    if (this.unreadable-- > 0) return Promise.reject(new HubError("store/failed", "The database cannot be read"))
    return super.getAsk(...asked)
  }

  override addMessage(...added: Parameters<MemoryDirectory["addMessage"]>): Promise<void> {
    if (this.refusals-- > 0) return Promise.reject(new HubError("store/failed", "The database cannot be written"))
    return super.addMessage(...added)
  }
}

async function sent(contents: readonly string[]) {
  const parts = setUpSessions()
  const session = parts.registry.create({})
  const agent = new FakeAgent("p1")
  await agent.attach(session)
  const uuids: string[] = []
  for (const content of contents) uuids.push((await session.send({ content }, "ada")).uuid)
  await expect.poll(() => agent.prompts, WAIT).toEqual(contents)
  return { ...parts, session, agent, uuids }
}

describe("messages that a process did not take", () => {
  it("[HR38] one that was just being sent when its process ended waits again too", async () => {
    const directory = new SlowDirectory()
    const { registry } = setUpSessions(directory)
    const session = registry.create({})
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    await session.send({ content: "Hello" }, "ada")
    await expect.poll(() => directory.held.length, WAIT).toBe(1)
    const back = session.messages.takeBack("p1", "unconfirmed")
    directory.held[0]?.()
    await back
    expect(session.messages.waiting).toBe(1)
    expect(await directory.openMessages(session.id)).toMatchObject([{ state: "waiting", incarnation: null }])
  })

  it("[HR38] are those after the last that arrived, also when that one is confirmed by now", async () => {
    const { session, uuids, directory } = await sent(["one", "two", "three"])
    session.messages.confirm(uuids[1] ?? "")
    await session.messages.takeBack("p1", { uuids: [], lastReceived: uuids[1] ?? "" })
    const open = await directory.openMessages(session.id)
    expect(Object.fromEntries(open.map(({ uuid, state }) => [uuid, state]))).toEqual({
      [uuids[0] ?? ""]: "sent",
      [uuids[2] ?? ""]: "waiting",
    })
  })

  it("[HR38] are none where the runner does not tell what arrived, and all where nothing did", async () => {
    const { session } = await sent(["one", "two"])
    await session.messages.takeBack("p1", { uuids: [] })
    expect(session.messages.waiting).toBe(0)
    await session.messages.takeBack("another", { uuids: [], lastReceived: null })
    expect(session.messages.waiting).toBe(0)
    await session.messages.takeBack("p1", { uuids: [], lastReceived: null })
    expect(session.messages.waiting).toBe(2)
  })

  it("[HR38] are those of this session, where the last that arrived belongs to the one before it", async () => {
    const { session, agent, registry, uuids } = await sent(["one"])
    session.messages.confirm(uuids[0] ?? "")
    const next = registry.create({})
    await session.handOver(next)
    await next.send({ content: "two" }, "ada")
    await expect.poll(() => agent.prompts, WAIT).toEqual(["one", "two"])
    await next.messages.takeBack("p1", { uuids: [], lastReceived: uuids[0] ?? "" })
    expect(next.messages.waiting).toBe(1)
  })

  it("[HR24] a turn of an earlier process confirms nothing that was sent to the one that is here", async () => {
    const { session } = await sent(["one"])
    session.messages.confirmSent("p0")
    await session.messages.takeBack("p1", "unconfirmed")
    expect(session.messages.waiting).toBe(1)
  })
})

it("[HS20] a message whose history was written and which was refused reaches the agent when it is sent again", async () => {
  const directory = new RefusingDirectory()
  const { registry } = setUpSessions(directory)
  const session = registry.create({})
  const agent = new FakeAgent("p1")
  await agent.attach(session)
  const message = { content: "Hello", uuid: "11111111-0000-4000-8000-000000000000" }
  directory.refusals = 1
  await expect(session.send(message, "ada")).rejects.toMatchObject({ code: "store/failed" })
  await session.settled()
  const { seq } = await session.send(message, "ada")
  expect(await session.send(message, "ada")).toMatchObject({ seq })
  await expect.poll(() => agent.prompts, WAIT).toEqual(["Hello"])
  expect(await directory.getMessage(session.id, message.uuid)).toMatchObject({ state: "sent" })
})

/** Keeps the next message and says that it could not. */
class ForgetfulDirectory extends MemoryDirectory {
  refusals = 1

  override async addMessage(...added: Parameters<MemoryDirectory["addMessage"]>): Promise<void> {
    await super.addMessage(...added)
    if (this.refusals-- > 0) throw new HubError("store/failed", "The database does not answer")
  }
}

it("[HS20] a refused message that the store has as cancelled reaches the agent when it is sent again, once", async () => {
  const directory = new ForgetfulDirectory()
  const { registry } = setUpSessions(directory)
  const session = registry.create({})
  const agent = new FakeAgent("p1")
  await agent.attach(session)
  const message = { content: "Hello", uuid: "11111111-0000-4000-8000-000000000000" }
  await expect(session.send(message, "ada")).rejects.toMatchObject({ code: "store/failed" })
  await session.settled()
  expect(await directory.getMessage(session.id, message.uuid)).toMatchObject({ state: "cancelled" })
  const { seq } = await session.send(message, "ada")
  expect(await session.send(message, "ada")).toMatchObject({ seq })
  await expect.poll(() => agent.prompts, WAIT).toEqual(["Hello"])
})

it("[HS20] a message that somebody took back stays taken back when it is sent again", async () => {
  const { registry, directory } = setUpSessions()
  const session = registry.create({})
  const message = { content: "Hello", uuid: "11111111-0000-4000-8000-000000000000" }
  const { seq } = await session.send(message, "ada")
  expect(await session.messages.cancel(message.uuid)).toBe(true)
  const noted = session.history.noteCancelled(message.uuid)
  expect(await session.send(message, "ada")).toMatchObject({ seq })
  await noted
  expect(await directory.getMessage(session.id, message.uuid)).toMatchObject({ state: "cancelled" })
  expect(session.messages.waiting).toBe(0)
})

const QUESTION = {
  type: "control_request",
  request_id: "r1",
  request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t1" },
}

describe("[AK24] a question that comes while the store cannot be read", () => {
  it("becomes an ask when it can be read again, once, and the agent hears no error", async () => {
    const directory = new RefusingDirectory()
    const { registry, asks } = setUpSessions(directory)
    const session = registry.create({})
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    directory.unreadable = 1
    agent.say(QUESTION)
    agent.say(QUESTION)
    await session.taken()
    expect(asks.pendingOf(session.id)).toMatchObject([{ requestId: "r1", incarnation: "p1" }])
    expect(agent.heard.filter(({ type }) => type === "control_response")).toEqual([])
    expect(agent.isGivenUp).toBe(false)
  })

  it("is brought again by an agent whose connection has ended meanwhile", async () => {
    const directory = new RefusingDirectory()
    const { registry, asks } = setUpSessions(directory)
    const session = registry.create({})
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    directory.unreadable = 1
    agent.say(QUESTION)
    await session.detach(agent, "the connection ended")
    await session.taken()
    expect(asks.pendingOf(session.id)).toEqual([])
    expect(agent.isGivenUp).toBe(true)
    expect(agent.heard.filter(({ type }) => type === "control_response")).toEqual([])
  })
})
