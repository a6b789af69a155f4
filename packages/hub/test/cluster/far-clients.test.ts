import { once } from "node:events"
import { describe, expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { hasPostgres } from "../../../../test/postgres/server.ts"
import { LineSocket, requestIn } from "../clients/line-socket.ts"
import { payloadIn, ScriptedAgent } from "../clients/scripted-agent.ts"
import { call, openAgent, openClient, openStage, type Stage, tokenOf } from "../clients/stage.ts"
import { openTwoHubs } from "./two-hubs.ts"

const user = (text: string) => ({ type: "user", message: { role: "user", content: text }, session_id: "" })

/** The refusal that comes instead of an upgrade. */
async function refusalOf(stage: Stage, id: string) {
  const socket = new WebSocket(`${stage.wsUrl}/ws/session/${id}`, {
    headers: { authorization: `Bearer ${stage.hub.admin.token}` },
  })
  socket.on("error", () => undefined)
  const [request, response] = await once(socket, "unexpected-response")
  let body = ""
  for await (const chunk of response.setEncoding("utf8")) body += String(chunk)
  request.destroy()
  return { status: response.statusCode, retryAfter: response.headers["retry-after"], body: JSON.parse(body) }
}

describe.runIf(hasPostgres)("a raw client on a hub that does not have its session", () => {
  it("[CT61] has its initialize answered, asks, answers, sends and hears as on the hub that has it", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const [far, near] = [await openClient(beside, id), await openClient(at, id)]
    expect(payloadIn(await far.ask("i", { subtype: "initialize" }))["commands"]).toEqual([{ name: "help" }])
    far.send(user("first"))
    far.send({ type: "control_request", request_id: "s", request: { subtype: "get_status" } })
    const [, asked] = await Promise.all([agent.hears("first"), agent.wire.request("get_status")])
    agent.wire.answer(asked, { state: "fine" })
    expect(payloadIn(await far.reply("s"))).toEqual({ state: "fine" })
    expect(await near.ofType("user")).toMatchObject({ isReplay: true })
    const answered = agent.askPermission("ask-1")
    far.answer(await far.request("can_use_tool"), { behavior: "allow", updatedInput: { command: "ls -l" } })
    expect(payloadIn(await answered)).toMatchObject({ behavior: "allow", updatedInput: { command: "ls -l" } })
    expect(await near.ofType("control_cancel_request")).toMatchObject({ request_id: "ask-1" })
    const said = agent.say({ type: "assistant", message: { role: "assistant", content: "é\u2028 𝄞".repeat(100_000) } })
    const [one, other] = await Promise.all([far.ofType("assistant"), near.ofType("assistant")])
    expect([one["uuid"], one]).toEqual([said, other])
  })

  it("[CT61] is who it is: a viewer may not send, an auth line does, a wrong token and an unknown session are refused", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const { token } = await tokenOf(beside, "viewer")
    const viewer = await openClient(beside, id, token)
    viewer.send(user("let me"))
    expect(await viewer.find((message) => message["subtype"] === "refused")).toMatchObject({ type: "hub" })
    const late = await LineSocket.open(new WebSocket(`${beside.wsUrl}/ws/session/${id}`))
    onTestFinished(() => late.close())
    late.send({ type: "auth", credential: { type: "oauth", token: beside.hub.admin.token } })
    late.send(user("from one who came without a header"))
    await agent.hears("from one who came without a header")
    await expect(openClient(beside, id, "wrong")).rejects.toThrow("401")
    expect(await refusalOf(beside, "nowhere")).toMatchObject({ status: 404 })
    const forged = new WebSocket(`${at.wsUrl}/cluster/ws/session/${id}`, {
      headers: { authorization: `Bearer ${at.hub.admin.token}` },
    })
    await expect(LineSocket.open(forged)).rejects.toThrow("401")
  })

  it("[CT62] is told that the session is over, or that its token is not valid any more", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const { token, id: tokenId } = await tokenOf(beside, "operator")
    const [one, other] = [await openClient(beside, id, token), await openClient(beside, id)]
    await call(at, "DELETE", `/api/tokens/${tokenId}`)
    expect((await one.closed).code).toBe(4001)
    const ended = call(at, "DELETE", `/api/sessions/${id}`)
    await agent.take("end_session", undefined)
    await ended
    expect(await other.closed).toEqual({ code: 1000, reason: "the session is over" })
  })

  it("[CT62] is told to come back when the session goes to another hub, or its hub stops, and finds it then", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const client = await openClient(beside, id)
    agent.sayText("before")
    await client.ofType("assistant")
    const ingress = { url: `${beside.wsUrl}/v1/ws/${id}`, token: agent.token, command: "" }
    const moved = await ScriptedAgent.dial(ingress)
    onTestFinished(() => moved.close())
    expect((await client.closed).code).toBe(1012)

    const back = await openClient(at, id)
    moved.sayText("after")
    await back.ofType("assistant")
    await beside.hub.close()
    expect((await back.closed).code).toBe(1012)
    const last = await openClient(at, id)
    last.send(user("for whoever comes"))
    await last.ask("i", { subtype: "initialize" })
    const again = await ScriptedAgent.dial({ url: `${at.wsUrl}/v1/ws/${id}`, token: agent.token, command: "" })
    onTestFinished(() => again.close())
    await again.hears("for whoever comes")
  })

  it("[CT63] gets all lines in order if it does not read for a while, and is told to come back if too much waits", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const client = await openClient(beside, id)
    // Ephemeral, so that the database need not take so much.
    const say = (count: number) => {
      for (let at = 0; at < count; at++) agent.say({ type: "tool_progress", at, output: "x".repeat(512 * 1024) })
    }
    client.pause()
    say(16)
    client.resume()
    const heard = () => client.messages.filter(({ type }) => type === "tool_progress").map((message) => message["at"])
    await expect.poll(() => heard().length).toBe(16)
    expect(heard()).toEqual(Array.from({ length: 16 }, (_, index) => index))
    client.pause()
    say(120)
    await expect.poll(async () => (await at.hub.core.getSession(id)).viewers).toBe(0)
    client.resume()
    expect((await client.closed).code).toBe(1012)
    const requests = agent.wire.messages.filter((message) => requestIn(message)?.["subtype"] === "initialize")
    expect(requests).toHaveLength(1)
  })

  it("[CT64] is refused with hub/unreachable and Retry-After while the hub that has it is alive and cannot be reached", async () => {
    const [, beside, store] = await openTwoHubs()
    const away = await openStage({ store, clusterUrl: "http://127.0.0.1:1" })
    const { id } = await openAgent(away)
    expect(await refusalOf(beside, id)).toMatchObject({
      status: 503,
      retryAfter: "2",
      body: { error: { code: "hub/unreachable" } },
    })
  })
})
