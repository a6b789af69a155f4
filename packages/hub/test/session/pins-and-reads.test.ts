import type { Me, ReadMark, Session, SessionPage } from "@signalbox/protocol/hub-api"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "../clients/line-socket.ts"
import { openAgent, openStage, type Stage, tokenOf } from "../clients/stage.ts"
import { FakeRunner } from "../runners/fake-runner.ts"
import { launch, rest, WAIT } from "../runners/launching.ts"

async function namedToken(stage: Stage, name: string): Promise<string> {
  return (await rest<{ token: string }>(stage, "POST", "/api/tokens", { body: { role: "viewer", name } })).body.token
}

async function watchAll(stage: Stage, token: string): Promise<LineSocket> {
  const headers = { authorization: `Bearer ${token}` }
  const socket = await LineSocket.open(new WebSocket(`${stage.wsUrl}/api/stream`, { headers }))
  onTestFinished(() => socket.close())
  socket.send({ op: "subscribe", session: "*" })
  await socket.find((message) => message["ev"] === "subscribed", "the subscription")
  return socket
}

it("[HA100] who one is comes with the hub's clock", async () => {
  const stage = await openStage()
  const before = Date.now()
  const { body } = await rest<Me>(stage, "GET", "/api/me")
  expect(Date.parse(body.now)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(body.now)).toBeLessThanOrEqual(Date.now())
  const signedIn = await rest<Me>(stage, "POST", "/api/login", { body: { token: stage.hub.admin.token } })
  expect(signedIn.body).toMatchObject({ role: "admin", name: body.name })
  expect(Date.parse(signedIn.body.now)).toBeGreaterThanOrEqual(Date.parse(body.now))
})

it("[HA101] an operator pins a session, everybody hears of it, and it is first in the list after a restart too", async () => {
  const stage = await openStage()
  const { token } = await tokenOf(stage, "operator")
  const [first, second] = [await openAgent(stage), await openAgent(stage)]
  const listed = async (on: Stage) => (await rest<SessionPage>(on, "GET", "/api/sessions")).body.sessions
  expect((await listed(stage)).map(({ id, pinned }) => [id, pinned])).toEqual([
    [second.id, false],
    [first.id, false],
  ])
  const viewer = await watchAll(stage, stage.hub.admin.token)
  const path = `/api/sessions/${first.id}`
  expect(
    (await rest(stage, "PATCH", path, { body: { pinned: true }, token: await namedToken(stage, "eve") })).status,
  ).toBe(403)
  const pinned = await rest<Session>(stage, "PATCH", path, { body: { pinned: true }, token })
  expect(pinned).toMatchObject({ status: 200, body: { id: first.id, pinned: true } })
  await viewer.find((message) => message["ev"] === "changed" && message["session"] === first.id, "the change")
  expect((await listed(stage)).map(({ id }) => id)).toEqual([first.id, second.id])
  const again = await stage.reopen()
  expect((await listed(again)).map(({ id, pinned: isPinned }) => [id, isPinned])).toEqual([
    [first.id, true],
    [second.id, false],
  ])
})

it("[HA102] how far a session is read is each person's own, only moves forward, and all of their browsers hear of it", async () => {
  const stage = await openStage()
  const { id, agent } = await openAgent(stage)
  agent.say({ type: "assistant", uuid: "a-1", message: { role: "assistant", content: [{ type: "text", text: "hi" }] } })
  const lastSeq = async () => (await rest<Session>(stage, "GET", `/api/sessions/${id}`)).body.lastSeq
  await expect.poll(lastSeq, WAIT).toBeGreaterThanOrEqual(2)
  const last = await lastSeq()
  const [ada, adaToo, bob] = [
    await namedToken(stage, "Ada"),
    await namedToken(stage, "Ada"),
    await namedToken(stage, "Bob"),
  ]
  const path = `/api/sessions/${id}/read`
  const put = (seq: unknown, token: string) => rest<ReadMark>(stage, "PUT", path, { body: { seq }, token })
  const markOf = async (token: string, on = stage) => (await rest<ReadMark>(on, "GET", path, { token })).body.seq
  const [other, stranger] = [await watchAll(stage, adaToo), await watchAll(stage, bob)]
  expect(await markOf(ada)).toBe(0)
  expect((await put(1, ada)).body).toEqual({ seq: 1 })
  expect(await other.find((message) => message["ev"] === "read", "the mark")).toMatchObject({
    ev: "read",
    session: id,
    seq: 1,
  })
  // Not past the end, and not back.
  expect((await put(last + 100, ada)).body).toEqual({ seq: last })
  expect((await put(1, adaToo)).body).toEqual({ seq: last })
  expect([await markOf(adaToo), await markOf(bob)]).toEqual([last, 0])
  const { body: page } = await rest<SessionPage>(stage, "GET", "/api/sessions", { token: adaToo })
  expect(page.read).toEqual({ [id]: last })
  expect((await rest<SessionPage>(stage, "GET", "/api/sessions", { token: bob })).body.read).toEqual({})
  expect((await put(-1, ada)).status).toBe(400)
  expect((await rest(stage, "PUT", "/api/sessions/none/read", { body: { seq: 1 }, token: ada })).status).toBe(404)
  stranger.send({ op: "ping" })
  await stranger.find((message) => message["ev"] === "pong", "a pong")
  expect(stranger.messages.filter((message) => message["ev"] === "read")).toEqual([])
  const again = await stage.reopen()
  expect(await markOf(ada, again)).toBe(last)
})

it("[HR100] the changes that a runner tells are the session's, until another process comes", async () => {
  const stage = await openStage()
  const runner = await FakeRunner.connect(stage)
  const { body: session } = await launch(stage)
  const agent = await runner.agent()
  const told = async () => (await rest<Session>(stage, "GET", `/api/sessions/${session.id}`)).body.changes
  expect(await told()).toBeUndefined()
  agent.note({ kind: "changes", changes: { files: 3, added: 10, removed: 2 } })
  await expect.poll(told, WAIT).toEqual({ files: 3, added: 10, removed: 2 })
  // Numbers that none can be are as good as unknown.
  agent.note({ kind: "changes", changes: { files: -1, added: 10, removed: 2 } })
  await expect.poll(told, WAIT).toBeUndefined()
  agent.note({ kind: "changes", changes: { files: 1, added: 1, removed: 0 } })
  await expect.poll(told, WAIT).toEqual({ files: 1, added: 1, removed: 0 })
  agent.note({ kind: "changes", changes: null })
  await expect.poll(told, WAIT).toBeUndefined()
})
