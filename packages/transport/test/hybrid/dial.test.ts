import { expect, it } from "vitest"
import { type DroppedEvents, dialHybrid, dialPresets, eventsUrl, postPolicies } from "../../src/index.ts"
import { readLines } from "../../src/testing/index.ts"
import { nextPostStep } from "../../src/websocket/retry-policies.ts"
import { FakeClock, Inbox, sendFrame } from "../websocket/support.ts"
import { openHybrid, type PostReceived } from "./support.ts"

const events = (posted: PostReceived) => JSON.parse(posted.body).events
const ok = (posted: PostReceived) => posted.response.writeHead(200).end()

it.each([
  ["ws://h:81/v1/ws/abc", "http://h:81/v1/session/abc/events"],
  ["wss://h/v2/session_ingress/ws/s_1?a=1&b=%2F", "https://h/v2/session_ingress/session/s_1/events?a=1&b=%2F"],
  ["ws://h/ws/a/ws/b", "http://h/session/a/ws/b/events"],
  ["ws://h/ws/a/", "http://h/session/a/events"],
  ["ws://h/", "http://h/events"],
])("[H1] the events of %s go to %s", (from, to) => {
  expect(eventsUrl(new URL(from)).href).toBe(to)
})

it("[H2] what is sent goes out by POST, one at a time, in order, with the bearer; the socket stays silent", async () => {
  const { server, connection, raw, dispose } = await openHybrid({ preset: "cli2137" })
  const lines = ['{"n":1,"text":"é"}', '{"n":2}', '{"n":3}']
  await Promise.all(lines.map((line) => connection.send(line)))
  for (const line of lines) {
    const posted = await server.posts.next()
    expect(posted).toMatchObject({
      path: "/v1/session/abc/events",
      token: "Bearer secret",
      body: `{"events":[${line}]}`,
    })
    expect(server.posts.all.at(-1)).toBe(posted)
    ok(posted)
  }
  expect((await server.requests.next()).headers.authorization).toBe("Bearer secret")
  expect(raw.frames.all).toEqual([])
  await dispose()
})

it("[H2] a reconnect names no last request: the socket carried none", async () => {
  const clock = new FakeClock()
  const states = new Inbox<string>()
  const { server, connection, socket, dispose } = await openHybrid({
    preset: "cli2137",
    clock,
    onState: ({ phase }) => states.put(phase),
  })
  await connection.send('{"type":"assistant","uuid":"u1"}')
  ok(await server.posts.next())
  socket.terminate()
  await states.until((phase) => phase === "reconnecting")
  clock.advance(1000)
  await server.sockets.next()
  expect(server.requests.all.map(({ headers }) => headers["x-last-request-id"])).toEqual([undefined, undefined])
  await dispose()
})

it("[H2] what comes in comes by the socket", async () => {
  const { connection, socket, dispose } = await openHybrid()
  await sendFrame(socket, '{"n":1}\n{"n":2}\n')
  expect(await readLines(connection, 2)).toEqual(['{"n":1}', '{"n":2}'])
  await dispose()
})

it("[H2] a line that is not JSON is refused: it would spoil the others in its POST", async () => {
  const { connection, dispose } = await openHybrid()
  for (const bad of ["rubbish", "[1]", "null", "7"]) {
    await expect(connection.send(bad)).rejects.toMatchObject({ code: "transport/bad-line" })
  }
  await dispose()
})

it("[H3] the delays between tries are min(500 * 2^(n-1), 8000) ms, and the tenth failure is the last", () => {
  const steps = Array.from({ length: 10 }, (_, n) =>
    nextPostStep(postPolicies.cli2137, n + 1, { kind: "answered", status: 500 }, 0.5),
  )
  const delays = [500, 1000, 2000, 4000, 8000, 8000, 8000, 8000, 8000]
  expect(steps.slice(0, 9)).toEqual(delays.map((delayMs) => ({ next: "retry", delayMs })))
  expect(steps[9]).toEqual({ next: "drop", why: "HTTP 500, 10 times" })
  expect(nextPostStep(postPolicies.cli2120, 1, { kind: "answered", status: 500 }, 0.5)).toMatchObject({ delayMs: 1000 })
})

it.each([200, 201, 204])("[H3] HTTP %i is a success", (status) => {
  expect(nextPostStep(postPolicies.cli2120, 1, { kind: "answered", status }, 0)).toEqual({ next: "done" })
})

