import { type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import { describe, expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "../clients/line-socket.ts"
import { call, openClient, openStage, type Stage } from "../clients/stage.ts"
import { FakeAgent, FakeRunner } from "./fake-runner.ts"
import { eventsOf, launch, rest, WAIT } from "./launching.ts"

async function launched(stage: Stage, body: Record<string, unknown> = {}) {
  const runner = await FakeRunner.connect(stage)
  const { body: session } = await launch(stage, body)
  return { runner, id: session.id, agent: await runner.agent() }
}

/** Somebody who watches a session: the text of the message in progress as far as it was told. */
async function watch(stage: Stage, id: string): Promise<{ text(): string }> {
  const headers = { authorization: `Bearer ${stage.hub.admin.token}` }
  const viewer = await LineSocket.open(new WebSocket(`${stage.wsUrl}/api/stream`, { headers }))
  onTestFinished(() => viewer.close())
  viewer.send({ op: "subscribe", session: id })
  await viewer.find((message) => message["ev"] === "subscribed")
  const textOfDelta = (message: Envelope) => {
    const event = message["ev"] === "delta" ? fieldOf(fieldOf(message, "message"), "event") : undefined
    return textOf(fieldOf(event, "delta"), "text") ?? ""
  }
  return { text: () => viewer.messages.map(textOfDelta).join("") }
}

function texts(messages: readonly Record<string, unknown>[]): unknown[] {
  return messages.filter(({ type }) => type === "said").map(({ text }) => text)
}

describe("the lines of an agent on a runner", () => {
  it("[HR20] are acknowledged when they are in the log", async () => {
    const stage = await openStage()
    const { agent, id } = await launched(stage)
    for (let index = 0; index < 500; index++) agent.say({ type: "said", text: index })
    await agent.allAcked()
    expect(agent.unacked).toBe(0)
    expect(texts(await eventsOf(stage, id))).toEqual(Array.from({ length: 500 }, (_, index) => index))
  })

  it("[CT15] follow a greeting without an epoch when the hub is alone", async () => {
    const { agent } = await launched(await openStage())
    await agent.allAcked()
    expect(agent.greetings).toEqual([{ ev: "attached" }])
  })

  it("[HR21] that come again after a lost connection are not doubled, also those without a uuid", async () => {
    const stage = await openStage()
    const { agent, id } = await launched(stage)
    await agent.allAcked()
    agent.isForgetful = true
    for (let index = 0; index < 20; index++) agent.say({ type: "said", text: index })
    await expect.poll(() => agent.acked, WAIT).toBe(agent.last)
    agent.leave()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("disconnected")
    agent.isForgetful = false
    agent.say({ type: "said", text: 20 })
    await agent.dial()
    await expect.poll(() => agent.unacked, WAIT).toBe(0)
    expect(texts(await eventsOf(stage, id))).toEqual(Array.from({ length: 21 }, (_, index) => index))
    expect((await stage.hub.core.getSession(id)).transport).toBe("runner")
  })

  it("[HR21] that come again to a hub that was restarted are not doubled, and what was said meanwhile is there", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await agent.allAcked()
    agent.isForgetful = true
    for (let index = 0; index < 20; index++) agent.say({ type: "said", text: index })
    await expect.poll(() => agent.acked, WAIT).toBe(agent.last)
    const again = await stage.reopen()
    agent.isForgetful = false
    for (let index = 20; index < 30; index++) agent.say({ type: "said", text: index })
    await FakeRunner.connect(again, { token: runner.token, agents: [agent] })
    await agent.dial(again)
    await expect.poll(() => agent.unacked, WAIT).toBe(0)
    expect(texts(await eventsOf(again, id))).toEqual(Array.from({ length: 30 }, (_, index) => index))
    // It is the same process: nothing was lost with the hub.
    expect(await eventsOf(again, id)).not.toContainEqual(expect.objectContaining({ subtype: "ended" }))
  })

  it.each([
    ["first", (event: object) => ({ type: "stream_event", event, parent_tool_use_id: null })],
    ["last", (event: object) => ({ event, parent_tool_use_id: null, type: "stream_event" })],
  ])(
    "[HR20] a sentence in progress, its type %s, is heard whole by a hub that was restarted, and by who arrives then",
    async (_, delta) => {
      const stage = await openStage()
      const { agent, id, runner } = await launched(stage)
      await agent.allAcked()
      const stream = (event: object) => agent.say(delta(event))
      stream({ type: "message_start", message: {} })
      stream({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } })
      for (const text of ["The ", "quick "]) {
        stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })
      }
      const before = await watch(stage, id)
      await expect.poll(() => before.text(), WAIT).toBe("The quick ")
      expect(agent.unacked).toBe(4)
      const again = await stage.reopen()
      await FakeRunner.connect(again, { token: runner.token, agents: [agent] })
      await agent.dial(again)
      await expect.poll(async () => (await again.hub.core.getSession(id)).transport, WAIT).toBe("runner")
      const after = await watch(again, id)
      stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "fox" } })
      await expect.poll(() => after.text(), WAIT).toBe("The quick fox")
      stream({ type: "message_stop" })
      await expect.poll(() => agent.unacked, WAIT).toBe(0)
    },
  )

  it("[HR22] of a process that no session knows are not taken: 4004", async () => {
    const stage = await openStage()
    const { runner, id } = await launched(stage)
    for (const session of [id, "nowhere"]) {
      const stranger = new FakeAgent(stage, runner.token, { spawn: "somebody", session })
      await stranger.dial()
      await expect.poll(() => stranger.closeCode, WAIT).toBe(4004)
    }
  })

  it("[HR23] an ask waits through a restart of the hub, and its answer reaches the process that asked", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    agent.askPermission("q1")
    await agent.allAcked()
    const again = await stage.reopen()
    const { asks } = (await rest<{ asks: { id: string; state: string }[] }>(again, "GET", `/api/asks?session=${id}`))
      .body
    expect(asks).toMatchObject([{ state: "pending" }])
    const answer = { behavior: "allow" }
    expect((await rest(again, "POST", `/api/asks/${asks[0]?.id}/answer`, { body: answer })).status).toBe(200)
    await FakeRunner.connect(again, { token: runner.token, agents: [agent] })
    await agent.dial(again)
    await expect
      .poll(() => agent.heard.filter(({ type }) => type === "control_response"), WAIT)
      .toMatchObject([{ response: { request_id: "q1", response: { behavior: "allow" } } }])
  })

  it("[HR23] an ask raised while the hub was away is there when it is back", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await agent.allAcked()
    const again = await stage.reopen()
    agent.askPermission("late")
    await FakeRunner.connect(again, { token: runner.token, agents: [agent] })
    await agent.dial(again)
    await expect.poll(() => again.hub.core.getSession(id), WAIT).toMatchObject({ state: "waiting", pendingAsks: 1 })
  })

  it("[HR24] what a process left behind is history, and is asked of nobody", async () => {
    const stage = await openStage()
    const { agent, id } = await launched(stage)
    await agent.allAcked()
    agent.leave()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("disconnected")
    agent.isOver = true
    agent.say({ type: "said", text: "the last" })
    agent.askPermission("never heard")
    agent.exit({ reason: "it crashed", code: 3, stderrTail: "Segmentation fault" })
    await agent.dial()
    await expect
      .poll(() => stage.hub.core.getSession(id), WAIT)
      .toMatchObject({
        state: "ended",
        pendingAsks: 0,
        exit: { reason: "it crashed", code: 3 },
      })
    await expect.poll(() => agent.unacked, WAIT).toBe(0)
    const events = await eventsOf(stage, id)
    expect(texts(events)).toEqual(["the last"])
    expect(events.at(-1)).toMatchObject({ subtype: "ended", stderrTail: "Segmentation fault" })
  })

  it("[HR24] what a process left behind does nothing to the process that came after it", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    agent.init()
    await agent.allAcked()
    agent.leave()
    runner.leave()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("disconnected")
    const cut = [{ spawn: agent.spawn, session: id, reason: "the runner was killed" }]
    const back = await FakeRunner.connect(stage, { token: runner.token, cut })
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("ended")
    await call(stage, "POST", `/api/sessions/${id}/messages`, { content: "Go on." })
    const next = await back.agent()
    await next.hears("Go on.")
    next.init()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("running")
    agent.isOver = true
    agent.askPermission("old question")
    for (const subtype of ["hook_callback", "mcp_message", "of tomorrow"]) {
      agent.say({ type: "control_request", request_id: `old ${subtype}`, request: { subtype } })
    }
    agent.say({ type: "stream_event", event: { type: "message_start", message: {} } })
    agent.result()
    agent.init({ session_id: "gone elsewhere" })
    agent.say({ type: "said", text: "the last" })
    agent.exit({ reason: "the runner was killed" })
    await agent.dial()
    await expect.poll(() => agent.unacked, WAIT).toBe(0)
    expect(texts(await eventsOf(stage, id))).toEqual(["the last"])
    const view = await stage.hub.core.getSession(id)
    expect(view).toMatchObject({ state: "running", pendingAsks: 0, transport: "runner" })
    expect(view.next).toBeUndefined()
    expect(next.heard.filter(({ type }) => type === "control_response")).toEqual([])
    expect(agent.heard.filter(({ type }) => type === "control_response")).toEqual([])
  })

  it("[HR23] a tool's answer that came while the process was away reaches it when it is back", async () => {
    const stage = await openStage()
    const { agent, id } = await launched(stage)
    const client = await openClient(stage, id)
    await client.ask("i", { subtype: "initialize", sdkMcpServers: ["tools"] })
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add" } }
    const request = { subtype: "mcp_message", server_name: "tools", message }
    agent.say({ type: "control_request", request_id: "m1", request })
    const asked = await client.find((line) => fieldOf(line, "request")?.["subtype"] === "mcp_message")
    agent.leave()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("disconnected")
    client.answer(asked, { mcp_response: { jsonrpc: "2.0", id: 1, result: { content: [] } } })
    // The hub has read the answer when it has answered what was sent after it.
    await client.ask("later", { subtype: "initialize" })
    await agent.dial()
    await expect
      .poll(() => agent.heard.filter(({ type }) => type === "control_response"), WAIT)
      .toMatchObject([{ response: { subtype: "success", request_id: "m1" } }])
  })

  it("[HR25] the runner knows what each hook's failure means, from the start and when it changes", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage)
    await expect.poll(() => agent.hooks, WAIT).toEqual([{}])
    const client = await openClient(stage, id)
    const matcher = { hookCallbackIds: ["mine"], onFailure: "block" }
    await client.ask("i", {
      subtype: "initialize",
      hooks: { PreToolUse: [matcher], Stop: [{ hookCallbackIds: ["s"] }] },
    })
    const told = { "hub-hook:PreToolUse": "block", "hub-hook:Stop": "open" }
    await expect.poll(() => agent.hooks.at(-1), WAIT).toEqual(told)
    agent.leave()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("disconnected")
    agent.hooks.length = 0
    agent.note({ kind: "hook-answered", requestId: "h1", how: "block" })
    await agent.dial()
    await expect.poll(() => agent.hooks, WAIT).toEqual([told])
    await expect.poll(() => agent.unacked, WAIT).toBe(0)
    const noted = (await eventsOf(stage, id)).filter(({ subtype }) => subtype === "hook_answered")
    expect(noted).toMatchObject([{ type: "hub", requestId: "h1", how: "block" }])
    expect(runner.asked).toHaveLength(1)
  })

  it("[EN19] a call that the runner denied while the hub was away is in the audit, once, by the hub", async () => {
    const stage = await openStage()
    const { agent, id } = await launched(stage)
    agent.leave()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("disconnected")
    const denied = { toolName: "Bash", toolUseId: "toolu_1" }
    agent.note({ kind: "hook-answered", requestId: "h1", how: "block", denied })
    agent.note({ kind: "hook-answered", requestId: "h2", how: "block" })
    await agent.dial()
    await agent.dial()
    await expect.poll(() => agent.unacked, WAIT).toBe(0)
    const { body } = await rest<{ records: unknown[] }>(stage, "GET", "/api/audit?what=call/denied")
    const reason = expect.stringContaining("No hub judged this tool call in time")
    expect(body.records).toMatchObject([{ by: "hub", via: "hub", sessionId: id, details: { ...denied, reason } }])
  })

  it("[HS33] a conversation that goes on under a new id takes its process along, and its launch", async () => {
    const stage = await openStage()
    const { agent, id, runner } = await launched(stage, { cwd: "/srv" })
    agent.init({ cwd: "/srv" })
    await agent.allAcked()
    agent.init({ session_id: "after-clear" })
    await expect.poll(async () => (await stage.hub.core.getSession(id)).next, WAIT).toBeDefined()
    const next = (await stage.hub.core.getSession(id)).next ?? ""
    expect(await stage.hub.core.getSession(next)).toMatchObject({ parent: id, runner: "runner-1", transport: "runner" })
    agent.leave()
    await expect.poll(async () => (await stage.hub.core.getSession(next)).state, WAIT).toBe("disconnected")
    await agent.dial()
    await expect.poll(async () => (await stage.hub.core.getSession(next)).transport, WAIT).toBe("runner")
    agent.exit({ reason: "over", code: 0 })
    await expect.poll(async () => (await stage.hub.core.getSession(next)).state, WAIT).toBe("ended")
    await call(stage, "POST", `/api/sessions/${next}/messages`, { content: "Go on." })
    expect(await runner.spec(1)).toMatchObject({ session: next, resume: "after-clear", cwd: "/srv" })
  })
})
