import { EventEmitter, once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"
import type { Envelope } from "@signalbox/protocol"
import { describe, expect, it } from "vitest"
import { steer } from "../../src/clients/steering.ts"
import { HubError } from "../../src/errors.ts"
import { ALREADY, FakeAgent, linesOf, setUpSessions } from "./session-setup.ts"

const init = (uuid: string, session_id = "c1"): Envelope => ({
  type: "system",
  subtype: "init",
  uuid,
  session_id,
  model: "m",
  cwd: "/srv",
  permissionMode: "plan",
  claude_code_version: "2.1.120",
})
const result = (uuid: string, cost: number): Envelope => ({
  type: "result",
  subtype: "success",
  is_error: false,
  uuid,
  session_id: "c1",
  total_cost_usd: cost,
  usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
})
const delta = (text: string): Envelope => ({
  type: "stream_event",
  event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
  parent_tool_use_id: null,
})
const question = (requestId: string): Envelope => ({
  type: "control_request",
  request_id: requestId,
  request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: `tool ${requestId}` },
})

describe("a session's lines", () => {
  it("[HS162] that the store refuses send the agent back for them, and none that came behind them is kept", async () => {
    const { registry, log, published } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    await session.settled()
    published.length = 0
    const append = log.append.bind(log)
    log.append = async (...said) => {
      if (said[1].some(({ key }) => key === "u1")) throw new HubError("store/failed", "a damaged page")
      return append(...said)
    }
    agent.say(init("u1"))
    void session.history.room()
    // It comes while the first is on its way into the log.
    agent.say(result("u2", 1))
    await expect.poll(() => agent.isGivenUp).toBe(true)
    await session.settled()
    expect(published).toEqual([])
    expect(session.history.refused).toBe(2)
    // The lines of an agent that is back are taken again.
    agent.say(result("u2", 1))
    await session.settled()
    expect(published).toHaveLength(1)
  })

  it("[HS4] events are shown when durable, and deltas keep their place", async () => {
    const { registry, published, log } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    published.length = 0
    const append = log.append.bind(log)
    const disk = new EventEmitter()
    const isWritten = once(disk, "synced")
    log.append = (...events) => isWritten.then(() => append(...events))
    agent.say(init("u1"))
    agent.say(delta("a"))
    agent.say({ type: "assistant", message: { content: [] }, uuid: "u2", session_id: "c1" })
    agent.say(delta("b"))
    await pause(20)
    expect(published).toEqual([])
    disk.emit("synced")
    await session.settled()
    expect(published.map((item) => (item.kind === "event" ? item.event.seq : "delta"))).toEqual([
      2,
      "delta",
      3,
      "delta",
    ])
  })

  it("[HS5] a line that comes again is not an event again", async () => {
    const { registry, log } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    agent.say(init("u1"))
    agent.say(init("u1"))
    agent.say(question("r1"))
    agent.say(question("r1"))
    agent.say(result("u2", 1))
    agent.say(result("u2", 1))
    expect(await linesOf(log, session)).toEqual([
      "hub hub connected",
      "agent system init",
      "agent control_request",
      "agent result success",
    ])
    expect(session.record).toMatchObject({ turns: 1, costUsd: 1 })
  })

  it("[HS6] deltas sent again after a reconnect are dropped, but for the sentence in progress", async () => {
    const { registry, published } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent("p1", null)
    void agent.attach(session)
    await session.settled()
    agent.say(init("u1"))
    await session.settled()
    await session.detach(agent, "gone")
    const back = new FakeAgent("p1", null)
    void back.attach(session, "same")
    await session.settled()
    published.length = 0
    const about = { type: "system", subtype: "background_tasks_changed", uuid: "u2" }
    for (const message of [delta("old"), init("u1"), delta("new"), about]) back.say(message)
    await session.settled()
    expect(published.filter(({ kind }) => kind === "delta")).toEqual([])
    const [initialize] = back.heard
    back.say({ type: "control_response", response: { ...ALREADY, request_id: initialize?.["request_id"] } })
    await expect
      .poll(() => published.flatMap((item) => (item.kind === "delta" ? [item.line] : [])))
      .toEqual([JSON.stringify(delta("new"))])
  })

  it("[HS6] an agent that connects again before it was greeted ends nothing of what its next connection replays", async () => {
    const { registry, published } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    await session.detach(agent, "gone")
    const [stale, back] = [new FakeAgent("p1", null), new FakeAgent("p1", null)]
    const attached = stale.attach(session, "same")
    void back.attach(session, "same")
    await attached
    await session.settled()
    back.say(delta("old"))
    await session.settled()
    expect(published.filter(({ kind }) => kind === "delta")).toEqual([])
    expect([stale.heard.length, back.heard.length]).toEqual([0, 1])
  })

  it("[HS8] a malformed line is told and harms nothing", async () => {
    const { registry, log, troubles } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    agent.say("rubbish")
    agent.say(init("u1"))
    expect(await linesOf(log, session)).toContain("agent system init")
    expect(troubles).toEqual(["a malformed line"])
  })
})

