import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { isSameToken, type UpgradeDecision } from "../../src/index.ts"
import { readAll, readLines } from "../../src/testing/index.ts"
import { acceptOne, FakeClock, Inbox, listenAccepting, rawUpgrade, sendFrame, settled } from "./support.ts"

async function dialAgainst(decision: UpgradeDecision | (() => never)) {
  const verify = typeof decision === "function" ? decision : () => decision
  const failures: unknown[] = []
  const server = await listenAccepting({ verify, onVerifyFailed: (error) => failures.push(error) })
  const client = new WebSocket(server.url)
  const outcome = new Inbox<string>()
  client.on("unexpected-response", (_request, response) => outcome.put(`http ${response.statusCode}`))
  client.on("open", () => outcome.put("open"))
  client.on("error", () => undefined)
  client.on("close", (code, reason) => outcome.put(`close ${code} ${reason.toString()}`.trim()))
  const dispose = async () => {
    client.terminate()
    await server.close()
  }
  return { server, client, outcome, failures, dispose }
}

it("[W1] a connection knows what the agent said when it dialled", async () => {
  const server = await listenAccepting({})
  const headers = { Authorization: "Bearer tok-1", "x-environment-runner-version": "9.9", "X-Last-Request-Id": "u-7" }
  const client = new WebSocket(`${server.url}/ws/cli/abc?x=1&y=%20z`, { headers })
  const connection = await server.accepted.next()
  if (connection === "none") throw new Error("refused")
  expect(connection.request).toMatchObject({
    path: "/ws/cli/abc",
    token: "tok-1",
    environmentRunnerVersion: "9.9",
    lastRequestId: "u-7",
    remoteAddress: "127.0.0.1",
  })
  expect(connection.request.query.get("y")).toBe(" z")
  await connection.close()
  client.terminate()
  await server.close()
})

it("[W1] what the agent did not say is undefined", async () => {
  const { connection, dispose } = await acceptOne()
  expect(connection.request.token).toBeUndefined()
  expect(connection.request.environmentRunnerVersion).toBeUndefined()
  expect(connection.request.lastRequestId).toBeUndefined()
  await dispose()
})

it("[W2] the upgrade's reply carries X-Last-Request-Id when the decision has one", async () => {
  const server = await listenAccepting({ verify: async () => ({ ok: true, lastRequestId: "u-42" }) })
  const client = new WebSocket(server.url)
  const header = await new Promise((resolve) => {
    client.on("upgrade", (response) => resolve(response.headers["x-last-request-id"]))
  })
  expect(header).toBe("u-42")
  const connection = await server.accepted.next()
  if (connection !== "none") await connection.close()
  await server.close()
})

it.each([401, 404, 503])("[W3] a decision may refuse the upgrade with HTTP %i", async (status) => {
  const { server, outcome, dispose } = await dialAgainst({ ok: false, how: "refuse-http", status })
  expect(await outcome.next()).toBe(`http ${status}`)
  expect(await server.accepted.next()).toBe("none")
  await dispose()
})

it("[W3] a decision may accept and close at once with 4001", async () => {
  const { server, outcome, dispose } = await dialAgainst({ ok: false, how: "close", code: 4001, reason: "bad token" })
  expect(await outcome.next()).toBe("open")
  expect(await outcome.next()).toBe("close 4001 bad token")
  expect(await server.accepted.next()).toBe("none")
  await dispose()
})

it("[W3] a decision may drop the connection without an answer, and a verify that throws does", async () => {
  const dropped = await dialAgainst({ ok: false, how: "drop" })
  expect(await dropped.outcome.next()).toBe("close 1006")
  await dropped.dispose()
  const threw = await dialAgainst(() => {
    throw new Error("the database is away")
  })
  expect(await threw.outcome.next()).toBe("close 1006")
  expect(await threw.server.accepted.next()).toBe("none")
  expect(String(threw.failures[0])).toContain("the database is away")
  await threw.dispose()
})

it("[T11] an onVerifyFailed that throws harms nothing: the connection is dropped", async () => {
  const server = await listenAccepting({
    verify: () => Promise.reject(new Error("the database is away")),
    onVerifyFailed: () => {
      throw new Error("and so is the log")
    },
  })
  const client = new WebSocket(server.url)
  client.on("error", () => undefined)
  expect(await server.accepted.next()).toBe("none")
  client.terminate()
  await server.close()
})

