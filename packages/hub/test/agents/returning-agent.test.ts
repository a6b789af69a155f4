import { randomUUID } from "node:crypto"
import { type Envelope, textOf } from "@signalbox/protocol"
import { describe, expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "../clients/line-socket.ts"
import { call, entriesOf, openStage, type Stage } from "../clients/stage.ts"

const POLL = { timeout: 30_000, interval: 20 }

/** An agent without a token, at the root; `last`: the message that it wrote last, which the hub may never have got. */
async function dial(stage: Stage, last?: string): Promise<LineSocket> {
  const headers = last === undefined ? {} : { "x-last-request-id": last }
  const wire = await LineSocket.open(new WebSocket(stage.wsUrl, { headers }))
  onTestFinished(() => wire.close())
  return wire
}

async function greet(wire: LineSocket): Promise<void> {
  wire.answer(await wire.request("initialize"), { commands: [] })
}

/** As a CLI answers that was initialized before. */
async function greetAgain(wire: LineSocket, pending: readonly Envelope[] = []): Promise<void> {
  const request_id = textOf(await wire.request("initialize"), "request_id")
  const response = {
    subtype: "error",
    request_id,
    error: "Already initialized",
    pending_permission_requests: pending,
  }
  wire.send({ type: "control_response", response })
}

function say(wire: LineSocket, conversation: string, text: string): void {
  const message = { role: "assistant", content: [{ type: "text", text }] }
  wire.send({ type: "assistant", uuid: randomUUID(), session_id: conversation, message })
}

function question(id: string, command = "ls"): Envelope {
  const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command }, tool_use_id: `toolu-${id}` }
  return { type: "control_request", request_id: id, request }
}

async function find(stage: Stage, conversation: string) {
  const { sessions } = await stage.hub.core.listSessions({ limit: 100 })
  return sessions.filter(({ agentSessionId }) => agentSessionId === conversation)
}

/** A conversation whose agent has said something, has asked something and then was cut off. */
async function cutOff(stage: Stage, conversation: string): Promise<string> {
  const wire = await dial(stage)
  await greet(wire)
  say(wire, conversation, "here")
  wire.send(question("q1"))
  await expect.poll(async () => (await find(stage, conversation))[0]?.pendingAsks, POLL).toBe(1)
  wire.close()
  await expect.poll(async () => (await find(stage, conversation))[0]?.state, POLL).toBe("disconnected")
  return (await find(stage, conversation))[0]?.id ?? ""
}

async function answerOf(wire: LineSocket, id: string): Promise<unknown> {
  return (await wire.reply(id))["response"]
}

describe("an agent without a token that is back, with a last message that the hub never got", () => {
  it("[HS41] is the process that left the session it names: its question is one ask, what waited goes to it", async () => {
    const stage = await openStage({ anonymousAgents: true })
    const id = await cutOff(stage, "c1")
    await call(stage, "POST", `/api/sessions/${id}/messages`, { content: "while you were away" })
    const back = await dial(stage, randomUUID())
    // As 2.1.120 does: what it kept comes first, and then the reply with what it has asked meanwhile.
    say(back, "c1", "said while away")
    await expect.poll(async () => (await stage.hub.core.getSession(id)).transport, POLL).toBe("websocket")
    await greetAgain(back, [question("q1"), question("q2", "pwd")])
    await expect.poll(async () => (await stage.hub.core.getSession(id)).pendingAsks, POLL).toBe(2)
    const asks = await entriesOf(stage.hub.core.listAsks({ state: "pending" }))
    expect(asks.map(({ sessionId, requestId }) => [sessionId, requestId])).toEqual([
      [id, "q1"],
      [id, "q2"],
    ])
    for (const ask of asks) await call(stage, "POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" })
    expect(await answerOf(back, "q1")).toMatchObject({ behavior: "allow" })
    expect(await answerOf(back, "q2")).toMatchObject({ behavior: "allow" })
    const waited = await back.ofType("user")
    expect(JSON.stringify(waited)).toContain("while you were away")
    expect(await find(stage, "c1")).toHaveLength(1)
  })

  it("[HS41] is known by a question of its own when it says nothing else", async () => {
    const stage = await openStage({ anonymousAgents: true })
    const id = await cutOff(stage, "c1")
    const [ask] = await entriesOf(stage.hub.core.listAsks({ state: "pending" }))
    await call(stage, "POST", `/api/asks/${ask?.id ?? ""}/answer`, { behavior: "allow" })
    const back = await dial(stage, randomUUID())
    await greetAgain(back, [question("q1")])
    expect(await answerOf(back, "q1")).toMatchObject({ behavior: "allow" })
    expect(await stage.hub.core.getSession(id)).toMatchObject({ transport: "websocket", pendingAsks: 0 })
    expect(await entriesOf(stage.hub.core.listAsks({ state: "pending" }))).toEqual([])
    say(back, "c1", "goes on")
    await expect.poll(async () => (await stage.hub.core.getSession(id)).lastLine, POLL).toBe("goes on")
  })

  it("[HS32] one that does not say it was here is a new process, and orphans what the old one had asked", async () => {
    const stage = await openStage({ anonymousAgents: true })
    const id = await cutOff(stage, "c1")
    const other = await dial(stage)
    await greet(other)
    say(other, "c1", "resumed")
    await expect.poll(async () => (await stage.hub.core.getSession(id)).lastLine, POLL).toBe("resumed")
    await expect.poll(async () => (await stage.hub.core.getSession(id)).pendingAsks, POLL).toBe(0)
    expect((await entriesOf(stage.hub.core.listAsks({ session: id }))).map(({ state }) => state)).toEqual(["orphaned"])
  })

  it("[HS33] it comes back to its own also while its old connection seems to live, which is then ended", async () => {
    const stage = await openStage({ anonymousAgents: true })
    const first = await dial(stage)
    await greet(first)
    say(first, "c1", "here")
    await expect.poll(() => find(stage, "c1"), POLL).toHaveLength(1)
    const second = await dial(stage, randomUUID())
    await greetAgain(second)
    say(second, "c1", "here again")
    expect((await first.closed).code).toBe(4001)
    await expect
      .poll(async () => (await find(stage, "c1")).map(({ lastLine }) => lastLine), POLL)
      .toEqual(["here again"])
  })

  it("[HS36] a session that was stopped is not entered by naming its conversation: that begins one of its own", async () => {
    const stage = await openStage({ anonymousAgents: true })
    const id = await cutOff(stage, "c1")
    await call(stage, "DELETE", `/api/sessions/${id}`)
    const again = await dial(stage)
    await greet(again)
    say(again, "c1", "resumed by hand")
    await expect.poll(() => find(stage, "c1"), POLL).toHaveLength(2)
    expect(await stage.hub.core.getSession(id)).toMatchObject({ state: "ended", transport: null, lastLine: "here" })
    const reopened = await stage.reopen()
    const back = await dial(reopened, randomUUID())
    await greetAgain(back)
    say(back, "c1", "after the restart")
    await expect
      .poll(async () => (await find(reopened, "c1")).map(({ lastLine }) => lastLine), POLL)
      .toEqual(["after the restart", "here"])
  })
})