describe("a session's record", () => {
  it("[HS10] follows what the agent says, and is named by the first message", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    await session.send({ content: "Mend the tests,\nplease" }, "ann")
    agent.say(init("u1"))
    agent.say({ type: "assistant", message: { content: [{ type: "text", text: "## First.\nlast line" }] }, uuid: "u2" })
    await session.settled()
    expect(session.record).toMatchObject({
      title: "Mend the tests, please",
      model: "m",
      cwd: "/srv",
      permissionMode: "plan",
      cliVersion: "2.1.120",
      lastLine: "First.",
    })
  })

  it("[HS11] a total that a resumed CLI carries over is not counted twice", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const newer = (uuid: string, total: number, own: number): Envelope => ({
      ...result(uuid, total),
      model_usage_since_last_result: { m: { costUSD: own } },
    })
    const first = new FakeAgent("p1")
    await first.attach(session)
    first.say(newer("r1", 1, 1))
    await session.settled()
    await session.detach(first, "gone")
    const second = new FakeAgent("p2")
    await second.attach(session)
    second.say(newer("r2", 1.5, 0.5))
    await session.settled()
    expect(session.record.costUsd).toBe(1.5)
  })

  it("[HS11] cost is added up over processes, tokens over turns", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const first = new FakeAgent("p1")
    await first.attach(session)
    first.say(result("u1", 1))
    first.say(result("u2", 1.5))
    await session.settled()
    await session.detach(first, "died")
    const second = new FakeAgent("p2")
    await second.attach(session)
    second.say(result("u3", 0.25))
    await session.settled()
    expect(session.record).toMatchObject({
      turns: 3,
      costUsd: 1.75,
      tokens: { input: 30, output: 15, cacheRead: 9, cacheCreation: 6 },
    })
  })

  it("[HS11] a result that a process left behind counts what was not counted yet, and once", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const first = new FakeAgent("p1")
    await first.attach(session)
    first.say(result("u1", 1))
    await session.settled()
    await session.detach(first, "lost")
    const second = new FakeAgent("p2")
    await second.attach(session)
    second.say(init("u2"))
    second.say(result("u3", 0.25))
    await session.settled()
    const late = result("u4", 1.5)
    session.ingest({ kind: "unknown", why: "type", message: late, line: JSON.stringify(late) }, undefined, "p1")
    await session.settled()
    expect(session.record.costUsd).toBe(1.75)
    second.say(result("u5", 0.5))
    await session.settled()
    expect(session.record).toMatchObject({ turns: 4, costUsd: 2 })
  })

  it("[HS11] what a process had used before it went on in another session is not counted there", async () => {
    const { registry } = setUpSessions()
    const first = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(first)
    await registry.route(first, init("u1", "c1"))
    agent.say(result("u2", 1))
    await first.settled()
    const second = await registry.route(first, init("u3", "c2"))
    second.ingest({ kind: "unknown", why: "type", message: result("u4", 1.5), line: JSON.stringify(result("u4", 1.5)) })
    await second.settled()
    expect([first.record.costUsd, second.record.costUsd]).toEqual([1, 0.5])
  })

  const used = (input: number, cacheCreation: number, costUsd: number) => ({
    inputTokens: input,
    outputTokens: 1,
    cacheReadInputTokens: 7,
    cacheCreationInputTokens: cacheCreation,
    costUSD: costUsd,
  })
  const counted = (input: number, output: number, cacheRead: number, cacheCreation: number, costUsd: number) => ({
    input,
    output,
    cacheRead,
    cacheCreation,
    costUsd,
  })

  it("[HS48] what each model used is added up over processes: a total is one process's own", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const first = new FakeAgent("p1")
    await first.attach(session)
    expect(session.record.models).toBeUndefined()
    first.say({ ...result("u1", 1), modelUsage: { big: used(10, 100, 1) } })
    first.say({ ...result("u2", 1.5), modelUsage: { big: used(15, 140, 1.25), small: used(3, 0, 0.25) } })
    await session.settled()
    expect(session.record.models).toEqual({ big: counted(15, 1, 7, 140, 1.25), small: counted(3, 1, 7, 0, 0.25) })
    await session.detach(first, "died")
    const second = new FakeAgent("p2")
    await second.attach(session)
    second.say({ ...result("u3", 0.25), modelUsage: { big: used(5, 50, 0.25) } })
    await session.settled()
    const late = { ...result("u4", 1.75), modelUsage: { big: used(15, 140, 1.25), small: used(8, 0, 0.5) } }
    session.ingest({ kind: "unknown", why: "type", message: late, line: JSON.stringify(late) }, undefined, "p1")
    second.say({ ...result("u5", 0.5), modelUsage: { big: used(6, 60, 0.5) } })
    await session.settled()
    expect(session.record.models).toEqual({ big: counted(21, 2, 14, 200, 1.75), small: counted(8, 1, 7, 0, 0.5) })
  })

  it("[HS48] the use since the last result is added as it is, also where the total goes on from a resumed one", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    const since = { big: used(10, 100, 1) }
    agent.say({ ...result("u1", 9), modelUsage: { big: used(900, 900, 9) }, model_usage_since_last_result: since })
    agent.say({ ...result("u2", 10), modelUsage: { big: used(910, 1000, 10) }, model_usage_since_last_result: since })
    await session.settled()
    expect(session.record.models).toEqual({ big: counted(20, 2, 14, 200, 2) })
  })

  it("[HS48] what a process had used before it went on in another session is not that session's, by model too", async () => {
    const { registry } = setUpSessions()
    const first = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(first)
    await registry.route(first, init("u1", "c1"))
    agent.say({ ...result("u2", 1), modelUsage: { big: used(10, 100, 1) } })
    await first.settled()
    const second = await registry.route(first, init("u3", "c2"))
    const next = { ...result("u4", 1.5), modelUsage: { big: used(15, 140, 1.5) } }
    second.ingest({ kind: "unknown", why: "type", message: next, line: JSON.stringify(next) })
    await second.settled()
    expect(second.record.models).toEqual({ big: counted(5, 0, 0, 40, 0.5) })
  })

  it("[HS48] an agent that names ever more models, or odd ones, makes the record no longer than sixteen", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`m${n}`.padEnd(5_000, "x"), used(1, 1, 1)]))
    const odd = JSON.parse(
      '{"__proto__":{"inputTokens":5},"constructor":{"inputTokens":-5,"outputTokens":"7"},"n":null}',
    )
    agent.say({ ...result("u1", 1), modelUsage: { ...many } })
    agent.say({ ...result("u2", 1), model_usage_since_last_result: odd })
    await session.settled()
    const { models = {} } = session.record
    expect(Object.keys(models).length).toBeLessThanOrEqual(17)
    expect(JSON.stringify(models).length).toBeLessThan(5_000)
    expect(Object.values(models).reduce((sum, { input }) => sum + input, 0)).toBe(505)
  })

  it("[HS12] the state is what the agent does", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    expect(session.phase()).toBe("starting")
    await agent.attach(session)
    expect(session.phase()).toBe("idle")
    await session.send({ content: "go" }, "ann")
    expect(session.phase()).toBe("running")
    agent.say(question("r1"))
    await expect.poll(() => session.phase()).toBe("waiting")
    agent.say({ type: "control_cancel_request", request_id: "r1" })
    await expect.poll(() => session.phase()).toBe("running")
    agent.say(result("u1", 0))
    await expect.poll(() => session.phase()).toBe("idle")
    await session.detach(agent, "gone")
    expect(session.phase()).toBe("disconnected")
    await session.end({ reason: "stopped" })
    expect(session.phase()).toBe("ended")
  })

  it("[HS13] a turn under way when the hub went down is under way when it is back", async () => {
    const before = setUpSessions()
    const session = before.registry.create({ agent: "external" })
    await new FakeAgent().attach(session)
    await session.send({ content: "go" }, "ann")
    await expect.poll(async () => (await before.directory.getSession(session.id))?.record.turnStartedAt).toBeDefined()
    const after = setUpSessions(before.directory, before.log)
    const again = await after.registry.get(session.id)
    expect(again.phase()).toBe("disconnected")
    await new FakeAgent("p1", ALREADY).attach(again, "same")
    expect(again.phase()).toBe("running")
  })
})