it("[H3] 429, 5xx and broken connections are tried again with the same body; the next POST waits", async () => {
  const clock = new FakeClock()
  const { server, connection, dispose } = await openHybrid({ preset: "cli2137", clock })
  await connection.send('{"n":1}')
  await connection.send('{"n":2}')
  const failures = [
    (posted: PostReceived) => posted.response.writeHead(500).end(),
    (posted: PostReceived) => posted.response.writeHead(429).end(),
    (posted: PostReceived) => posted.response.destroy(),
  ]
  let delay = 500
  for (const fail of failures) {
    const posted = await server.posts.next()
    expect(events(posted)).toEqual([{ n: 1 }])
    const before = clock.armed
    fail(posted)
    await retryIsDue(clock, before)
    clock.advance(delay)
    delay *= 2
  }
  const again = await server.posts.next()
  expect(events(again)).toEqual([{ n: 1 }])
  ok(again)
  const next = await server.posts.next()
  expect(events(next)).toEqual([{ n: 2 }])
  ok(next)
  await dispose()
})

it("[H3] no answer within 15 s is tried again", async () => {
  const clock = new FakeClock()
  const { server, connection, dispose } = await openHybrid({ preset: { ...quiet }, clock })
  await connection.send('{"n":1}')
  await server.posts.next()
  clock.advance(14_999)
  expect(server.posts.all).toHaveLength(1)
  const before = clock.armed
  clock.advance(1)
  await retryIsDue(clock, before)
  clock.advance(500)
  ok(await server.posts.next())
  await dispose()
})

it("[H3] 4xx drops that batch, and only that, and says so", async () => {
  const dropped = new Inbox<DroppedEvents>()
  const { server, connection, dispose } = await openHybrid({
    preset: "cli2137",
    onDroppedEvents: (events) => dropped.put(events),
  })
  await connection.send('{"n":1}')
  await connection.send('{"n":2}')
  const first = await server.posts.next()
  first.response.writeHead(400).end()
  expect(await dropped.next()).toEqual({ lines: ['{"n":1}'], why: "HTTP 400" })
  const second = await server.posts.next()
  expect(events(second)).toEqual([{ n: 2 }])
  ok(second)
  await dispose()
})

it("[T11] an onDroppedEvents that throws harms nothing: posting goes on, and closed resolves", async () => {
  const dropped = new Inbox<string>()
  const { server, connection, dispose } = await openHybrid({
    preset: "cli2137",
    closeTimeoutMs: 30,
    onDroppedEvents: ({ why }) => {
      dropped.put(why)
      throw new Error("a callback's own problem")
    },
  })
  await connection.send('{"n":1}')
  await connection.send('{"n":2}')
  ;(await server.posts.next()).response.writeHead(400).end()
  const second = await server.posts.next()
  expect(events(second)).toEqual([{ n: 2 }])
  await connection.send('{"n":3}')
  await connection.close("done")
  expect(await connection.closed).toEqual({ by: "us", reason: "done" })
  await dropped.next()
  expect([await dropped.next(), await dropped.next()]).toEqual(["closed", "closed"])
  expect(dropped.all).toEqual(["HTTP 400", "closed", "closed"])
  await dispose()
})

it("[H4] stream_events wait 100 ms for company, and leave at once with any other message", async () => {
  const clock = new FakeClock()
  const { server, connection, dispose } = await openHybrid({ preset: "cli2120", clock })
  const delta = (n: number) => `{"type":"stream_event","n":${n}}`
  await connection.send(delta(1))
  clock.advance(60)
  await connection.send(delta(2))
  clock.advance(40)
  const first = await server.posts.next()
  expect(events(first)).toEqual([1, 2].map((n) => ({ type: "stream_event", n })))
  ok(first)
  await connection.send(delta(3))
  await connection.send('{"type":"assistant"}')
  const second = await server.posts.next()
  expect(events(second)).toEqual([{ type: "stream_event", n: 3 }, { type: "assistant" }])
  ok(second)
  await dispose()
})

