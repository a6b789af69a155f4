import { randomUUID } from "node:crypto"
import { textOf } from "@signalbox/protocol"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "../clients/line-socket.ts"
import { openSession, openStage, type Stage } from "../clients/stage.ts"
import { eventsOf } from "../runners/launching.ts"

const POLL = { timeout: 30_000, interval: 20 }

/** An agent that dialled the root and says everything by POST, as the CLIs do in hybrid mode. */
class PostingAgent {
  readonly wire: LineSocket
  readonly conversation = randomUUID()
  readonly #stage: Stage
  readonly #headers: Record<string, string>

  private constructor(stage: Stage, wire: LineSocket, headers: Record<string, string>) {
    this.#stage = stage
    this.wire = wire
    this.#headers = headers
  }

  static async dial(stage: Stage, token?: string, query = ""): Promise<PostingAgent> {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const wire = await LineSocket.open(new WebSocket(`${stage.wsUrl}/${query}`, { headers }))
    onTestFinished(() => wire.close())
    return new PostingAgent(stage, wire, headers)
  }

  async greet(): Promise<number> {
    const request_id = textOf(await this.wire.request("initialize"), "request_id")
    return this.post({ type: "control_response", response: { subtype: "success", request_id, response: {} } })
  }

  say(text: string): Promise<number> {
    const message = { role: "assistant", content: [{ type: "text", text }] }
    return this.post({ type: "assistant", uuid: randomUUID(), session_id: this.conversation, message })
  }

  async post(event: unknown, query = ""): Promise<number> {
    const headers = { ...this.#headers, "content-type": "application/json" }
    const body = JSON.stringify({ events: [event] })
    const reply = await fetch(`${this.#stage.url}/events${query}`, { method: "POST", headers, body })
    await reply.body?.cancel()
    return reply.status
  }
}

async function textOfSession(stage: Stage, id: string): Promise<string> {
  return JSON.stringify(await eventsOf(stage, id))
}

async function sessionsOf(stage: Stage) {
  return (await stage.hub.core.listSessions({ limit: 100 })).sessions
}

it("[HS51] what agents at the root post goes to the session of their token, and to no other", async () => {
  const stage = await openStage()
  const [one, other] = [await openSession(stage), await openSession(stage)]
  const first = await PostingAgent.dial(stage, one.ingress.token)
  const second = await PostingAgent.dial(stage, other.ingress.token)
  for (const agent of [first, second]) expect(await agent.greet()).toBe(200)
  expect([await first.say("from one"), await second.say("from other")]).toEqual([200, 200])
  await expect.poll(() => textOfSession(stage, one.id), POLL).toContain("from one")
  await expect.poll(() => textOfSession(stage, other.id), POLL).toContain("from other")
  expect(await textOfSession(stage, one.id)).not.toContain("from other")
  expect((await stage.hub.core.getSession(one.id)).transport).toBe("hybrid")
})

it("[HS51] while its own socket is away and others are at the root, an agent is told to try again, never to give up", async () => {
  const stage = await openStage()
  const [one, other] = [await openSession(stage), await openSession(stage)]
  const first = await PostingAgent.dial(stage, one.ingress.token)
  await first.greet()
  const second = await PostingAgent.dial(stage, other.ingress.token)
  await second.greet()
  first.wire.close()
  await expect.poll(async () => (await stage.hub.core.getSession(one.id)).state, POLL).toBe("disconnected")
  expect(await first.say("meanwhile")).toBe(503)
  await PostingAgent.dial(stage, one.ingress.token)
  await expect.poll(() => first.say("again"), POLL).toBe(200)
  await expect.poll(() => textOfSession(stage, one.id), POLL).toContain("again")
  expect(await textOfSession(stage, other.id)).not.toContain("again")
})

it("[HS51] the query belongs to the address, and whoever shows no token or a wrong one is refused", async () => {
  const stage = await openStage()
  const { id, ingress } = await openSession(stage)
  const agent = await PostingAgent.dial(stage, ingress.token, "?a=b")
  expect(await agent.post({ type: "said", text: "there" }, "?a=b")).toBe(200)
  expect(await agent.post({ type: "said", text: "not there" })).toBe(503)
  await expect.poll(() => textOfSession(stage, id), POLL).toContain("there")
  const post = (headers: Record<string, string>) =>
    fetch(`${stage.url}/events`, { method: "POST", headers, body: '{"events":[]}' }).then(({ status }) => status)
  expect(await post({})).toBe(401)
  expect(await post({ authorization: "Bearer sbx_wrong" })).toBe(401)
  expect(await post({ authorization: `Bearer ${stage.hub.admin.token}` })).toBe(401)
})

it("[HS51] two without a token are told apart by their conversation and by what they answer", async () => {
  const stage = await openStage({ anonymousAgents: true })
  const first = await PostingAgent.dial(stage)
  await expect.poll(async () => (await sessionsOf(stage)).length, POLL).toBe(1)
  expect(await first.greet()).toBe(200)
  const second = await PostingAgent.dial(stage)
  // Neither has said which conversation is its own: what names none could be of both.
  expect(await first.post({ type: "said" })).toBe(503)
  expect(await second.greet()).toBe(200)
  const id = (await sessionsOf(stage)).at(-1)?.id ?? ""
  await stage.hub.core.sendMessage(id, { content: "go" }, CALLER)
  await first.wire.ofType("user")
  expect(await first.say("from first")).toBe(200)
  expect(await second.say("from second")).toBe(200)
  const owner = async (agent: PostingAgent) =>
    (await sessionsOf(stage)).find(({ agentSessionId }) => agentSessionId === agent.conversation)?.id ?? ""
  await expect.poll(() => owner(second), POLL).not.toBe("")
  for (const text of ["more", "and more"]) {
    expect(await first.say(`first: ${text}`)).toBe(200)
    expect(await second.say(`second: ${text}`)).toBe(200)
  }
  const said = async (agent: PostingAgent) => textOfSession(stage, await owner(agent))
  await expect.poll(() => said(first), POLL).toContain("first: and more")
  await expect.poll(() => said(second), POLL).toContain("second: and more")
  expect(await said(first)).not.toContain("second")
  // The other one is away: what it still posts does not go to the one that is here.
  first.wire.close()
  await expect.poll(async () => (await stage.hub.core.getSession(await owner(first))).state, POLL).toBe("disconnected")
  expect(await first.say("late")).toBe(503)
  expect(await said(second)).not.toContain("late")
})

const CALLER = { role: "admin", name: "ada", tokenId: "t", sessionId: null } as const
