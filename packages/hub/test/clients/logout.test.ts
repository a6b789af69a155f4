import type { SignedInBrowser } from "@signalbox/protocol/hub-api"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "./line-socket.ts"
import { call, openAgent, openStage, type Stage } from "./stage.ts"

async function signIn(stage: Stage): Promise<string> {
  const reply = await call(stage, "POST", "/api/login", { token: stage.hub.admin.token })
  return (reply.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? ""
}

async function openSocket(stage: Stage, path: string, cookie: string): Promise<LineSocket> {
  const socket = await LineSocket.open(new WebSocket(`${stage.wsUrl}${path}`, { headers: { cookie } }))
  onTestFinished(() => socket.close())
  return socket
}

/** Resolves when the event stream is over. */
async function follow(stage: Stage, id: string, cookie: string): Promise<{ ended: Promise<void> }> {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const url = `${stage.url}/v1/code/sessions/${id}/events/stream`
  const { body } = await fetch(url, { headers: { cookie }, signal: stop.signal })
  const ended = body?.pipeTo(new WritableStream()).catch(() => undefined) ?? Promise.reject(new Error("no stream"))
  return { ended }
}

it("[HA12] logout closes what that browser has open, at every door, and nothing else", async () => {
  const stage = await openStage()
  const { id } = await openAgent(stage)
  const [mine, other] = [await signIn(stage), await signIn(stage)]
  const paths = ["/api/stream", `/ws/session/${id}`, "/ws"]
  const closing = await Promise.all(paths.map((path) => openSocket(stage, path, mine)))
  const stream = await follow(stage, id, mine)
  const staying = await Promise.all(paths.map((path) => openSocket(stage, path, other)))
  const reply = await fetch(`${stage.url}/api/logout`, { method: "POST", headers: { cookie: mine } })
  expect(reply.status).toBe(200)
  const closed = await Promise.all(closing.map((socket) => socket.closed))
  expect(closed.map(({ code }) => code)).toEqual([4001, 4001, 4001])
  await stream.ended
  const [viewer, client] = staying
  viewer?.send({ op: "ping" })
  await viewer?.find((message) => Object.hasOwn(message, "ev"), "a pong")
  client?.send({ type: "control_request", request_id: "still", request: { subtype: "initialize" } })
  await client?.ofType("control_response")
})

it("[HA104] a browser that is signed out from another one loses what it has open, and nothing else is closed", async () => {
  const stage = await openStage()
  const [mine, other] = [await signIn(stage), await signIn(stage)]
  const [closing, staying] = [
    await openSocket(stage, "/api/stream", mine),
    await openSocket(stage, "/api/stream", other),
  ]
  const headers = { cookie: other }
  const listed = (await (await fetch(`${stage.url}/api/logins`, { headers })).json()) as { logins: SignedInBrowser[] }
  const id = listed.logins.find(({ current }) => !current)?.id ?? ""
  expect((await fetch(`${stage.url}/api/logins/${id}`, { method: "DELETE", headers })).status).toBe(200)
  expect((await closing.closed).code).toBe(4001)
  expect((await fetch(`${stage.url}/api/me`, { headers: { cookie: mine } })).status).toBe(401)
  staying.send({ op: "ping" })
  await staying.find((message) => message["ev"] === "pong", "a pong")
})

it("[HA40] every door's viewers are counted while they are here", async () => {
  const stage = await openStage()
  const { id } = await openAgent(stage)
  const cookie = await signIn(stage)
  const counted = async () => {
    const text = await (await fetch(`${stage.url}/metrics`)).text()
    return [...text.matchAll(/^signalbox_viewers\{door="(\w+)"\} (\d+)$/gm)].map(
      ([, door, count]) => `${door} ${count}`,
    )
  }
  const sockets = await Promise.all(
    ["/api/stream", `/ws/session/${id}`, "/ws"].map((path) => openSocket(stage, path, cookie)),
  )
  await follow(stage, id, cookie)
  await expect.poll(async () => (await counted()).sort()).toEqual(["relay 1", "session 1", "sse 1", "stream 1"])
  for (const socket of sockets) socket.close()
  await fetch(`${stage.url}/api/logout`, { method: "POST", headers: { cookie } })
  await expect.poll(async () => (await counted()).sort()).toEqual(["relay 0", "session 0", "sse 0", "stream 0"])
  const text = await (await fetch(`${stage.url}/metrics`)).text()
  expect(Number(/^signalbox_bytes_total\{direction="out"\} (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0)
})
