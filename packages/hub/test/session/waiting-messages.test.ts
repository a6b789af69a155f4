import { type Envelope, fieldOf } from "@signalbox/protocol"
import type { Session } from "@signalbox/protocol/hub-api"
import { expect, it } from "vitest"
import { requestIn } from "../clients/line-socket.ts"
import { payloadIn, ScriptedAgent } from "../clients/scripted-agent.ts"
import { call, eventsOf, openAgent, openClient, openSession, openStage, type Stage } from "../clients/stage.ts"

const POLL = { timeout: 30_000, interval: 20 }

async function notesOf(stage: Stage, id: string): Promise<unknown[]> {
  const events = await eventsOf(stage, id)
  return events.map(({ line }) => JSON.parse(line) as Record<string, unknown>).filter(({ type }) => type === "hub")
}

async function viewOf(stage: Stage, id: string): Promise<Session> {
  return (await (await call(stage, "GET", `/api/sessions/${id}`)).json()) as Session
}

it("[HS24] a message that was taken back before it was sent is told so in the history", async () => {
  const stage = await openStage()
  const { id } = await openSession(stage)
  const uuid = "11111111-1111-4111-8111-111111111111"
  await call(stage, "POST", `/api/sessions/${id}/messages`, { content: "never mind", uuid })
  expect(await (await call(stage, "DELETE", `/api/sessions/${id}/messages/${uuid}`)).json()).toEqual({
    cancelled: true,
  })
  expect(await notesOf(stage, id)).toEqual([{ type: "hub", subtype: "message_cancelled", message_uuid: uuid }])
})

it("[HS13] what waits for an agent is no turn yet, and a turn that waited for another has its own beginning", async () => {
  const stage = await openStage()
  const { id, ingress } = await openSession(stage, { prompt: "one" })
  await call(stage, "POST", `/api/sessions/${id}/messages`, { content: "two" })
  expect(await viewOf(stage, id)).not.toHaveProperty("turnStartedAt")
  const agent = await ScriptedAgent.dial(ingress)
  await agent.hears("two")
  agent.say({ type: "system", subtype: "init" })
  agent.say({ type: "result", subtype: "success", is_error: false })
  await expect.poll(async () => (await viewOf(stage, id)).turns, POLL).toBe(1)
  expect(await viewOf(stage, id)).not.toHaveProperty("turnStartedAt")
  agent.say({ type: "system", subtype: "init" })
  await expect
    .poll(() => viewOf(stage, id), POLL)
    .toMatchObject({ state: "running", turnStartedAt: expect.any(String) })
  agent.close()
})

it("[HS39] an interrupt that no agent was there to hear is refused, and is not in the history", async () => {
  const stage = await openStage()
  const { id } = await openSession(stage)
  const reply = await call(stage, "POST", `/api/sessions/${id}/interrupt`)
  expect(reply.status).toBe(409)
  expect(await eventsOf(stage, id)).toEqual([])
})

