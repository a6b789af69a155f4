import { expect, it } from "vitest"
import type { WebSocket } from "ws"
import { type DialOptions, type DialState, dialPresets, dialWebSocket } from "../../src/index.ts"
import { readAll, readLines } from "../../src/testing/index.ts"
import { deadPort, FakeClock, Inbox, listenRaw, rawSocket, sendFrame, settled } from "./support.ts"

const MIDDLE = 0.5
const uuidLine = (n: number) => JSON.stringify({ type: "assistant", uuid: `u${n}` })
const controlLine = (n: number) => JSON.stringify({ type: "control_request", request_id: `r${n}` })

/** Dials with a clock that stands still, so a test decides when the next dial is. */
function dial(options: DialOptions) {
  const clock = new FakeClock()
  const states = new Inbox<DialState>()
  const connection = dialWebSocket({
    clock,
    random: () => MIDDLE,
    closeTimeoutMs: 300,
    onState: (state) => states.put(state),
    ...options,
  })
  const until = (phase: DialState["phase"]) => states.until((state) => state.phase === phase)
  return { clock, states, connection, until }
}

/** Connected, with the server's end of the connection. */
async function connect(options: Omit<DialOptions, "url">, answer?: Parameters<typeof listenRaw>[0]) {
  const server = await listenRaw(answer)
  const dialled = dial({ ...options, url: `${server.url}/ws/a` })
  const socket = await server.sockets.next()
  const raw = rawSocket(socket)
  await dialled.until("connected")
  const dispose = async () => {
    await dialled.connection.close("test over")
    expect(dialled.clock.pending).toBe(0)
    await server.close()
  }
  /** Breaks the connection, lets `meanwhile` happen, and dials again. */
  const reconnect = async (meanwhile: () => Promise<void> = async () => undefined) => {
    const newest = server.sockets.all.at(-1)
    newest?.terminate()
    await dialled.until("reconnecting")
    await meanwhile()
    dialled.clock.advance(30_000)
    const next = await server.sockets.next()
    const nextRaw = rawSocket(next)
    await dialled.until("connected")
    return { socket: next, raw: nextRaw }
  }
  return { ...dialled, server, socket, raw, dispose, reconnect }
}

/** Everything the server's end gets up to a line that marks the end. */
async function receivedUpTo(mark: string, raw: { lines: Inbox<string> }): Promise<string[]> {
  await raw.lines.until((line) => line === mark)
  return raw.lines.all.slice(0, raw.lines.all.indexOf(mark))
}

it.each(["http://h/", "https://h/", "sse://h/"])("[D1] only ws: and wss: can be dialled, not %s", (url) => {
  expect(() => dialWebSocket({ url })).toThrow(/Unsupported protocol: /)
})

it("[D1] what is no URL, or cannot be a header, is transport/misconfigured and is not tried again", async () => {
  expect(() => dialWebSocket({ url: "not a url" })).toThrow(
    expect.objectContaining({ code: "transport/misconfigured" }),
  )
  const { connection } = dial({ url: "ws://127.0.0.1:1/", token: "line\nbreak" })
  expect(await connection.closed).toMatchObject({ by: "us", error: { code: "transport/misconfigured" } })
  const asked = dial({
    url: "ws://127.0.0.1:1/",
    token: () => {
      throw new Error("the keyring is locked")
    },
  })
  expect((await asked.connection.closed).reason).toContain("the keyring is locked")
})

it("[D4] token, runner version and headers of one's own are in the upgrade; without them there are none", async () => {
  const full = await connect({ token: "tok", environmentRunnerVersion: "3.1", headers: { "x-own": "yes" } })
  const request = await full.server.requests.next()
  expect(request.headers).toMatchObject({
    authorization: "Bearer tok",
    "x-environment-runner-version": "3.1",
    "x-own": "yes",
  })
  expect(request.headers["x-last-request-id"]).toBeUndefined()
  await full.dispose()
  const bare = await connect({})
  const { headers } = await bare.server.requests.next()
  expect(headers.authorization).toBeUndefined()
  expect(headers["x-environment-runner-version"]).toBeUndefined()
  await bare.dispose()
})

it("[D4] a token that is a function is asked before every dial", async () => {
  let asked = 0
  const { server, reconnect, dispose } = await connect({ token: () => `tok-${++asked}` })
  await reconnect()
  expect(server.requests.all.map((request) => request.headers.authorization)).toEqual(["Bearer tok-1", "Bearer tok-2"])
  await dispose()
})