describe("messages to the agent", () => {
  it("[HS20] the same uuid again is the same message", async () => {
    const { registry, log } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    const first = await session.send({ content: "once", uuid: "m1" }, "ann")
    expect(await session.send({ content: "once", uuid: "m1" }, "ann")).toEqual(first)
    await session.settled()
    expect((await log.read(session.id, { after: 0, limit: 10 })).at(first.seq - 1)?.key).toBe("m1")
    await expect.poll(() => agent.prompts).toEqual(["once"])
  })

  it("[HS20] nor do two at the same time make two of it", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    const message = { content: "once", uuid: "m1" }
    const [first, second] = await Promise.all([session.send(message, "ann"), session.send(message, "ann")])
    expect(second).toEqual(first)
    await session.settled()
    expect(agent.prompts).toEqual(["once"])
  })

  it("[HS21] messages wait for the agent and go to it in order; too many are refused", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    for (const word of ["one", "two", "three"]) await session.send({ content: word }, "ann")
    const agent = new FakeAgent()
    await agent.attach(session)
    await expect.poll(() => agent.prompts).toEqual(["one", "two", "three"])
    expect(agent.heard[0]).toMatchObject({ request: { subtype: "initialize" } })
    await session.detach(agent, "gone")
    for (let index = 3; index < 200; index += 1) await session.send({ content: String(index) }, "ann")
    await expect(session.send({ content: "too many" }, "ann")).rejects.toMatchObject({ code: "session/queue-full" })
  })

  it("[HS22] the same process gets again what it has not confirmed", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    await session.send({ content: "confirmed", uuid: "m1" }, "ann")
    await session.send({ content: "not yet", uuid: "m2" }, "ann")
    await expect.poll(() => agent.prompts).toHaveLength(2)
    agent.say({ type: "user", message: { role: "user", content: "confirmed" }, uuid: "m1", isReplay: true })
    await session.settled()
    await session.detach(agent, "gone")
    const back = new FakeAgent("p1", ALREADY)
    await back.attach(session, "same")
    await expect.poll(() => back.prompts).toEqual(["not yet"])
  })

  it("[HS22] what is on its way when the conversation moves on goes along, through a restart of the hub too", async () => {
    const before = setUpSessions()
    const first = before.registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(first)
    await before.registry.route(first, init("u1", "c1"))
    await first.send({ content: "on its way", uuid: "m1" }, "ann")
    await expect.poll(() => agent.prompts).toEqual(["on its way"])
    const second = await before.registry.route(first, init("u2", "c2"))
    await Promise.all([first.settled(), second.settled()])
    const after = setUpSessions(before.directory, before.log)
    await after.registry.restore()
    const back = new FakeAgent("p1", ALREADY)
    await back.attach(await after.registry.get(second.id), "same")
    await expect.poll(() => back.prompts).toEqual(["on its way"])
  })

  it("[HS23] what was sent to a process that died is unknown; what was not goes to the next", async () => {
    const { registry, log } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    await session.send({ content: "taken?", uuid: "m1" }, "ann")
    await expect.poll(() => agent.prompts).toEqual(["taken?"])
    await session.detach(agent, "died")
    await session.send({ content: "later" }, "ann")
    const next = new FakeAgent("p2")
    await next.attach(session)
    await expect.poll(() => next.prompts).toEqual(["later"])
    expect(await linesOf(log, session)).toContain("hub hub message_unknown")
  })

  it("[HS24] a waiting message can be taken back", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    await session.send({ content: "no", uuid: "m1" }, "ann")
    await session.send({ content: "yes", uuid: "m2" }, "ann")
    expect(await session.messages.cancel("m1")).toBe(true)
    expect(await session.messages.cancel("m9")).toBe(false)
    expect([session.messages.holds("m1"), session.messages.holds("m2")]).toEqual([false, true])
    const agent = new FakeAgent()
    await agent.attach(session)
    await expect.poll(() => agent.prompts).toEqual(["yes"])
    expect(await session.messages.cancel("m2")).toBe(false)
    expect(session.messages.holds("m2")).toBe(true)
  })
})