it("[W3] an upgrade that is none is answered with 400, and a peer that goes away meanwhile is no connection", async () => {
  let decide: (decision: UpgradeDecision) => void = () => undefined
  const asked = new Inbox<string>()
  const server = await listenAccepting({
    verify: ({ path }) =>
      path === "/slow"
        ? new Promise((resolve) => {
            decide = resolve
            asked.put(path)
          })
        : { ok: true },
  })
  const status = await new Promise((resolve) => {
    const request = httpRequest({ port: server.port, headers: { connection: "Upgrade", upgrade: "websocket" } })
    request.on("response", (response) => resolve(response.statusCode))
    request.end()
  })
  expect(status).toBe(400)
  expect(await server.accepted.next()).toBe("none")

  const client = connect(server.port, "127.0.0.1")
  client.write("GET /slow HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
  await asked.next()
  client.resetAndDestroy()
  await new Promise((resolve) => client.once("close", resolve))
  decide({ ok: true })
  expect(await server.accepted.next()).toBe("none")
  await server.close()
})

it("[W4] every frame ends in a newline, and lines of one tick share a frame in order", async () => {
  const { connection, raw, dispose } = await acceptOne()
  await Promise.all(['{"n":1}', '{"n":2}', '{"n":3}'].map((line) => connection.send(line)))
  expect(await raw.frames.next()).toEqual({ text: '{"n":1}\n{"n":2}\n{"n":3}\n', isBinary: false })
  await connection.send('{"n":4}')
  expect(await raw.frames.next()).toEqual({ text: '{"n":4}\n', isBinary: false })
  await dispose()
})

const AWKWARD = '{"text":"é€😀"}\r\n{"b":2}\n'
const AWKWARD_LINES = ['{"text":"é€😀"}', '{"b":2}']

it("[W5] lines cut between frames, and frames cut into fragments, at every byte", async () => {
  const { connection, client, dispose } = await acceptOne()
  const bytes = Buffer.from(AWKWARD)
  const expected: string[] = []
  for (const how of ["frames", "fragments"]) {
    for (let cut = 1; cut < bytes.length; cut++) {
      expected.push(...AWKWARD_LINES)
      await sendFrame(client, bytes.subarray(0, cut), { binary: false, fin: how === "frames" })
      await sendFrame(client, bytes.subarray(cut), { binary: false, fin: true })
    }
  }
  expect(await readLines(connection, expected.length)).toEqual(expected)
  await dispose()
})

it("[W5] raw bytes of frames arrive one by one", async () => {
  const server = await listenAccepting({})
  const socket = await rawUpgrade(server.port)
  const connection = await server.accepted.next()
  if (connection === "none") throw new Error("refused")
  for (const byte of maskedTextFrame(AWKWARD)) {
    await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => resolve()))
  }
  expect(await readLines(connection, 2)).toEqual(AWKWARD_LINES)
  socket.destroy()
  await connection.closed
  await server.close()
})

it("[W5] several lines in a frame, a missing newline, binary frames, blank lines and rubbish are all read", async () => {
  const { connection, client, dispose } = await acceptOne()
  await sendFrame(client, '{"n":1}\n\n\r\n{"n":2}\n{"n":3}')
  await sendFrame(client, '{"n":4}')
  await sendFrame(client, Buffer.from('{"n":5}\n'), { binary: true })
  await sendFrame(client, "")
  await sendFrame(client, Buffer.from([0xff, 0xfe, 0x0a]), { binary: false })
  await sendFrame(client, '{"half":')
  await sendFrame(client, "6}\n")
  expect(await readLines(connection, 7)).toEqual([
    '{"n":1}',
    '{"n":2}',
    '{"n":3}',
    '{"n":4}',
    '{"n":5}',
    "\ufffd\ufffd",
    '{"half":6}',
  ])
  await dispose()
})

