import { once } from "node:events"
import { createServer, request as httpRequest, type IncomingMessage } from "node:http"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { afterEach, describe, expect, it } from "vitest"
import { DEFAULT_PORTS } from "../../src/http/listen.ts"
import { createHttpServer, type HttpServerOptions, loadedOnce } from "../../src/http/server.ts"
import type { HubCore } from "../../src/hub-core.ts"
import { type HttpSetup, setUpHttp } from "./http-setup.ts"

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Everybody is let in, and gets the same reply. */
const bare = {
  authority: { meet: async () => undefined },
  loadApp: async () => ({ fetch: () => new Response("fine") }),
}

interface Served extends HttpSetup {
  readonly port: number
  readonly url: string
  readonly close: () => Promise<void>
  readonly upgrades: { path: string | undefined; socket: Duplex }[]
  readonly posts: string[]
}

async function serve(limits: HttpServerOptions["limits"] = {}, replies: Partial<HubCore> = {}): Promise<Served> {
  const hub = await setUpHttp({ replies })
  const upgrades: Served["upgrades"] = []
  const posts: string[] = []
  const server = createHttpServer({
    authority: hub.authority,
    loadApp: async () => hub.app.hono,
    onUpgrade(request, socket) {
      upgrades.push({ path: request.url, socket })
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    },
    onAgentPost(request, response) {
      posts.push(request.url ?? "")
      response.end("taken")
    },
    limits: { closeGraceMs: 50, ...limits },
  })
  closers.push(server.close)
  const { port, url } = await server.listen({ host: "127.0.0.1", port: 0 })
  return { ...hub, port, url, close: server.close, upgrades, posts }
}

function dial(port: number): Socket {
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => {})
  closers.push(() => socket.destroy())
  return socket
}

