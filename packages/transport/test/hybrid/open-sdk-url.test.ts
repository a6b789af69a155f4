import { expect, it } from "vitest"
import { openSdkUrl, readDialEnvironment } from "../../src/index.ts"
import { FakeClock, rawSocket } from "../websocket/support.ts"
import { listenHybrid } from "./support.ts"

it("[H12] --sdk-url is a WebSocket, or hybrid when CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2 is set", async () => {
  for (const [ingress, posts] of [
    [undefined, 0],
    ["1", 1],
  ] as const) {
    const server = await listenHybrid()
    const env = readDialEnvironment({
      CLAUDE_CODE_SESSION_ACCESS_TOKEN: "tok",
      CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION: "1.0",
      CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: ingress,
    })
    const connection = openSdkUrl(`${server.url}/ws/x`, env, { preset: "patient", closeTimeoutMs: 300 })
    const raw = rawSocket(await server.sockets.next())
    expect((await server.requests.next()).headers).toMatchObject({
      authorization: "Bearer tok",
      "x-environment-runner-version": "1.0",
    })
    await connection.send('{"n":1}')
    const arrived = await Promise.race([server.posts.next(), raw.lines.next()])
    if (typeof arrived !== "string") arrived.response.writeHead(200).end()
    expect(typeof arrived === "string" ? arrived : arrived.body).toContain('{"n":1}')
    expect(server.posts.all).toHaveLength(posts)
    await connection.close()
    await server.close()
  }
})

it("[H12] CLAUDE_CODE_REMOTE silences keep_alive", async () => {
  for (const [remote, expected] of [
    ["1", []],
    [undefined, ['{"type":"keep_alive"}']],
  ] as const) {
    const server = await listenHybrid()
    const clock = new FakeClock()
    const env = readDialEnvironment({ CLAUDE_CODE_REMOTE: remote })
    const connected = new Promise<void>((resolve) => {
      openings.push(
        openSdkUrl(server.url, env, {
          preset: "cli2120",
          clock,
          onState: ({ phase }) => phase === "connected" && resolve(),
        }),
      )
    })
    const socket = await server.sockets.next()
    const raw = rawSocket(socket)
    await connected
    const connection = openings.pop()
    for (let tick = 0; tick < 30; tick++) {
      clock.advance(10_000)
      // Answers the ping before the next tick.
      const pong = new Promise((resolve) => socket.once("pong", resolve))
      socket.ping()
      await pong
    }
    await connection?.send('{"mark":1}')
    await raw.lines.until((line) => line === '{"mark":1}')
    expect(raw.lines.all.slice(0, -1)).toEqual(expected)
    await connection?.close()
    await server.close()
  }
})

it("[H12] other schemes are refused, hybrid or not", () => {
  const env = readDialEnvironment({
    CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "1",
    CLAUDE_CODE_SESSION_ACCESS_TOKEN: "t",
  })
  expect(() => openSdkUrl("http://h/", env)).toThrow(/Unsupported protocol: http:/)
})

const openings: ReturnType<typeof openSdkUrl>[] = []
