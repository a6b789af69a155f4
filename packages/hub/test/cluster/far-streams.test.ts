import { randomUUID } from "node:crypto"
import { describe, expect, it, onTestFinished } from "vitest"
import { hasPostgres } from "../../../../test/postgres/server.ts"
import { payloadIn, ScriptedAgent } from "../clients/scripted-agent.ts"
import { SseReader } from "../clients/sse-reader.ts"
import { call, openAgent, openClient, openStage, type Stage, tokenOf } from "../clients/stage.ts"
import { openTwoHubs } from "./two-hubs.ts"

const user = (text: string) => ({ type: "user", message: { role: "user", content: text }, session_id: "" })

async function openStream(stage: Stage, id: string, token = stage.hub.admin.token, after?: number): Promise<SseReader> {
  const reader = await SseReader.open(`${stage.url}/v1/code/sessions/${id}/events/stream?client=far`, token, after)
  onTestFinished(() => reader.close())
  return reader
}

function post(stage: Stage, id: string, payload: Readonly<Record<string, unknown>>, token?: string) {
  const body = { session_id: id, events: [{ payload: { uuid: randomUUID(), ...payload } }] }
  return call(stage, "POST", `/v1/code/sessions/${id}/events?client=far`, body, token)
}

describe.runIf(hasPostgres)("an official client on a hub that does not have its session", () => {
  it("[CT65] an event stream shows events, deltas and requests as on the hub that has it, from a cursor on, and posts go there", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    agent.sayText("before")
    const stream = await openStream(beside, id)
    expect(stream.response.headers).toMatchObject({ "content-type": "text/event-stream", "x-accel-buffering": "no" })
    await stream.ofType("assistant")
    agent.say({ type: "stream_event", event: { type: "message_start", message: {} } })
    expect(await stream.ofType("stream_event")).toMatchObject({ event: "ephemeral_event" })
    const again = { ...user("posted"), uuid: randomUUID() }
    for (const _ of [1, 2]) expect((await post(beside, id, again)).status).toBe(200)
    await agent.hears("posted")
    const asked = agent.askPermission("ask-1")
    const { payload } = await stream.ofType("control_request")
    const response = { behavior: "allow", updatedInput: { command: "ls -l" } }
    const answer = { subtype: "success", request_id: payload["request_id"], response }
    expect((await post(beside, id, { type: "control_response", response: answer })).status).toBe(200)
    expect(payloadIn(await asked)).toMatchObject(response)
    const { lastId } = stream
    stream.close()
    agent.sayText("after")
    const back = await openStream(beside, id, undefined, lastId)
    await back.ofType("assistant")
    expect(back.frames.filter(({ payload: { type } }) => type === "assistant")).toHaveLength(1)
    expect(agent.wire.messages.filter((message) => message["uuid"] === again.uuid)).toHaveLength(1)
  })

  it("[CT65] a viewer may not post, an unknown session is 404, and a token that is revoked anywhere ends its stream", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const { token, id: tokenId } = await tokenOf(beside, "viewer")
    const stream = await openStream(beside, id, token)
    await post(beside, id, user("let me"), token)
    expect(await stream.find((payload) => payload["subtype"] === "refused")).toMatchObject({ payload: { type: "hub" } })
    expect(JSON.stringify(agent.wire.messages)).not.toContain("let me")
    expect((await openStream(beside, "nowhere")).response.statusCode).toBe(404)
    await call(at, "DELETE", `/api/tokens/${tokenId}`)
    await stream.ended
  })

  it("[CT65] a stream ends when its session goes to another hub or its hub stops, and goes on at its cursor when it is opened again", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const stream = await openStream(beside, id)
    agent.sayText("before")
    await stream.ofType("assistant")
    const ingress = { url: `${beside.wsUrl}/v1/ws/${id}`, token: agent.token, command: "" }
    const moved = await ScriptedAgent.dial(ingress)
    onTestFinished(() => moved.close())
    await stream.ended
    const back = await openStream(at, id, undefined, stream.lastId)
    const message = { role: "assistant", content: [{ type: "text", text: "after" }] }
    moved.say({ type: "assistant", session_id: agent.sessionId, message })
    await back.ofType("assistant")
    await beside.hub.close()
    await back.ended
    expect((await openStream(at, id, undefined, back.lastId)).response.statusCode).toBe(200)
  })

  it("[CT65] is refused with hub/unreachable while the hub that has it is alive and cannot be reached", async () => {
    const [, beside, store] = await openTwoHubs()
    const away = await openStage({ store, clusterUrl: "http://127.0.0.1:1" })
    const { id } = await openAgent(away)
    expect((await openStream(beside, id)).response).toMatchObject({ statusCode: 503, headers: { "retry-after": "2" } })
  })

  it("[CT66] DirectConnect attaches to a session of another hub at the address that the caller used, and ends it", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const named = await call(beside, "POST", "/sessions", { session_key: id })
    expect([named.status, await named.json()]).toEqual([
      200,
      expect.objectContaining({ session_id: id, ws_url: `${beside.wsUrl}/ws/session/${id}` }),
    ])
    const client = await openClient(beside, id)
    const deleted = call(beside, "DELETE", `/sessions/${id}`)
    await agent.take("end_session", undefined)
    expect((await deleted).status).toBe(200)
    expect((await client.closed).code).toBe(1000)
  })
})