/** Everything that comes back until the other side closes. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = dial(port)
  const chunks: Buffer[] = []
  socket.on("data", (chunk: Buffer) => chunks.push(chunk))
  socket.write(text)
  await once(socket, "close")
  return Buffer.concat(chunks).toString()
}

const HOST = "Host: localhost\r\n"

describe("the server", () => {
  it("[HA34] answers at the address it names, and its cookie and bearer work over a real socket", async () => {
    const { url, tokens } = await serve()
    const login = await fetch(`${url}/api/login`, { method: "POST", body: JSON.stringify({ token: tokens.viewer }) })
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? ""
    expect(await (await fetch(`${url}/api/me`, { headers: { cookie } })).json()).toMatchObject({ role: "viewer" })
    const me = await fetch(`${url}/api/me`, { headers: { authorization: `Bearer ${tokens.admin}` } })
    expect(await me.json()).toMatchObject({ role: "admin" })
    expect((await fetch(`${url}/metrics`)).status).toBe(200)
  })

  it("[HA34] a port that was asked for and is taken is an error that says what to do", async () => {
    const { port } = await serve()
    const other = createHttpServer({ ...bare, onUpgrade: () => {}, onAgentPost: () => {} })
    await expect(other.listen({ host: "127.0.0.1", port })).rejects.toMatchObject({
      code: "start/port-taken",
      message: expect.stringContaining("--port"),
    })
    await other.close()
  })

  it("[HA34] without a port it is the default one, or the next that is free", async () => {
    const blocker = createServer()
    const taken = await new Promise<boolean>((resolve) => {
      blocker.once("error", () => resolve(false))
      blocker.listen(DEFAULT_PORTS[0], "127.0.0.1", () => resolve(true))
    })
    closers.push(() => (taken ? new Promise((resolve) => blocker.close(resolve)) : undefined))
    const server = createHttpServer({ ...bare, onUpgrade: () => {}, onAgentPost: () => {} })
    closers.push(server.close)
    const { port, moved, url } = await server.listen({ host: "127.0.0.1" })
    expect(port).toBeGreaterThan(DEFAULT_PORTS[0] ?? 0)
    expect(port).toBeLessThanOrEqual(8864)
    expect([moved, url]).toEqual([true, `http://127.0.0.1:${port}`])
  })

  it("[HA34] an address that this machine does not have is an error that says so", async () => {
    const server = createHttpServer({ ...bare, onUpgrade: () => {}, onAgentPost: () => {} })
    await expect(server.listen({ host: "192.0.2.1", port: 0 })).rejects.toMatchObject({ code: "start/invalid-option" })
  })

  it("[HA35] [HA21] what is not HTTP is answered 400, giant headers 431, each with the security headers", async () => {
    const { port } = await serve()
    const rubbish = await exchange(port, "\x16\x03\x01 hello\r\n\r\n")
    expect(rubbish).toMatch(/^HTTP\/1.1 400 [^]*x-content-type-options: nosniff[^]*"request\/invalid"/)
    const giant = await exchange(port, `GET / HTTP/1.1\r\n${HOST}X: ${"x".repeat(20_000)}\r\n\r\n`)
    expect(giant).toMatch(/^HTTP\/1.1 431 [^]*x-frame-options: DENY/)
    expect(await exchange(port, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /)
  })

  it("[HA35] headers a byte at a time, or none at all, are cut off", async () => {
    const { port } = await serve({ headersTimeoutMs: 150, requestTimeoutMs: 300, checkIntervalMs: 20 })
    expect(await exchange(port, "GET / HTTP/1.1\r\nHo")).toMatch(/^HTTP\/1.1 408 /)
    expect(await exchange(port, "")).toMatch(/^(?:HTTP\/1.1 408 |$)/)
  })

  it("[HA35] a body that does not come to its end is cut off", async () => {
    const { port, tokens } = await serve({ headersTimeoutMs: 150, requestTimeoutMs: 300, checkIntervalMs: 20 })
    const head = `POST /api/sessions HTTP/1.1\r\n${HOST}Authorization: Bearer ${tokens.admin}\r\nContent-Length: 100\r\n\r\n{`
    expect(await exchange(port, head)).toMatch(/^(?:HTTP\/1.1 4\d\d |$)/)
  })

  it("[HA35] connections beyond the bound are dropped, and there is room again afterwards", async () => {
    const { port, url } = await serve({ maxConnections: 2 })
    const held = [dial(port), dial(port)]
    await Promise.all(held.map((socket) => once(socket, "connect")))
    await once(dial(port), "close")
    for (const socket of held) socket.destroy()
    await expect
      .poll(() =>
        fetch(`${url}/healthz`)
          .then(({ status }) => status)
          .catch(() => 0),
      )
      .toBe(200)
  })

  it("[HA36] upgrades and agents' posts are handed on raw", async () => {
    const { port, url, upgrades, posts, core } = await serve()
    const socket = dial(port)
    socket.write(`GET /ws/cli/s1 HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    await once(socket, "data")
    expect(upgrades.map(({ path }) => path)).toEqual(["/ws/cli/s1"])
    for (const path of ["/session/s1/events", "/v2/session/cli/s1/events?x=1"]) {
      expect(await (await fetch(url + path, { method: "POST", body: "{}" })).text()).toBe("taken")
    }
    expect(posts).toEqual(["/session/s1/events", "/v2/session/cli/s1/events?x=1"])
    expect((await fetch(`${url}/session/s1/events`)).status).toBe(404)
    expect((await fetch(`${url}/api/sessions/s1/events`, { method: "POST" })).status).toBe(401)
    expect(core.calls).toEqual([])
  })

  it.each(["http://evil.example/api/me", "*", "http://localhost/ws", "//", "//evil.example/ws", "/\\evil.example/ws"])(
    "[HA36] the target %s is refused",
    async (target) => {
      const { port, upgrades } = await serve()
      const plain = await exchange(port, `OPTIONS ${target} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`)
      expect(plain).toMatch(/^HTTP\/1.1 400 [^]*x-content-type-options: nosniff/)
      const upgrade = `GET ${target} HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
      expect(await exchange(port, upgrade)).toMatch(/^HTTP\/1.1 400 /)
      expect(upgrades).toEqual([])
    },
  )

  it("[HA36] a part that could not be loaded is loaded again by the next who wants it, and told once", async () => {
    const told: unknown[] = []
    let tries = 0
    const load = loadedOnce(
      async () => {
        if (++tries < 3) throw new Error(`try ${tries}`)
        return "loaded"
      },
      (error) => void told.push(String(error)),
    )
    const [first, same] = [load(), load()]
    await expect(first).rejects.toThrow("try 1")
    await expect(same).rejects.toThrow("try 1")
    await expect(load()).rejects.toThrow("try 2")
    expect([await load(), await load(), tries]).toEqual(["loaded", "loaded", 3])
    expect(told).toEqual(["Error: try 1"])
  })

  it("[HA36] a callback that throws costs that connection and no other", async () => {
    const broken = () => {
      throw new Error("stumbled")
    }
    const server = createHttpServer({ ...bare, onUpgrade: broken, onAgentPost: broken })
    closers.push(server.close)
    const { port, url } = await server.listen({ host: "127.0.0.1", port: 0 })
    expect(await exchange(port, `GET /ws HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)).toBe(
      "",
    )
    expect(await exchange(port, `POST /session/s1/events HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`)).toBe("")
    expect(await (await fetch(url)).text()).toBe("fine")
  })

  it.each([
    ["Host: evil.example", 403],
    ["Host: localhost\r\nHost: evil.example", 403],
    ["Host: a b", 400],
    ["Host: localhost\r\nOrigin: http://evil.example", 403],
    ["Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example", 403],
  ])("[HA15] [HA16] [HA21] %j is refused over a real socket", async (headers, status) => {
    const { port } = await serve()
    const reply = await exchange(port, `GET /healthz HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`)
    expect(reply).toContain(`HTTP/1.1 ${status} `)
    expect(reply).toContain("x-content-type-options: nosniff")
  })

  it("[HA23] methods that nobody expects are answered", async () => {
    const { port } = await serve()
    for (const method of ["TRACE", "PROPFIND", "OPTIONS"]) {
      const reply = await exchange(port, `${method} /healthz HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`)
      expect(reply, method).toMatch(/^HTTP\/1.1 405 /)
    }
  })

  it.each([
    ["without a token", false, 401],
    ["over the bound", true, 413],
  ])("[HA38] a refusal %s reaches a client that is still sending", async (_, known, expected) => {
    const { port, tokens } = await serve()
    const bearer = known ? { authorization: `Bearer ${tokens.admin}` } : {}
    const sending = httpRequest({ port, method: "PUT", path: "/api/policy", headers: { host: "localhost", ...bearer } })
    sending.on("error", () => {})
    const chunk = Buffer.alloc(64 * 1024, 0x20)
    const pump = () => {
      if (!sending.destroyed) sending.write(chunk, pump)
    }
    pump()
    const [reply] = (await once(sending, "response")) as [IncomingMessage]
    expect(reply.statusCode).toBe(expected)
    sending.destroy()
  })

  it("[HA37] closing lets a request under way finish", async () => {
    let finish = () => {}
    const gate = new Promise<void>((resolve) => (finish = resolve))
    let started = () => {}
    const underWay = new Promise<void>((resolve) => (started = resolve))
    const list = async () => {
      started()
      await gate
      return []
    }
    const replies = { grants: { list } }
    const { url, tokens, close } = await serve({ closeGraceMs: 3_600_000, keepAliveTimeoutMs: 3_600_000 }, replies)
    const reply = fetch(`${url}/api/grants`, { headers: { authorization: `Bearer ${tokens.viewer}` } })
    await underWay
    const closed = close()
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed")
    finish()
    expect((await reply).status).toBe(200)
    await closed
  })

  it("[HA37] closing ends what does not end by itself, upgraded connections too, and may be asked twice", async () => {
    const { port, upgrades, close } = await serve()
    const upgraded = dial(port)
    upgraded.write(`GET /ws HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    await once(upgraded, "data")
    const idle = dial(port)
    await once(idle, "connect")
    const ended = Promise.all([once(upgraded, "close"), once(idle, "close")])
    await Promise.all([close(), close()])
    await ended
    expect(upgrades[0]?.socket.destroyed).toBe(true)
  })
})