it("[D5] on reconnect X-Last-Request-Id is the last uuid written, delivered or not", async () => {
  const { server, connection, reconnect, dispose } = await connect({ preset: "cli2120" })
  await connection.send(uuidLine(1))
  await connection.send(controlLine(1))
  await reconnect(async () => {
    await connection.send(uuidLine(2))
    await connection.send(controlLine(2))
  })
  expect(server.requests.all.map((request) => request.headers["x-last-request-id"])).toEqual([undefined, "u2"])
  await dispose()
})

it.each(["cli2137", "cli2100"] as const)(
  "[D6] %s replays nothing, and loses what is sent meanwhile",
  async (preset) => {
    const { connection, reconnect, dispose } = await connect({ preset })
    await connection.send(uuidLine(1))
    const { raw } = await reconnect(async () => {
      await connection.send(uuidLine(2))
      await connection.send(controlLine(2))
    })
    await connection.send('{"mark":1}')
    expect(await receivedUpTo('{"mark":1}', raw)).toEqual([])
    await dispose()
  },
)

it("[D6] cli2120 replays its whole ring at each reconnect, and loses what has no uuid", async () => {
  const { connection, reconnect, dispose } = await connect({ preset: "cli2120" })
  await connection.send(uuidLine(1))
  await connection.send(controlLine(1))
  const second = await reconnect(async () => {
    await connection.send(controlLine(2))
    await connection.send(uuidLine(2))
  })
  await connection.send('{"mark":1}')
  expect(await receivedUpTo('{"mark":1}', second.raw)).toEqual([uuidLine(1), uuidLine(2)])
  const third = await reconnect()
  await connection.send('{"mark":2}')
  expect(await receivedUpTo('{"mark":2}', third.raw)).toEqual([uuidLine(1), uuidLine(2)])
  await dispose()
})

it("[D6] patient replays what came after the message that the server names, and all when it names none it knows", async () => {
  let named: string | undefined
  const { connection, raw, reconnect, dispose } = await connect({ preset: "patient" }, () => ({
    headers: named === undefined ? [] : [`X-Last-Request-Id: ${named}`],
  }))
  for (const n of [1, 2, 3]) await connection.send(uuidLine(n))
  await raw.lines.until((line) => line === uuidLine(3))
  named = "u2"
  const second = await reconnect()
  await connection.send('{"mark":1}')
  expect(await receivedUpTo('{"mark":1}', second.raw)).toEqual([uuidLine(3)])
  named = undefined
  const third = await reconnect()
  await connection.send('{"mark":2}')
  expect(await receivedUpTo('{"mark":2}', third.raw)).toEqual([uuidLine(1), uuidLine(2), uuidLine(3)])
  await dispose()
})

it("[D7] patient keeps every line that is sent without a connection, and sends each once, in order", async () => {
  const { connection, raw, reconnect, dispose } = await connect({ preset: "patient" }, () => ({
    headers: ["X-Last-Request-Id: u1"],
  }))
  await connection.send(uuidLine(1))
  await raw.lines.until((line) => line === uuidLine(1))
  const lines = Array.from({ length: 3000 }, (_, n) => (n % 2 === 0 ? uuidLine(n + 2) : controlLine(n)))
  const second = await reconnect(async () => {
    for (const line of lines) await connection.send(line)
  })
  await connection.send('{"mark":1}')
  expect(await receivedUpTo('{"mark":1}', second.raw)).toEqual(lines)
  const third = await reconnect()
  await connection.send('{"mark":2}')
  // Once more only what has a uuid, from the ring.
  expect(await receivedUpTo('{"mark":2}', third.raw)).toEqual(
    lines.filter((line) => line.includes("uuid")).slice(-1000),
  )
  await dispose()
})

