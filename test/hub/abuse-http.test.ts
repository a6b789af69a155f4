import { once } from "node:events"
import { connect } from "node:net"
import { afterEach, expect } from "vitest"
import { abuseCase, Bystander, expectUnharmed, Stage } from "./abuse-actors.ts"
import { rawHttp } from "./abuse-socket.ts"
import type { HubProcess } from "./hub-process.ts"

const stage = new Stage()
afterEach(() => stage.end())

const MIB = 1024 * 1024

/** A request's head, with the right token, up to where its body would begin. */
function head(hub: HubProcess, start: string, ...headers: readonly string[]): string {
  const { host } = new URL(hub.ready.url)
  const lines = [`${start} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${hub.ready.token}`, ...headers]
  return `${lines.join("\r\n")}\r\n\r\n`
}

function statusOf(reply: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(reply)?.[1] ?? 0)
}

abuseCase("[AB24] heads that are too large, too many or no HTTP at all are refused and cut off", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const { host } = new URL(hub.ready.url)
  const send = async (...parts: (string | Uint8Array)[]) => statusOf(await rawHttp(hub.ready.url, parts))
  expect(await send(head(hub, "GET /api/sessions", `X-Big: ${"x".repeat(20_000)}`))).toBe(431)
  expect(await send(head(hub, `GET /${"x".repeat(100_000)}`))).toBe(431)
  expect(await send("hello\r\n\r\n")).toBe(400)
  expect(await send(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))).toBe(400)
  expect(await send("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n")).toBeGreaterThanOrEqual(400)
  expect(await send(`GET / HTTP/1.1\r\nHost: ${host}\r\nBad Header: x\r\n\r\n`)).toBe(400)
  expect(await send(`GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)).toBe(403)
  expect(await send(head(hub, "GET http://evil.example/api/sessions", "Connection: close"))).toBe(400)
  expect(await send(head(hub, "GET //evil.example/api/sessions", "Connection: close"))).toBe(400)
  expect(await send(head(hub, "OPTIONS *", "Connection: close"))).toBe(400)
  expect(await send(head(hub, "CONNECT evil.example:443", "Connection: close"))).toSatisfy((code) => code !== 200)
  expect(await send(head(hub, "TRACE /api/sessions", "Connection: close"))).toBeGreaterThanOrEqual(400)
  const upgrade = ["Connection: Upgrade", "Upgrade: websocket"]
  expect(await send(head(hub, "GET /api/stream", ...upgrade))).toBeGreaterThanOrEqual(400)
  expect(await send(head(hub, "GET /api/stream", ...upgrade, "Sec-WebSocket-Key: x"))).toBeGreaterThanOrEqual(400)
  expect(await send(head(hub, "GET /api/sessions", "Connection: Upgrade", "Upgrade: h2c"))).toBeGreaterThanOrEqual(400)
  const many = Array.from({ length: 500 }, (_, n) => `X-${n}: 1`)
  expect(await send(head(hub, "GET /healthz", ...many, "Connection: close"))).toSatisfy(
    (code) => code === 200 || code >= 400,
  )
  await expectUnharmed(hub, bystander)
})

abuseCase(
  "[AB25] bodies that lie about their length, are too large or no JSON are refused; nothing of them is kept",
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const target = `POST /api/sessions/${bystander.agent.sessionId}/messages`
    const post = async (headers: readonly string[], ...body: (string | Uint8Array)[]) =>
      statusOf(await rawHttp(hub.ready.url, [head(hub, target, "Connection: close", ...headers), ...body]))
    const json = "Content-Type: application/json"
    expect(await post([json, "Content-Length: -1"])).toBe(400)
    expect(await post([json, "Content-Length: abc"])).toBe(400)
    expect(await post([json, "Content-Length: 2", "Content-Length: 3"], "{}")).toBe(400)
    expect(await post([json, "Content-Length: 2", "Transfer-Encoding: chunked"], "0\r\n\r\n")).toBe(400)
    expect(await post([json, "Transfer-Encoding: gzip, identity"], "{}")).toBe(400)
    expect(await post([json, "Transfer-Encoding: chunked"], "zz\r\nrubbish\r\n")).toSatisfy(
      (code) => code === 0 || code === 400,
    )
    expect(await post([json, "Content-Length: 99999999999"])).toBe(413)
    expect(await post([json, `Content-Length: ${100 * MIB}`], "{")).toBe(413)
    const piece = `${MIB.toString(16)}\r\n${"x".repeat(MIB)}\r\n`
    expect(await post([json, "Transfer-Encoding: chunked"], ...Array.from({ length: 100 }, () => piece))).toSatisfy(
      (code) => code === 413 || code === 0,
    )
    for (const [type, body] of [
      ["application/xml", "<content>x</content>"],
      ["multipart/form-data; boundary=x", "--x\r\n\r\n--x--"],
      ["application/json; charset=utf-16", Buffer.from('{"content":"x"}', "utf16le")],
      ["application/json", "["],
      ["application/json", `${"[".repeat(10_000)}${"]".repeat(10_000)}`],
      ["application/json", '{"content":"x","__proto__":{"isAdmin":true}}'],
      ["application/json", '{"content":{"toString":1}}'],
      ["application/json", "null"],
    ] as const) {
      const length = `Content-Length: ${Buffer.byteLength(body)}`
      expect(await post([`Content-Type: ${type}`, length], body), JSON.stringify([type, body]).slice(0, 60)).toBe(400)
    }
    const { events } = await hub.get(`/api/sessions/${bystander.agent.sessionId}/events`)
    expect(events.filter((event: { from: string }) => event.from === "client")).toEqual([])
    await expectUnharmed(hub, bystander)
  },
)

abuseCase("[AB26] bodies that stop in the middle and clients that go away cost nothing", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const { port, hostname } = new URL(hub.ready.url)
  const target = `POST /api/sessions/${bystander.agent.sessionId}/messages`
  const half = head(hub, target, "Content-Type: application/json", "Content-Length: 1000000")
  const sockets = Array.from({ length: 200 }, () => connect(Number(port), hostname))
  for (const socket of sockets) {
    stage.onEnd(() => void socket.destroy())
    socket.on("error", () => undefined)
    socket.write(`${half}{"content":"${"x".repeat(10_000)}`)
  }
  await bystander.work()
  for (const socket of sockets.slice(0, 100)) socket.destroy()
  await bystander.work()
  const pipelined = head(hub, "GET /healthz").repeat(500) + head(hub, "GET /healthz", "Connection: close")
  const replies = await rawHttp(hub.ready.url, [pipelined])
  expect(replies.split("HTTP/1.1 200").length - 1).toBe(501)
  await expectUnharmed(hub, bystander)
})

abuseCase("[AB27] heads that come a byte at a time are cut off, and take nobody's place meanwhile", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const { port, hostname } = new URL(hub.ready.url)
  const sockets = Array.from({ length: 500 }, () => connect(Number(port), hostname))
  const closed = sockets.map(async (socket) => {
    stage.onEnd(() => void socket.destroy())
    socket.on("error", () => undefined)
    let reply = ""
    socket.on("data", (bytes: Buffer) => {
      reply += bytes.toString()
    })
    socket.write("GET /healthz HTTP/1.1\r\n")
    const drip = setInterval(() => socket.write("X"), 500)
    await once(socket, "close").catch(() => undefined)
    clearInterval(drip)
    return statusOf(reply)
  })
  const all = Promise.all(closed)
  expect(await bystander.workWhile(all)).toBeGreaterThan(10)
  expect(new Set(await all)).toEqual(new Set([408]))
  await expectUnharmed(hub, bystander)
})
