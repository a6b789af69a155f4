import { randomUUID } from "node:crypto"
import { fieldOf } from "@signalbox/protocol"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { payloadIn, ScriptedAgent } from "./scripted-agent.ts"
import { SseReader } from "./sse-reader.ts"
import { call, openAgent, openClient, openStage, type Stage, tokenOf } from "./stage.ts"

interface Where {
  readonly name?: string
  readonly token?: string
  readonly after?: number
}

async function openStream(stage: Stage, id: string, where: Where = {}): Promise<SseReader> {
  const { name, token = stage.hub.admin.token, after } = where
  const query = name === undefined ? "" : `?client=${name}`
  const reader = await SseReader.open(`${stage.url}/v1/code/sessions/${id}/events/stream${query}`, token, after)
  onTestFinished(() => reader.close())
  return reader
}

function post(stage: Stage, id: string, payload: Record<string, unknown>, { name, token }: Where = {}) {
  const query = name === undefined ? "" : `?client=${name}`
  const body = { session_id: id, events: [{ payload: { uuid: randomUUID(), ...payload } }] }
  return call(stage, "POST", `/v1/code/sessions/${id}/events${query}`, body, token)
}

const user = (text: string) => ({ type: "user", message: { role: "user", content: text }, session_id: "" })

describe("the door for event streams", () => {
  it("[RC29] durable events come as client_event with their seq as number and id; deltas as ephemeral_event", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const stream = await openStream(stage, id)
    expect(stream.response.headers["content-type"]).toBe("text/event-stream")
    const uuid = agent.sayText("one")
    agent.say({ type: "stream_event", event: { type: "message_start", message: {} } })
    agent.say({ type: "tool_progress", tool_name: "Bash" })
    agent.say({ type: "result", subtype: "success", is_error: false })
    await stream.ofType("result")
    const events = stream.frames.filter((frame) => frame.payload.type !== "hub")
    expect(events.map((frame) => [frame.payload.type, frame.event])).toEqual([
      ["assistant", "client_event"],
      ["stream_event", "ephemeral_event"],
      ["tool_progress", "client_event"],
      ["result", "client_event"],
    ])
    const lastSeq = (await stage.hub.core.getSession(id)).lastSeq
    expect(events[0]).toMatchObject({ payload: { uuid }, data: { source: "worker", event_id: expect.any(String) } })
    expect(events[3]).toMatchObject({ id: lastSeq, data: { sequence_num: lastSeq } })
    expect(events[2]?.id).toBeUndefined()
  })

  it("[RC29] a comment comes at once and every 20 s", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
    onTestFinished(() => void vi.useRealTimers())
    const stage = await openStage()
    const { id } = await openAgent(stage)
    const stream = await openStream(stage, id)
    await stream.ofType("hub")
    expect(stream.comments).toBe(1)
    vi.advanceTimersByTime(20_000)
    await expect.poll(() => stream.comments).toBe(2)
  })

  it("[RC30] a client without a cursor starts at the beginning; one beyond the end is told so and goes on live", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    agent.sayText("old")
    await expect.poll(async () => (await stage.hub.core.getSession(id)).lastSeq).toBe(2)
    const stream = await openStream(stage, id)
    const ahead = await openStream(stage, id, { after: 10_000, name: "ahead" })
    expect(await stream.ofType("assistant")).toMatchObject({ id: 2 })
    agent.say({ type: "result", subtype: "success", is_error: false })
    expect(await stream.ofType("result")).toMatchObject({ id: 3 })
    expect(stream.types()).toEqual(["hub", "assistant", "result"])
    await ahead.ofType("result")
    expect(ahead.frames.map((frame) => frame.event)).toEqual(["catch_up_truncated", "client_event"])
  })

  it("[RC31] a replay begins strictly after Last-Event-ID and leaves out answered questions and others' control traffic", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const client = await openClient(stage, id)
    agent.sayText("one")
    const answered = agent.askPermission("q-1")
    client.answer(await client.request("can_use_tool"), { behavior: "allow", updatedInput: {} })
    await answered
    client.send({ type: "control_request", request_id: "i", request: { subtype: "interrupt" } })
    await agent.take("interrupt", undefined)
    agent.sayText("two")
    void agent.askPermission("q-2")
    await client.find((message) => message["request_id"] === "q-2")
    client.send(user("from another"))
    await agent.hears("from another")
    const before = (await stage.hub.core.getSession(id)).lastSeq
    const stream = await openStream(stage, id, { after: 2 })
    await stream.find((payload) => payload["isReplay"] === true)
    const question = await stream.find((payload) => payload.type === "control_request")
    expect(question.payload).toMatchObject({ request_id: "q-2" })
    expect(question.id).toBeUndefined()
    expect(stream.types().toSorted()).toEqual(["assistant", "control_request", "user"])
    expect(stream.lastId).toBeLessThanOrEqual(before)
  })

  it("[RC32] a POST is answered when it is safe, once per uuid, and a refusal comes in the stream and not as a status", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const stream = await openStream(stage, id)
    const uuid = randomUUID()
    const posted = await Promise.all([1, 2, 3].map(() => post(stage, id, { ...user("once"), uuid })))
    expect(posted.map((reply) => reply.status)).toEqual([200, 200, 200])
    await post(stage, id, { ...user("once"), uuid })
    await post(stage, id, user("twice"))
    await agent.hears("twice")
    expect(agent.wire.messages.filter((message) => message.type === "user")).toHaveLength(2)
    const nonsense = await post(stage, id, {
      type: "control_request",
      request_id: "n",
      request: { subtype: "set_permission_mode", mode: "nonsense" },
    })
    expect(nonsense.status).toBe(200)
    const reply = await stream.find((payload) => fieldOf(payload, "response")?.["request_id"] === "n")
    expect(fieldOf(reply.payload, "response")).toMatchObject({
      subtype: "error",
      error: expect.stringContaining("mode"),
    })
    const empty = await post(stage, id, { type: "user" })
    expect(empty.status).toBe(200)
    expect((await stream.find((payload) => payload["subtype"] === "refused")).payload).toMatchObject({
      error: { code: "request/invalid" },
    })
    expect(stream.types()).not.toContain("user")
    expect((await call(stage, "POST", "/v1/code/sessions/nowhere/events", { events: [] })).status).toBe(404)
    expect((await call(stage, "POST", `/v1/code/sessions/${id}/events`, { events: [] }, "wrong")).status).toBe(401)
  })

  it("[RC32] a viewer's stream has no questions, and what it posts is answered with an error in the stream", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const { token } = await tokenOf(stage, "viewer")
    const stream = await openStream(stage, id, { token })
    void agent.askPermission("q-1")
    const request = { type: "control_request", request_id: "i", request: { subtype: "initialize" } }
    expect((await post(stage, id, request, { token })).status).toBe(200)
    const reply = await stream.ofType("control_response")
    expect(fieldOf(reply.payload, "response")).toMatchObject({ subtype: "error" })
    agent.sayText("seen")
    await stream.ofType("assistant")
    expect(stream.types()).not.toContain("control_request")
  })

  it("[RC33] what a client is told while its stream is away is told when it is back", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { hooks: ["Stop"] })
    const first = await openStream(stage, id, { name: "app" })
    const hooks = { Stop: [{ hookCallbackIds: ["hook_0"] }] }
    await post(
      stage,
      id,
      { type: "control_request", request_id: "i", request: { subtype: "initialize", hooks } },
      { name: "app" },
    )
    await first.ofType("control_response")
    first.close()
    await first.ended
    const answered = agent.callHook("Stop", { last: true })
    void agent.askPermission("q-1")
    await expect.poll(async () => (await stage.hub.core.getSession(id)).pendingAsks).toBe(1)
    agent.sayText("meanwhile")
    const second = await openStream(stage, id, { name: "app", after: first.lastId ?? 1 })
    const callback = await second.find((payload) => fieldOf(payload, "request")?.["subtype"] === "hook_callback")
    await second.find((payload) => fieldOf(payload, "request")?.["subtype"] === "can_use_tool")
    await second.ofType("assistant")
    const response = { subtype: "success", request_id: callback.payload["request_id"], response: { continue: true } }
    await post(stage, id, { type: "control_response", response }, { name: "app" })
    expect(payloadIn(await answered)).toEqual({ continue: true })
  })

  it("[RC34] a named client keeps its hooks and servers through a restart of the hub; nobody else comes back under its name", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const first = await openStream(stage, id, { name: "app" })
    const request = {
      subtype: "initialize",
      hooks: { Stop: [{ hookCallbackIds: ["hook_0"] }] },
      sdkMcpServers: ["tools"],
    }
    await post(stage, id, { type: "control_request", request_id: "i", request }, { name: "app" })
    await agent.take("mcp_set_servers", {})
    await first.ofType("control_response")
    const cursor = first.lastId ?? 0
    const again = await stage.reopen()
    await first.ended
    const next = await ScriptedAgent.dial({ url: `${again.wsUrl}/ws/cli/${id}`, token: agent.token, command: "" })
    onTestFinished(() => next.close())
    const hello = fieldOf(next.wire.messages[0] ?? {}, "request")
    expect(hello).toMatchObject({ hooks: { Stop: [{ hookCallbackIds: ["hub-hook:Stop"] }] } })
    expect(await next.take("mcp_set_servers", {})).toMatchObject({ servers: { tools: { type: "sdk", name: "tools" } } })
    const { token } = await tokenOf(again, "operator")
    const stranger = await openStream(again, id, { name: "app", token })
    const back = await openStream(again, id, { name: "app", after: cursor })
    const answered = next.callServer("tools", { jsonrpc: "2.0", id: 1, method: "tools/list" })
    const asked = await back.find((payload) => fieldOf(payload, "request")?.["subtype"] === "mcp_message")
    const response = { subtype: "success", request_id: asked.payload["request_id"], response: { mcp_response: {} } }
    await post(again, id, { type: "control_response", response }, { name: "app" })
    expect(payloadIn(await answered)).toEqual({ mcp_response: {} })
    next.sayText("for both")
    await Promise.all([back.ofType("assistant"), stranger.ofType("assistant")])
    expect(stranger.types()).not.toContain("control_request")
  })
})