describe("who is who", () => {
  it("[HS30] initialize comes first, and brings the questions that got lost", async () => {
    const { registry, asks } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent("p1", { ...ALREADY, pending_permission_requests: [question("r7")] })
    await agent.attach(session, "same")
    expect(agent.heard[0]).toMatchObject({ type: "control_request", request: { subtype: "initialize" } })
    await expect.poll(() => asks.pendingOf(session.id).map((ask) => ask.requestId)).toEqual(["r7"])
  })

  it("[HS30] a message that comes while the agent connects waits for initialize", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    const attached = agent.attach(session)
    await session.send({ content: "early" }, "ann")
    await attached
    await expect.poll(() => agent.prompts).toEqual(["early"])
    expect(agent.heard[0]).toMatchObject({ request: { subtype: "initialize" } })
  })

  it("[HS49] the limit of thinking is what the agent confirmed, through a restart, and goes with its process", async () => {
    const before = setUpSessions()
    const session = before.registry.create({ agent: "external" })
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    const set = async (tokens: unknown, subtype = "success") => {
      const count = agent.heard.length
      const request = { subtype: "set_max_thinking_tokens", max_thinking_tokens: tokens }
      const done = steer(session, request, { by: "ann", timeoutMs: 1000 })
      await expect.poll(() => agent.heard.length).toBe(count + 1)
      agent.say({ type: "control_response", response: { subtype, request_id: agent.heard[count]?.["request_id"] } })
      await done
      return session.record.maxThinkingTokens
    }
    expect(session.record.maxThinkingTokens).toBeUndefined()
    expect(await set(10_000)).toBe(10_000)
    expect(await set(4_000, "error")).toBe(10_000)
    expect(await set("much")).toBeNull()
    expect(await set(null)).toBeNull()
    expect(await set(0)).toBe(0)
    await session.settled()
    const after = setUpSessions(before.directory, before.log)
    expect((await after.registry.get(session.id)).record.maxThinkingTokens).toBe(0)
    await session.detach(agent, "died")
    await new FakeAgent("p2").attach(session)
    expect(session.record.maxThinkingTokens).toBeUndefined()
  })

  it("[HS44] an interrupt while the agent connects comes to it after the message whose turn it is to end", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({ agent: "external" })
    await session.send({ content: "early" }, "ann")
    const agent = new FakeAgent()
    const attached = agent.attach(session)
    const interrupted = steer(session, { subtype: "interrupt" }, { by: "ann", timeoutMs: 1000 })
    await attached
    await expect.poll(() => agent.heard.length).toBe(3)
    expect(agent.prompts).toEqual(["early"])
    expect(agent.heard[2]).toMatchObject({ request: { subtype: "interrupt" } })
    const response = { subtype: "success", request_id: agent.heard[2]?.["request_id"] }
    agent.say({ type: "control_response", response })
    expect(await interrupted).toMatchObject({ subtype: "success" })
    agent.say({ type: "result", subtype: "error_during_execution", is_error: true })
    await expect.poll(() => session.record.lastResult).toMatchObject({ interruptedBy: "ann" })
  })

  it("[HS31] one that was initialized before is the same process, one that was not is new", async () => {
    const { registry, asks } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    agent.say(question("r1"))
    await expect.poll(() => asks.pendingCount(session.id)).toBe(1)
    await session.detach(agent, "gone")
    await new FakeAgent("p1", ALREADY).attach(session, "unknown")
    expect(asks.pendingCount(session.id)).toBe(1)
    const started = new FakeAgent("p1")
    await started.attach(session, "unknown")
    expect(started.incarnation).not.toBe("p1")
    expect(asks.pendingCount(session.id)).toBe(0)
  })

  it("[HS31] one that is lost before it tells is neither: nothing of the old process is given up", async () => {
    const { registry, asks } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    agent.say(question("r1"))
    await expect.poll(() => asks.pendingCount(session.id)).toBe(1)
    await session.detach(agent, "gone")
    const flicker = new FakeAgent("p1", null)
    const attached = flicker.attach(session, "unknown")
    await expect.poll(() => flicker.heard.length).toBe(1)
    await session.send({ content: "for whom?" }, "ann")
    expect([session.greetedWire, flicker.prompts]).toEqual([undefined, []])
    await session.detach(flicker, "gone again")
    await attached
    expect(asks.pendingCount(session.id)).toBe(1)
    const back = new FakeAgent("p1", ALREADY)
    await back.attach(session, "unknown")
    expect(back.prompts).toEqual(["for whom?"])
  })

  it("[HS30] a question that is taken back at once is cancelled", async () => {
    const { registry, directory } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(session)
    agent.say(question("r1"))
    agent.say({ type: "control_cancel_request", request_id: "r1" })
    await expect.poll(async () => (await directory.listAsks({})).map((ask) => ask.state)).toEqual(["cancelled"])
  })

  it("[HS32] a new process orphans the asks of the one before it", async () => {
    const { registry, asks, directory } = setUpSessions()
    const session = registry.create({ agent: "external" })
    const agent = new FakeAgent("p1")
    await agent.attach(session)
    agent.say(question("r1"))
    await expect.poll(() => asks.pendingCount(session.id)).toBe(1)
    await new FakeAgent("p2").attach(session)
    expect((await directory.listAsks({})).map((ask) => ask.state)).toEqual(["orphaned"])
  })

  it("[HS32] also those it asked before its conversation went on in another session", async () => {
    const { registry, asks } = setUpSessions()
    const first = registry.create({ agent: "external" })
    const agent = new FakeAgent("p1")
    await agent.attach(first)
    await registry.route(first, init("u1", "c1"))
    agent.say(question("r1"))
    await expect.poll(() => asks.pendingCount(first.id)).toBe(1)
    const second = await registry.route(first, init("u2", "c2"))
    expect(asks.pendingCount(first.id)).toBe(1)
    await new FakeAgent("p2").attach(second)
    expect(asks.pendingCount(first.id)).toBe(0)
  })

  it("[HS33] each of the CLI's session ids has one session", async () => {
    const { registry } = setUpSessions()
    const first = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(first)
    expect(await registry.route(first, init("u1", "c1"))).toBe(first)
    expect(first.record.agentSessionId).toBe("c1")
    const second = await registry.route(first, init("u2", "c2"))
    expect(second).not.toBe(first)
    expect(first.record.next).toBe(second.id)
    expect(second.record).toMatchObject({ parent: first.id, agentSessionId: "c2" })
    expect([first.isEnded, second.wire]).toEqual([true, agent])
    await second.detach(agent, "gone")
    const placeholder = registry.create({ agent: "external" })
    await new FakeAgent("p9").attach(placeholder)
    expect(await registry.route(placeholder, init("u3", "c2"))).toBe(second)
  })

  it("[HS33] back in an older session of its chain, the conversation goes on there", async () => {
    const { registry } = setUpSessions()
    const first = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(first)
    await registry.route(first, init("u1", "c1"))
    const second = await registry.route(first, init("u2", "c2"), true)
    expect(await registry.route(second, init("u3", "c1"), true)).toBe(first)
    expect(await registry.newestOf(second.id)).toBe(first)
    await first.send({ content: "still here" }, "ann")
    await expect.poll(() => agent.prompts).toEqual(["still here"])
  })

  it("[HS33] an agent that is bound to its session cannot speak in another's", async () => {
    const { registry } = setUpSessions()
    const other = registry.create({ agent: "external" })
    const theirs = new FakeAgent("p8")
    await theirs.attach(other)
    await registry.route(other, init("u1", "c1"))
    await other.detach(theirs, "gone")
    const own = registry.create({ agent: "external" })
    await new FakeAgent("p9").attach(own)
    const routed = await registry.route(own, init("u2", "c1"), true)
    expect(routed).not.toBe(other)
  })

  it("[HS34] an id means the newest session of its chain", async () => {
    const { registry } = setUpSessions()
    const first = registry.create({ agent: "external" })
    const agent = new FakeAgent()
    await agent.attach(first)
    await registry.route(first, init("u1", "c1"))
    const second = await registry.route(first, init("u2", "c2"))
    const third = await registry.route(second, init("u3", "c3"))
    expect(await registry.newestOf(first.id)).toBe(third)
    await expect(first.send({ content: "hello?" }, "ann")).rejects.toMatchObject({
      code: "session/rotated",
      details: { next: second.id },
    })
  })
})
