import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { connect } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { type Route, routesOf } from "../../src/http/app.ts"
import { ReplyRoom, type ReplyRoomLimits } from "../../src/http/reply.ts"
import { createHttpServer } from "../../src/http/server.ts"
import { setUpHttp } from "./http-setup.ts"

const MB = 1024 * 1024
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const replies = { summary: "s", replies: "text" }
const TEXTS = {
  "GET /api/large": { access: "viewer", ...replies },
  "GET /api/small": { access: "viewer", ...replies },
  "GET /open-large": { access: "anybody", ...replies },
} as const

function textRoutes(): Route[] {
  const text = (bytes: number) => () => ({ text: "x".repeat(bytes) })
  const large = text(8 * MB)
  return routesOf(TEXTS, { "GET /api/large": large, "GET /api/small": text(1_000), "GET /open-large": large })
}

async function serve({ limits = {}, stallMs }: { limits?: Partial<ReplyRoomLimits>; stallMs?: number } = {}) {
  const replyRoom = new ReplyRoom(limits)
  const hub = await setUpHttp({ moreRoutes: textRoutes(), replyRoom, ...(stallMs === undefined ? {} : { stallMs }) })
  const server = createHttpServer({
    authority: hub.authority,
    loadApp: async () => hub.app.hono,
    onUpgrade: (_request, socket) => void socket.destroy(),
    onAgentPost: (_request, response) => void response.end(),
    limits: { closeGraceMs: 50 },
  })
  closers.push(server.close)
  const { port, url } = await server.listen({ host: "127.0.0.1", port: 0 })
  const ask = (path: string, as: "viewer" | "operator" = "viewer") =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${hub.tokens[as]}` } })
  /** Headers are read, the body is not. */
  const unread = async (path: string, as: "viewer" | "operator" = "viewer"): Promise<IncomingMessage> => {
    const request = get(`${url}${path}`, { agent: false, headers: { authorization: `Bearer ${hub.tokens[as]}` } })
    const [response] = (await once(request, "response")) as [IncomingMessage]
    response.on("error", () => undefined)
    closers.push(() => response.destroy())
    return response
  }
  return { ...hub, replyRoom, port, ask, unread }
}

describe("replies that wait for their readers", () => {
  it("[HA43] count against their token: beyond its bound it is refused, and others are served", async () => {
    const hub = await serve({ limits: { maxBytesPerToken: 20 * MB } })
    const held = [await hub.unread("/api/large"), await hub.unread("/api/large")]
    const refused = await hub.ask("/api/large")
    expect(refused.status).toBe(503)
    expect(refused.headers.get("retry-after")).toBe("1")
    expect(refused.headers.get("content-security-policy")).not.toBeNull()
    expect(await refused.json()).toMatchObject({ error: { code: "hub/busy" } })
    expect((await hub.ask("/api/small")).status).toBe(200)
    expect((await (await hub.ask("/api/large", "operator")).text()).length).toBeGreaterThan(8 * MB)
    for (const response of held) response.destroy()
    await expect.poll(() => hub.replyRoom.heldBytes).toBe(0)
    expect((await hub.ask("/api/large")).status).toBe(200)
  })

  it("[HA43] all tokens together have a bound; a small reply to a token that holds little is served beyond it", async () => {
    const hub = await serve({ limits: { maxBytes: 12 * MB, alwaysBytes: MB } })
    await hub.unread("/api/large")
    expect((await hub.ask("/api/large", "operator")).status).toBe(503)
    expect((await hub.ask("/api/small", "operator")).status).toBe(200)
    expect((await hub.ask("/api/sessions/s1/events", "operator")).status).toBe(200)
  })

  it("[HA43] a reply larger than the bound is served to a token that holds nothing, and is whole", async () => {
    const hub = await serve({ limits: { maxBytes: MB, maxBytesPerToken: MB } })
    expect(await (await hub.ask("/api/large")).json()).toEqual({ text: "x".repeat(8 * MB) })
    await expect.poll(() => hub.replyRoom.heldBytes).toBe(0)
  })

  it("[HA44] a reader that takes nothing for a while is cut off; one that goes on reading gets everything", async () => {
    const hub = await serve({ stallMs: 2_000 })
    const stalled = await hub.unread("/open-large")
    expect(hub.replyRoom.heldBytes).toBeGreaterThan(0)
    await expect.poll(() => hub.replyRoom.heldBytes).toBe(0)
    let taken = 0
    stalled.on("data", (chunk: Buffer) => {
      taken += chunk.length
    })
    await new Promise((resolve) => stalled.on("close", resolve))
    expect([stalled.complete, taken < 8 * MB]).toEqual([false, true])
    expect((await (await hub.ask("/api/large")).text()).length).toBeGreaterThan(8 * MB)
  })

  it("[HA43] neither HEAD nor a client that goes away holds anything", async () => {
    const hub = await serve()
    const head = await fetch(`http://127.0.0.1:${hub.port}/open-large`, { method: "HEAD" })
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, `${8 * MB + 11}`, ""])
    const socket = connect(hub.port, "127.0.0.1")
    socket.write("GET /open-large HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await once(socket, "data")
    socket.destroy()
    await expect.poll(() => hub.replyRoom.heldBytes).toBe(0)
  })
})