it("[W5] half a line is a line when the peer ended in good order, and none when the connection broke", async () => {
  const orderly = await acceptOne()
  await sendFrame(orderly.client, '{"a":')
  await sendFrame(orderly.client, "1}")
  orderly.client.close(1000)
  expect(await readAll(orderly.connection)).toEqual(['{"a":1}'])
  await orderly.dispose()
  const broken = await acceptOne()
  await sendFrame(broken.client, '{"n":1}\n{"half":')
  broken.client.terminate()
  expect(await readAll(broken.connection)).toEqual(['{"n":1}'])
  await broken.dispose()
})

it("[W6] a frame over the bound closes with 1009, and the end says why", async () => {
  const { connection, client, raw, dispose } = await acceptOne({ maxPayloadBytes: 1000 })
  client.send(`{"fill":"${"x".repeat(2000)}"}\n`)
  expect((await raw.ended).code).toBe(1009)
  const closed = await connection.closed
  expect(closed).toMatchObject({ by: "us", error: { code: "transport/broken", details: { code: 1009 } } })
  expect(closed.reason).toContain("1000 bytes")
  expect(await readAll(connection)).toEqual([])
  await dispose()
})

it("[W6] bytes that are no frame end the connection, not the process", async () => {
  const server = await listenAccepting({})
  const socket = await rawUpgrade(server.port)
  const connection = await server.accepted.next()
  if (connection === "none") throw new Error("refused")
  socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]))
  expect(await connection.closed).toMatchObject({ by: "us", error: { code: "transport/broken" } })
  socket.destroy()
  await server.close()
})

it.each([1000, 1001])("[W7] close code %i is an orderly end", async (code) => {
  const { connection, client, dispose } = await acceptOne()
  client.close(code, "bye")
  const closed = await connection.closed
  expect(closed).toEqual({ by: "peer", reason: "bye" })
  await dispose()
})

it("[W7] a close frame without a code is an orderly end", async () => {
  const { connection, client, dispose } = await acceptOne()
  client.close()
  expect(await connection.closed).toMatchObject({ by: "peer" })
  expect((await connection.closed).error).toBeUndefined()
  await dispose()
})

it.each([1011, 1012, 4001, 4003])("[W7] close code %i is transport/broken with code and reason", async (code) => {
  const { connection, client, dispose } = await acceptOne()
  client.close(code, "why")
  expect(await connection.closed).toMatchObject({
    by: "peer",
    reason: "why",
    error: { code: "transport/broken", details: { code, reason: "why" } },
  })
  await dispose()
})

it("[W7] a peer that vanishes without a close frame is transport/broken", async () => {
  const { connection, client, dispose } = await acceptOne()
  client.terminate()
  expect(await connection.closed).toMatchObject({
    by: "peer",
    error: { code: "transport/broken", details: { code: 1006 } },
  })
  await dispose()
})

it("[W8] a half-open peer that answers no ping is noticed", async () => {
  const server = await listenAccepting({ pingMs: 20 })
  const socket = await rawUpgrade(server.port)
  socket.resume()
  const connection = await server.accepted.next()
  if (connection === "none") throw new Error("refused")
  const closed = await connection.closed
  expect(closed).toMatchObject({ by: "peer", error: { code: "transport/broken" } })
  expect(closed.reason).toContain("no pong")
  socket.destroy()
  await server.close()
})

it("[W8] a peer that answers pings lives", async () => {
  const clock = new FakeClock()
  const { connection, client, dispose } = await acceptOne({ pingMs: 1000, clock })
  const pings = new Inbox<true>()
  client.on("ping", () => pings.put(true))
  for (let beat = 0; beat < 5; beat++) {
    clock.advance(1000)
    await pings.next()
    // Our pong was sent before this ping of ours, so it has been seen when the answer comes.
    const pong = new Promise((resolve) => client.once("pong", resolve))
    client.ping()
    await pong
  }
  await connection.close("alive")
  expect((await connection.closed).by).toBe("us")
  await dispose()
})

it("[W8] a peer that we do not read cannot be seen to answer, and is not taken for dead", async () => {
  const clock = new FakeClock()
  const { connection, client, dispose } = await acceptOne({ pingMs: 1000, clock })
  const total = 400
  for (let n = 0; n < total; n++) client.send(`${JSON.stringify({ n, fill: "x".repeat(64 * 1024) })}\n`)
  await settled(() => client.bufferedAmount)
  for (let beat = 0; beat < 5; beat++) clock.advance(1000)
  expect(await readLines(connection, total)).toHaveLength(total)
  await connection.close("alive")
  expect((await connection.closed).by).toBe("us")
  await dispose()
})