it("[D7] a connection that breaks while the outbox empties costs only what it had taken, and nothing is sent twice", async () => {
  const { connection, raw, server, clock, until, reconnect, dispose } = await connect({
    preset: "patient",
    outboxBytes: 64 * 1024 * 1024,
  })
  await connection.send(uuidLine(1))
  await raw.lines.until((line) => line === uuidLine(1))
  const total = 400
  server.socketsPaused = true
  server.sockets.all[0]?.terminate()
  await until("reconnecting")
  const line = (n: number) => JSON.stringify({ request_id: n, fill: "x".repeat(64 * 1024) })
  for (let n = 0; n < total; n++) await connection.send(line(n))
  clock.advance(30_000)
  const stuck = await server.sockets.next()
  const stuckRaw = rawSocket(stuck)
  await until("connected")
  server.socketsPaused = false
  const third = await reconnect()
  await connection.send('{"mark":1}')
  const [replayed, ...rest] = await receivedUpTo('{"mark":1}', third.raw)
  expect(replayed).toBe(uuidLine(1))
  const numbers = rest.map((text): number => JSON.parse(text).request_id)
  // What is missing at the front went into the broken connection; from there on everything is there, once.
  expect(numbers.length).toBeGreaterThan(100)
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => total - numbers.length + n))
  const taken = stuckRaw.lines.all.filter((text) => text.startsWith('{"request_id"')).length
  expect(taken).toBeLessThanOrEqual(total - numbers.length)
  await dispose()
})

it("[D7] lines sent before the first connection are kept as well", async () => {
  const port = await deadPort()
  const { clock, connection, until } = dial({ url: `ws://127.0.0.1:${port}/`, preset: "patient" })
  await connection.send(controlLine(1))
  await until("reconnecting")
  const server = await listenRaw(undefined, port)
  clock.advance(1000)
  const raw = rawSocket(await server.sockets.next())
  expect(await raw.lines.next()).toBe(controlLine(1))
  await connection.close()
  await server.close()
})

it("[D7] the outbox is bounded: past it send waits, far past it send is refused", async () => {
  const { connection, reconnect, dispose } = await connect({
    preset: "patient",
    outboxBytes: 1000,
    maxWaitingBytes: 2000,
  })
  const line = JSON.stringify({ fill: "x".repeat(480) })
  const outcomes: string[] = []
  let sends: Promise<unknown>[] = []
  const { raw } = await reconnect(async () => {
    sends = Array.from({ length: 6 }, () =>
      connection.send(line).then(
        () => outcomes.push("taken"),
        (error: { code: string }) => outcomes.push(error.code),
      ),
    )
    await Promise.all([sends[0], sends[1], sends[5]])
    expect(outcomes).toEqual(["taken", "taken", "transport/overflow"])
  })
  await Promise.all(sends)
  await connection.send('{"mark":1}')
  expect(await receivedUpTo('{"mark":1}', raw)).toEqual(Array.from({ length: 5 }, () => line))
  await dispose()
})

it.each([1002, 4001, 4003])("[D8] close code %i is for good: transport/refused", async (code) => {
  const { connection, socket, states, dispose } = await connect({ preset: "patient" })
  socket.close(code, "no more")
  const closed = await connection.closed
  expect(closed).toMatchObject({
    by: "peer",
    error: { code: "transport/refused", details: { code, reason: "no more" } },
  })
  expect(states.all.map((state) => state.phase)).not.toContain("reconnecting")
  expect(await readAll(connection)).toEqual([])
  await dispose()
})

it.each([1000, 1001, 1008, 1011, 1012, 1013, 4000])("[D8] close code %i means dial again", async (code) => {
  const { connection, socket, server, clock, until, dispose } = await connect({ preset: "cli2120" })
  socket.close(code, "later")
  expect(await until("reconnecting")).toMatchObject({ attempt: 1, delayMs: 1000, failure: { end: { code } } })
  clock.advance(1000)
  await server.sockets.next()
  await until("connected")
  await dispose()
  expect((await connection.closed).error).toBeUndefined()
})

it.each([
  ["cli2120", 401],
  ["cli2120", 404],
  ["cli2120", 503],
  ["patient", 401],
  ["patient", 404],
] as const)("[D9] %s takes HTTP %i in answer to the upgrade for good: transport/refused", async (preset, status) => {
  const server = await listenRaw(() => ({ status }))
  const { connection } = dial({ url: server.url, preset })
  expect(await connection.closed).toMatchObject({ error: { code: "transport/refused", details: { status } } })
  await server.close()
})

it.each([
  ["cli2100", 401],
  ["cli2100", 503],
  ["cli2137", 401],
  ["cli2137", 503],
  ["patient", 429],
  ["patient", 503],
] as const)("[D9] %s dials again after HTTP %i in answer to the upgrade", async (preset, status) => {
  const server = await listenRaw(() => ({ status }))
  const { connection, until } = dial({ url: server.url, preset })
  expect(await until("reconnecting")).toMatchObject({ failure: { kind: "http", status } })
  await connection.close()
  await server.close()
})