it("[HS24] a message that the agent took back is told so in the history, by whichever door, and goes to no process again", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const client = await openClient(stage, id)
  const uuids = ["1", "2", "3"].map((digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`)
  const [first, second, third] = uuids
  for (const uuid of uuids) await call(stage, "POST", `/api/sessions/${id}/messages`, { content: `say ${uuid}`, uuid })
  await agent.hears(`say ${third}`)
  const took = agent.take("cancel_async_message", { cancelled: true })
  const deleted = await call(stage, "DELETE", `/api/sessions/${id}/messages/${first}`)
  expect(await deleted.json()).toEqual({ cancelled: true })
  expect(await took).toMatchObject({ message_uuid: first })
  const asked = client.ask("mine", { subtype: "cancel_async_message", message_uuid: second })
  const isOf = (message: Envelope, uuid?: string) => fieldOf(message, "request")?.["message_uuid"] === uuid
  agent.wire.answer(await agent.wire.find((message) => isOf(message, second)), { cancelled: true })
  expect(payloadIn(await asked)).toEqual({ cancelled: true })
  const late = call(stage, "DELETE", `/api/sessions/${id}/messages/${third}`)
  agent.wire.answer(await agent.wire.find((message) => isOf(message, third)), { cancelled: false })
  expect(await (await late).json()).toEqual({ cancelled: false })
  const noted = (await notesOf(stage, id)).filter((note) => JSON.stringify(note).includes("message_cancelled"))
  expect(noted).toMatchObject([{ message_uuid: first }, { message_uuid: second }])
  agent.close()
})

it("[HS24] … one that its agent has confirmed too; what neither has is unknown", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const uuid = "11111111-1111-4111-8111-111111111111"
  const remove = () => call(stage, "DELETE", `/api/sessions/${id}/messages/${uuid}`)
  await call(stage, "POST", `/api/sessions/${id}/messages`, { content: "say it", uuid })
  await agent.hears("say it")
  agent.say({ type: "system", subtype: "init" })
  await expect.poll(async () => (await eventsOf(stage, id)).length).toBe(2)
  const removed = remove()
  const request = await agent.wire.request("cancel_async_message")
  agent.wire.answer(request, { cancelled: true })
  expect(await (await removed).json()).toEqual({ cancelled: true })
  const again = remove()
  const isNext = (message: Envelope) =>
    message !== request && requestIn(message)?.["subtype"] === "cancel_async_message"
  agent.wire.answer(await agent.wire.find(isNext), { cancelled: false })
  expect((await again).status).toBe(404)
  // The agent is not asked about messages that nobody sent.
  const cancels = () =>
    agent.wire.messages.filter((message) => requestIn(message)?.["subtype"] === "cancel_async_message")
  const rubbish = ["22222222-1111-4111-8111-111111111111", "__proto__", agent.sayText("mine")]
  for (const one of rubbish)
    expect((await call(stage, "DELETE", `/api/sessions/${id}/messages/${one}`)).status).toBe(404)
  expect(cancels()).toHaveLength(2)
  agent.close()
  await expect.poll(async () => (await viewOf(stage, id)).state).toBe("disconnected")
  expect((await remove()).status).toBe(404)
})

it("[HS24] … also by a client's own request, while no agent is there to have it", async () => {
  const stage = await openStage()
  const { id } = await openSession(stage)
  const client = await openClient(stage, id)
  const uuid = "11111111-1111-4111-8111-111111111111"
  await call(stage, "POST", `/api/sessions/${id}/messages`, { content: "never mind", uuid })
  const reply = await client.ask("mine", { subtype: "cancel_async_message", message_uuid: uuid })
  expect(payloadIn(reply)).toEqual({ cancelled: true })
  expect(await notesOf(stage, id)).toEqual([{ type: "hub", subtype: "message_cancelled", message_uuid: uuid }])
})

it("[HS25] a message sent in the middle of a turn is noted where the agent takes it up", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const [first, second] = ["1", "2"].map((digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`)
  const send = (content: string, uuid: string | undefined) =>
    call(stage, "POST", `/api/sessions/${id}/messages`, { content, uuid })
  const echo = (uuid: string | undefined) =>
    agent.say({ type: "user", isReplay: true, uuid, message: { role: "user" } })
  await send("one", first)
  await agent.hears("one")
  agent.say({ type: "system", subtype: "init" })
  echo(first)
  await expect.poll(async () => (await eventsOf(stage, id)).length, POLL).toBe(3)
  await send("two", second)
  await agent.hears("two")
  agent.sayText("An answer to one.")
  agent.say({ type: "result", subtype: "success", is_error: false })
  agent.say({ type: "system", subtype: "init" })
  echo(second)
  agent.sayText("An answer to two.")
  const typesOf = async () =>
    (await eventsOf(stage, id)).map(({ line }) => {
      const { type, subtype } = JSON.parse(line) as Envelope
      return type === "hub" ? subtype : type
    })
  const order = ["user", "system", "user", "assistant", "result", "system", "message_taken", "assistant"]
  await expect.poll(typesOf, POLL).toEqual(["connected", ...order])
  expect((await notesOf(stage, id)).slice(1)).toMatchObject([{ message_uuid: second, text: "two" }])
  agent.close()
})