it("[H4] what gathers while a POST is under way leaves together, except with cli2137", async () => {
  for (const [preset, sizes] of [
    ["patient", [1, 3]],
    ["cli2137", [1, 1, 1, 1]],
  ] as const) {
    const { server, connection, dispose } = await openHybrid({ preset })
    await connection.send('{"n":0}')
    const first = await server.posts.next()
    for (const n of [1, 2, 3]) await connection.send(`{"n":${n}}`)
    ok(first)
    for (const size of sizes.slice(1)) {
      const posted = await server.posts.next()
      expect(events(posted)).toHaveLength(size)
      ok(posted)
    }
    await dispose()
  }
})

it("[H4] a preset of one's own posts as it says", async () => {
  const { server, connection, dispose } = await openHybrid({ preset: { ...dialPresets.cli2137 } })
  for (const n of [1, 2, 3]) await connection.send(`{"n":${n}}`)
  for (const n of [1, 2, 3]) {
    const posted = await server.posts.next()
    expect(events(posted)).toEqual([{ n }])
    ok(posted)
  }
  await dispose()
})

it("[H5] without a token cli2137 connects and its messages vanish; ours refuses to start", async () => {
  const { server, connection, socket, dispose } = await openHybrid({ preset: "cli2137", token: () => undefined })
  await connection.send('{"lost":1}')
  await sendFrame(socket, '{"in":1}\n')
  expect(await readLines(connection, 1)).toEqual(['{"in":1}'])
  expect(server.posts.all).toEqual([])
  await dispose()
  expect(() => dialHybrid({ url: "ws://127.0.0.1:1/" })).toThrow(
    expect.objectContaining({ code: "transport/misconfigured", message: expect.stringContaining("token") }),
  )
})

it("[H6] close posts what was taken, then closes the socket", async () => {
  const { server, connection, raw, dispose } = await openHybrid({ preset: "cli2120", closeTimeoutMs: 5000 })
  await connection.send('{"type":"stream_event","n":1}')
  const closing = connection.close("done")
  const posted = await server.posts.next()
  expect(events(posted)).toEqual([{ type: "stream_event", n: 1 }])
  ok(posted)
  await closing
  expect(await raw.ended).toEqual({ code: 1000, reason: "done" })
  await dispose()
})

it("[T5] a send that is refused at the end is in no POST, and one that was taken is", async () => {
  const { server, connection, dispose } = await openHybrid({ preset: "cli2137", highWaterChars: 20 })
  const sends = [1, 2, 3, 4].map((n) =>
    connection.send(`{"n":${n}}`).then(
      () => "taken",
      (error: { code: string }) => error.code,
    ),
  )
  const posts: unknown[] = []
  server.onPost((posted) => {
    posts.push(...events(posted))
    ok(posted)
  })
  await connection.close("done")
  expect(await Promise.all(sends)).toEqual(["taken", "taken", "transport/closed", "transport/closed"])
  expect(posts).toEqual([{ n: 1 }, { n: 2 }])
  await dispose()
})

it("[H6] a server that never answers does not hold up close, and what was under way is reported", async () => {
  const dropped = new Inbox<DroppedEvents>()
  const { server, connection, dispose } = await openHybrid({
    closeTimeoutMs: 30,
    onDroppedEvents: (events) => dropped.put(events),
  })
  await connection.send('{"n":1}')
  await server.posts.next()
  await connection.close("done")
  expect(await connection.closed).toEqual({ by: "us", reason: "done" })
  expect(await dropped.next()).toEqual({ lines: ['{"n":1}'], why: "closed" })
  await dispose()
})

it("[H6] when the socket ends for good, posting ends too", async () => {
  const { server, connection, socket, dispose } = await openHybrid()
  await connection.send('{"n":1}')
  await server.posts.next()
  socket.close(4001, "not you")
  expect(await connection.closed).toMatchObject({ error: { code: "transport/refused" } })
  await expect(connection.send('{"n":2}')).rejects.toMatchObject({ code: "transport/closed" })
  await dispose()
})

/** No timers but those of the POSTs. */
const quiet = {
  reconnect: "never",
  replay: "none",
  offline: "keep",
  httpErrors: "retry",
  permanentCloseCodes: [],
  pingMs: 0,
  keepAliveMs: 0,
  connectTimeoutMs: 30_000,
  post: postPolicies.cli2137,
} as const

/** The timer of the next try has been set since then. */
async function retryIsDue(clock: FakeClock, armedBefore: number): Promise<void> {
  while (clock.armed === armedBefore) await new Promise((resolve) => setImmediate(resolve))
}