it("[D2] cli2137 on real sockets: a server that died is dialled at +1 s and +5 s, then transport/unreachable", async () => {
  const { server, clock, states, connection, until } = await connect({ preset: "cli2137" })
  await server.close()
  expect(await until("reconnecting")).toMatchObject({ attempt: 1, delayMs: 1000 })
  clock.advance(1000)
  expect(await until("reconnecting")).toMatchObject({ attempt: 2, delayMs: 4000 })
  clock.advance(4000)
  const closed = await connection.closed
  expect(closed).toMatchObject({
    by: "us",
    error: { code: "transport/unreachable", details: { attempts: 2, overMs: 5000 } },
  })
  expect(closed.reason).toMatch(/gave up after 2 attempts over 5000 ms/)
  expect(states.all.filter((state) => state.phase === "connecting")).toHaveLength(3)
  expect(clock.pending).toBe(0)
})

it("[D3] cli2120 on real sockets: refused connections are dialled for 600 s, then transport/unreachable", async () => {
  const { clock, connection, states } = dial({ url: `ws://127.0.0.1:${await deadPort()}/`, preset: "cli2120" })
  const delays: number[] = []
  for (;;) {
    const state = await states.until(({ phase }) => phase === "reconnecting" || phase === "closed")
    if (state.phase !== "reconnecting") break
    delays.push(state.delayMs)
    clock.advance(state.delayMs)
  }
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, ...Array.from({ length: 19 }, () => 30_000)])
  expect((await connection.closed).error).toMatchObject({
    code: "transport/unreachable",
    details: { attempts: 25, overMs: 601_000 },
  })
})

it("[D10] a missing pong before the next ping means dial again", async () => {
  const server = await listenRaw()
  const preset = { ...dialPresets.patient, pingMs: 20 }
  const states = new Inbox<DialState>()
  const connection = dialWebSocket({ url: server.url, preset, random: () => 0, onState: (state) => states.put(state) })
  const socket = await server.sockets.next()
  // A peer whose process is stopped: the connection is open, and nothing comes back.
  socket.pause()
  const state = await states.until(({ phase }) => phase === "reconnecting")
  expect(state).toMatchObject({ failure: { kind: "lost", end: { reason: expect.stringContaining("no pong") } } })
  await connection.close()
  await server.close()
})

it("[D10] a tick that comes more than 60 s late means the machine slept: dial again at once", async () => {
  const { clock, until, dispose } = await connect({ preset: "cli2120" })
  clock.sleep(70_001)
  clock.advance(0)
  expect(await until("reconnecting")).toMatchObject({ failure: { end: { reason: expect.stringContaining("slept") } } })
  await dispose()
})

it("[D11] cli2120 sends keep_alive after 300 s, cli2137 never", async () => {
  const newer = await connect({ preset: { ...dialPresets.cli2120, pingMs: 0 } })
  newer.clock.advance(299_999)
  expect(newer.raw.lines.all).toEqual([])
  newer.clock.advance(1)
  expect(await newer.raw.lines.next()).toBe('{"type":"keep_alive"}')
  await newer.dispose()
  expect(dialPresets.cli2137.keepAliveMs).toBe(0)
})

it("[D13] half a line of a broken connection is never joined to the next one's bytes", async () => {
  const { connection, socket, reconnect, dispose } = await connect({ preset: "patient" })
  await sendFrame(socket, '{"n":1}\n{"half":')
  const iterator = connection.lines[Symbol.asyncIterator]()
  expect((await iterator.next()).value).toBe('{"n":1}')
  const second = await reconnect()
  await sendFrame(second.socket, '{"n":2}\n')
  expect((await iterator.next()).value).toBe('{"n":2}')
  await dispose()
})

it("[D13] the lines of one connection after another are one stream, and end only at the end", async () => {
  const { connection, socket, reconnect, dispose } = await connect({ preset: "patient" })
  await sendFrame(socket, '{"n":1}\n')
  const second = await reconnect()
  await sendFrame(second.socket, '{"n":2}\n')
  expect(await readLines(connection, 2)).toEqual(['{"n":1}', '{"n":2}'])
  await dispose()
})

