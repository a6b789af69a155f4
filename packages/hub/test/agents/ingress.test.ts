import { PassThrough } from "node:stream"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { createLogger } from "../../src/index.ts"
import { LineSocket } from "../clients/line-socket.ts"
import { call, openAgent, openSession, openStage, type Stage } from "../clients/stage.ts"

const POLL = { timeout: 30_000, interval: 20 }

/** An agent that shows no token, at the root. */
async function dialAnonymously(stage: Stage): Promise<LineSocket> {
  const wire = await LineSocket.open(new WebSocket(stage.wsUrl))
  onTestFinished(() => wire.close())
  wire.answer(await wire.request("initialize"), { commands: [] })
  return wire
}

function statesOf(stage: Stage): Promise<string[]> {
  return stage.hub.core.listSessions({ limit: 100 }).then(({ sessions }) => sessions.map(({ state }) => state))
}

async function statusOf(url: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    socket.once("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0))
    socket.once("close", (code) => resolve(code))
    socket.once("error", reject)
  })
}

it("[HS36] the token of a session that was stopped is no longer valid", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  await call(stage, "DELETE", `/api/sessions/${id}`)
  expect((await agent.wire.closed).code).toBe(4001)
  expect(await statusOf(`${stage.wsUrl}/ws/cli/${id}`, agent.token)).toBe(401)
  const { tokens } = (await (await call(stage, "GET", "/api/tokens")).json()) as { tokens: Record<string, unknown>[] }
  expect(tokens.filter(({ sessionId }) => sessionId === id).map(({ revokedAt }) => typeof revokedAt)).toEqual([
    "string",
  ])
})

it("[HS36] so is that of a conversation that went on in another session, which was stopped there", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  agent.sayText("here")
  agent.say({ type: "assistant", session_id: "another", message: { role: "assistant", content: [] } })
  await expect.poll(async () => (await stage.hub.core.getSession(id)).next, POLL).toBeDefined()
  await call(stage, "DELETE", `/api/sessions/${(await stage.hub.core.getSession(id)).next}`)
  expect((await agent.wire.closed).code).toBe(4001)
  expect(await statusOf(`${stage.wsUrl}/ws/cli/${id}`, agent.token)).toBe(401)
})

it("[HS37] an anonymous agent that was cut off before it said anything finds its session again", async () => {
  const stage = await openStage({ anonymousAgents: true })
  const first = await dialAnonymously(stage)
  first.close()
  await expect.poll(() => statesOf(stage), POLL).toEqual(["disconnected"])
  await dialAnonymously(stage)
  await expect.poll(() => statesOf(stage), POLL).toEqual(["idle"])
})

it("[HS37] two that come at once never find the same", async () => {
  const stage = await openStage({ anonymousAgents: true })
  const first = await dialAnonymously(stage)
  first.close()
  await expect.poll(() => statesOf(stage), POLL).toEqual(["disconnected"])
  await Promise.all([dialAnonymously(stage), dialAnonymously(stage)])
  await expect.poll(() => statesOf(stage), POLL).toEqual(["idle", "idle"])
})

it("[HS37] a session with a message in it, or that somebody has a token for, is left for its own agent", async () => {
  const stage = await openStage({ anonymousAgents: true })
  const first = await dialAnonymously(stage)
  const [{ id } = { id: "" }] = (await stage.hub.core.listSessions({ limit: 1 })).sessions
  await call(stage, "POST", `/api/sessions/${id}/messages`, { content: "for you alone" })
  first.close()
  const { agent } = await openAgent(stage)
  agent.close()
  await expect.poll(() => statesOf(stage), POLL).toEqual(["disconnected", "disconnected"])
  await dialAnonymously(stage)
  await expect.poll(() => statesOf(stage), POLL).toEqual(["idle", "disconnected", "disconnected"])
})

it("[HS38] an agent that is not let in is noted in the log, without its token", async () => {
  const lines = new PassThrough().setEncoding("utf8")
  let text = ""
  lines.on("data", (chunk) => (text += String(chunk)))
  const stage = await openStage({ logger: createLogger({ level: "info", stream: lines }) })
  const { agent, id } = await openAgent(stage)
  expect(await statusOf(`${stage.wsUrl}/ws/cli/nobody`, agent.token)).toBe(401)
  await expect.poll(() => text, POLL).toContain("an agent was not let in")
  expect(text).toContain("/ws/cli/nobody")
  expect(text).toContain("this token is another session's")
  expect(text).not.toContain(agent.token)
  expect((await stage.hub.core.getSession(id)).state).toBe("idle")
})

it("[HA3] whoever posts events without an agent's token is not told whether that agent is here", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const { id: away } = await openSession(stage)
  const post = async (session: string, token: string) => {
    const reply = await call(stage, "POST", `/session/cli/${session}/events`, { events: [] }, token)
    return reply.status
  }
  for (const session of [id, away, "nobody"]) {
    for (const token of ["sbx_wrong", stage.hub.admin.token]) expect(await post(session, token)).toBe(401)
  }
  expect(await post(id, agent.token)).toBe(200)
})
