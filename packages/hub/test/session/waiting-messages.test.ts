import { expect, it } from "vitest"
import type { SessionView } from "../../src/core.ts"
import { ScriptedAgent } from "../clients/scripted-agent.ts"
import { call, openSession, openStage, type Stage } from "../clients/stage.ts"

const POLL = { timeout: 30_000, interval: 20 }

async function notesOf(stage: Stage, id: string): Promise<unknown[]> {
  const { events } = await stage.hub.core.readEvents(id, { after: 0, limit: 100 })
  return events.map(({ line }) => JSON.parse(line) as Record<string, unknown>).filter(({ type }) => type === "hub")
}

async function viewOf(stage: Stage, id: string): Promise<SessionView> {
  return (await (await call(stage, "GET", `/api/sessions/${id}`)).json()) as SessionView
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
  expect((await stage.hub.core.readEvents(id, { after: 0, limit: 10 })).events).toEqual([])
})