it("[D14] close while connecting or waiting to dial again ends at once, and leaves no timer", async () => {
  const waiting = dial({ url: `ws://127.0.0.1:${await deadPort()}/` })
  await waiting.until("reconnecting")
  await waiting.connection.close("enough")
  expect(await waiting.connection.closed).toEqual({ by: "us", reason: "enough" })
  expect(waiting.clock.pending).toBe(0)
  const connecting = dial({ url: `ws://127.0.0.1:${await deadPort()}/` })
  await connecting.connection.close("never mind")
  expect(await connecting.connection.closed).toEqual({ by: "us", reason: "never mind" })
  expect(connecting.states.all.map((state) => state.phase)).toEqual(["connecting", "closed"])
})

it("[T11] an onState that throws at every change harms nothing: it is dialled, dialled again and closed", async () => {
  const states = new Inbox<DialState>()
  const onState = (state: DialState) => {
    states.put(state)
    throw new Error("a callback's own problem")
  }
  const server = await listenRaw()
  const { clock, connection } = dial({ url: server.url, onState })
  const socket = await server.sockets.next()
  await states.until(({ phase }) => phase === "connected")
  socket.terminate()
  await states.until(({ phase }) => phase === "reconnecting")
  clock.advance(1000)
  await server.sockets.next()
  await states.until(({ phase }) => phase === "connected")
  await connection.close("done")
  expect(await connection.closed).toEqual({ by: "us", reason: "done" })
  expect(states.all.at(-1)?.phase).toBe("closed")
  await server.close()
})

it("[W11] how far a reader of a dialled connection may be behind can be set too", async () => {
  const { connection, socket, dispose } = await connect({ highWaterChars: 1000 })
  let answered = false
  socket.on("pong", () => {
    answered = true
  })
  for (let n = 0; n < 100; n++) await sendFrame(socket, `${JSON.stringify({ n, fill: "x".repeat(10_000) })}\n`)
  socket.ping()
  await settled(() => socket.bufferedAmount)
  expect(answered).toBe(false)
  expect(await readLines(connection, 100)).toHaveLength(100)
  await dispose()
})

it("[D14] close sends 1000 and the reason", async () => {
  const { connection, raw, dispose } = await connect({ preset: "cli2137" })
  await connection.close("finished")
  expect(await raw.ended).toEqual({ code: 1000, reason: "finished" })
  await dispose()
})

it("[D14] dialled once, an abnormal end is transport/broken and no first connection is transport/unreachable", async () => {
  const { connection, socket, dispose } = await connect({ preset: "once" })
  socket.close(1012, "restart")
  expect(await connection.closed).toMatchObject({
    by: "peer",
    error: { code: "transport/broken", details: { code: 1012 } },
  })
  await dispose()
  const none = dial({ url: `ws://127.0.0.1:${await deadPort()}/`, preset: "once" })
  expect(await none.connection.closed).toMatchObject({ by: "us", error: { code: "transport/unreachable" } })
})

it("[D15] a server that speaks no WebSocket at all is only a failed dial", async () => {
  const server = await listenRaw()
  server.server.removeAllListeners("upgrade")
  server.server.on("upgrade", (_request, socket) => socket.end("rubbish\r\n\r\n"))
  const { connection, until } = dial({ url: server.url })
  expect(await until("reconnecting")).toMatchObject({ failure: { kind: "no-connection" } })
  await connection.close()
  await server.close()
})

it("[D15] a frame over the bound closes with 1009 and is dialled again", async () => {
  const { connection, socket, raw, until, dispose } = await connect({ maxPayloadBytes: 1000 })
  const fill = (target: WebSocket) => target.send(`{"fill":"${"x".repeat(2000)}"}\n`)
  fill(socket)
  expect((await raw.ended).code).toBe(1009)
  expect(await until("reconnecting")).toMatchObject({
    failure: { end: { by: "us", error: { details: { code: 1009 } } } },
  })
  await connection.close()
  await dispose()
})

it("[D17] a dropped socket ends without a goodbye, and is dialled again; a drop without one does nothing", async () => {
  const { connection, socket, server, clock, until, dispose } = await connect({ preset: "patient" })
  const code = new Promise<number>((resolve) => socket.once("close", resolve))
  connection.drop()
  connection.drop()
  expect(await code).toBe(1006)
  await until("reconnecting")
  connection.drop()
  clock.advance(30_000)
  const raw = rawSocket(await server.sockets.next())
  await until("connected")
  await connection.send(uuidLine(1))
  await raw.lines.until((line) => line === uuidLine(1))
  await dispose()
})
