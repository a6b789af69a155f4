import { randomUUID } from "node:crypto"
import { textOf } from "@signalbox/protocol"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "../clients/line-socket.ts"
import { ScriptedAgent } from "../clients/scripted-agent.ts"
import { openAgent, openStage, type Stage } from "../clients/stage.ts"
import { FakeRunner } from "../runners/fake-runner.ts"
import { eventsOf, launch } from "../runners/launching.ts"

const POLL = { timeout: 30_000, interval: 20 }

/** A process without a token that says it was here before. */
async function intrude(stage: Stage, uuid: string): Promise<LineSocket> {
  const wire = await LineSocket.open(new WebSocket(stage.wsUrl, { headers: { "x-last-request-id": uuid } }))
  onTestFinished(() => wire.close())
  return wire
}

async function answer(wire: LineSocket, pending: readonly unknown[] = []): Promise<void> {
  const request_id = textOf(await wire.request("initialize"), "request_id")
  const error = { subtype: "error", request_id, error: "Already initialized", pending_permission_requests: pending }
  wire.send({ type: "control_response", response: error })
}

function say(wire: LineSocket, conversation: string, text: string): string {
  const uuid = randomUUID()
  const message = { role: "assistant", content: [{ type: "text", text }] }
  wire.send({ type: "assistant", uuid, session_id: conversation, message })
  return uuid
}

async function textOfSession(stage: Stage, id: string): Promise<string> {
  return JSON.stringify(await eventsOf(stage, id))
}

it("[HS50] naming its last message does not evict an agent that has a token, here or away", async () => {
  const stage = await openStage({ anonymousAgents: true })
  const { agent, id } = await openAgent(stage)
  const uuid = say(agent.wire, agent.sessionId, "mine")
  await expect.poll(() => textOfSession(stage, id), POLL).toContain(uuid)
  const intruder = await intrude(stage, uuid)
  await answer(intruder)
  say(intruder, "elsewhere", "forged")
  await expect.poll(async () => (await stage.hub.core.listSessions({ limit: 9 })).sessions.length, POLL).toBe(2)
  say(agent.wire, agent.sessionId, "still mine")
  await expect.poll(() => textOfSession(stage, id), POLL).toContain("still mine")
  agent.close()
  await expect.poll(async () => (await stage.hub.core.getSession(id)).state, POLL).toBe("disconnected")
  await answer(await intrude(stage, uuid))
  const ingress = { url: `${stage.wsUrl}/ws/cli/${id}`, token: agent.token, command: "" }
  const back = await ScriptedAgent.dial(ingress, undefined, uuid)
  onTestFinished(() => back.close())
  await expect.poll(async () => (await stage.hub.core.getSession(id)).state, POLL).toBe("running")
  expect(await textOfSession(stage, id)).not.toContain("forged")
})

it("[HS50] nor does naming its conversation, also after that went on in another session", async () => {
  const stage = await openStage({ anonymousAgents: true })
  const { agent, id } = await openAgent(stage)
  say(agent.wire, agent.sessionId, "mine")
  say(agent.wire, "the next", "mine too")
  await expect.poll(async () => (await stage.hub.core.getSession(id)).next, POLL).toBeDefined()
  const next = (await stage.hub.core.getSession(id)).next ?? ""
  for (const conversation of [agent.sessionId, "the next"]) {
    const intruder = await intrude(stage, randomUUID())
    await answer(intruder)
    say(intruder, conversation, "forged")
  }
  await expect.poll(async () => (await stage.hub.core.listSessions({ limit: 9 })).sessions.length, POLL).toBe(4)
  say(agent.wire, "the next", "still mine")
  await expect.poll(() => textOfSession(stage, next), POLL).toContain("still mine")
  for (const session of [id, next]) expect(await textOfSession(stage, session)).not.toContain("forged")
})

it("[HS50] nor does bringing a question that an agent with a token has open while it is away", async () => {
  const stage = await openStage({ anonymousAgents: true })
  const { agent, id } = await openAgent(stage)
  say(agent.wire, agent.sessionId, "mine")
  const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t1" }
  const question = { type: "control_request", request_id: "q1", request }
  agent.wire.send(question)
  await expect.poll(async () => (await stage.hub.core.getSession(id)).pendingAsks, POLL).toBe(1)
  agent.close()
  await expect.poll(async () => (await stage.hub.core.getSession(id)).state, POLL).toBe("disconnected")
  const intruder = await intrude(stage, randomUUID())
  await answer(intruder, [question])
  say(intruder, "another", "here")
  await expect.poll(async () => (await stage.hub.core.listSessions({ limit: 9 })).sessions.length, POLL).toBe(2)
  expect((await stage.hub.core.getSession(id)).state).toBe("disconnected")
})

it("[HS50] nor does naming a message of an agent on a runner: the process begins a session of its own", async () => {
  const stage = await openStage({ anonymousAgents: true })
  const runner = await FakeRunner.connect(stage)
  const { body } = await launch(stage, { prompt: "go" })
  const agent = await runner.agent()
  agent.init()
  agent.sayText("mine")
  await agent.allAcked()
  const uuid = textOf((await eventsOf(stage, body.id)).at(-1), "uuid") ?? ""
  await answer(await intrude(stage, uuid))
  await expect.poll(async () => (await stage.hub.core.listSessions({ limit: 9 })).sessions.length, POLL).toBe(2)
  expect((await stage.hub.core.getSession(body.id)).transport).toBe("runner")
})

it("[HS50] nor does naming its session in the path", async () => {
  const stage = await openStage({ anonymousAgents: true })
  const { agent, id } = await openAgent(stage)
  const intruder = new WebSocket(`${stage.wsUrl}/ws/cli/${id}`)
  const refused = new Promise<string>((resolve) => intruder.once("error", ({ message }) => resolve(message)))
  intruder.once("open", () => intruder.close())
  expect(await refused).toContain("401")
  say(agent.wire, agent.sessionId, "still mine")
  await expect.poll(() => textOfSession(stage, id), POLL).toContain("still mine")
})