it("[W9] closeWith sends its code, after every line whose send has resolved", async () => {
  const { connection, raw, dispose } = await acceptOne()
  for (let n = 0; n < 100; n++) await connection.send(`{"n":${n}}`)
  await connection.closeWith(1012, "the hub restarts")
  expect(await raw.ended).toEqual({ code: 1012, reason: "the hub restarts" })
  expect(raw.lines.all).toHaveLength(100)
  expect(await connection.closed).toEqual({ by: "us", reason: "the hub restarts" })
  await dispose()
})

it("[W9] a reason too long for a close frame is cut at a character, and an impossible code is refused", async () => {
  const { connection, raw, dispose } = await acceptOne()
  await expect(connection.closeWith(1006, "no")).rejects.toThrow("1006")
  await connection.closeWith(4001, "é".repeat(100))
  expect(await raw.ended).toEqual({ code: 4001, reason: "é".repeat(61) })
  await dispose()
})

it("[W9] a peer that does not answer our close frame is cut off", async () => {
  const server = await listenAccepting({ closeTimeoutMs: 50 })
  const socket = await rawUpgrade(server.port)
  const connection = await server.accepted.next()
  if (connection === "none") throw new Error("refused")
  await connection.close("enough")
  expect(await connection.closed).toEqual({ by: "us", reason: "enough" })
  socket.destroy()
  await server.close()
})

it("[W9] what the peer wrote before it saw our close frame is still read", async () => {
  const { connection, client, dispose } = await acceptOne()
  client.pause()
  const closing = connection.close("enough")
  await sendFrame(client, '{"last":1}\n')
  client.resume()
  expect(await readAll(connection)).toEqual(['{"last":1}'])
  await closing
  await dispose()
})

it("[W10] a keep_alive line is sent on the timer, and no timer is left after the end", async () => {
  const clock = new FakeClock()
  const { connection, raw, dispose } = await acceptOne({ keepAliveMs: 300_000, pingMs: 0, clock })
  clock.advance(300_000)
  expect(await raw.lines.next()).toBe('{"type":"keep_alive"}')
  clock.advance(300_000)
  expect(await raw.lines.next()).toBe('{"type":"keep_alive"}')
  await connection.close()
  expect(clock.pending).toBe(0)
  await dispose()
})

it("[W11] a reader that does not read stops the peer, and reading on loses nothing", async () => {
  const { connection, client, dispose } = await acceptOne()
  const total = 400
  for (let n = 0; n < total; n++) client.send(`${JSON.stringify({ n, fill: "x".repeat(64 * 1024) })}\n`)
  // Most of it stays on the peer's side for as long as nobody reads.
  await settled(() => client.bufferedAmount)
  expect(client.bufferedAmount).toBeGreaterThan(5_000_000)
  const lines = await readLines(connection, total)
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: total }, (_, n) => n))
  await dispose()
})

it("[W11] how far a reader may be behind can be set", async () => {
  const { connection, client, dispose } = await acceptOne({ highWaterChars: 1000 })
  for (let n = 0; n < 100; n++) await sendFrame(client, `${JSON.stringify({ n, fill: "x".repeat(10_000) })}\n`)
  // Read only to the bound: the pong behind all this is not seen, although the lines would fit into the default.
  let answered = false
  client.on("pong", () => {
    answered = true
  })
  client.ping()
  await settled(() => client.bufferedAmount)
  expect(answered).toBe(false)
  expect(await readLines(connection, 100)).toHaveLength(100)
  await dispose()
})

it("[W13] tokens are compared as a whole, and none equals none of them", () => {
  expect(isSameToken("abc", "abc")).toBe(true)
  expect(isSameToken("abc", "abd")).toBe(false)
  expect(isSameToken("abc", "abcd")).toBe(false)
  expect(isSameToken(undefined, "abc")).toBe(false)
  expect(isSameToken("", undefined)).toBe(false)
  expect(isSameToken(undefined, undefined)).toBe(false)
})

function maskedTextFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const mask = Buffer.from([1, 2, 3, 4])
  const masked = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length]), mask, masked])
}
