import type { ServerResponse } from "node:http"
import { connect } from "node:net"
import { expect, it, vi } from "vitest"
import { WebSocket } from "ws"
import { createHybridReceiver, type HybridConnection } from "../../src/index.ts"
import { readLines } from "../../src/testing/index.ts"
import { FakeClock, Inbox, listenAccepting, rawSocket, sendFrame } from "../websocket/support.ts"
import { post, receiveOne } from "./support.ts"

it("[H7] posted events and the socket's lines are one stream, and each POST is answered with 200", async () => {
  const { server, connection, client, dispose } = await receiveOne()
  const iterator = connection.lines[Symbol.asyncIterator]()
  expect((await post(server.port, { body: '{"events":[{"n":1},{"n":2, "t":"é"}]}' })).status).toBe(200)
  expect((await iterator.next()).value).toBe('{"n":1}')
  expect((await iterator.next()).value).toBe('{"n":2,"t":"é"}')
  await sendFrame(client, '{"n":3}\n')
  expect((await iterator.next()).value).toBe('{"n":3}')
  expect((await post(server.port, { body: '{"events":[]}' })).status).toBe(200)
  await dispose()
})

it("[H7] unknown fields and the order of keys survive, and newlines inside an event do not make two lines", async () => {
  const { server, connection, dispose } = await receiveOne()
  const body = '{"more":1,"events":[{"z":1,\n"type":"odd",\n"__proto__":{"a":[]},"text":"a\\nb"}]}'
  await post(server.port, { body })
  expect(await readLines(connection, 1)).toEqual(['{"z":1,"type":"odd","__proto__":{"a":[]},"text":"a\\nb"}'])
  await dispose()
})

it("[H8] an answer never overtakes the reply to the POST that carried its question", async () => {
  const { server, connection, raw, dispose } = await receiveOne()
  const order: string[] = []
  const answering = (async () => {
    for await (const line of connection.lines) await connection.send(`{"answer":${JSON.parse(line).n}}`)
  })()
  for (let n = 0; n < 50; n++) {
    const posted = post(server.port, { body: `{"events":[{"n":${n}}]}` }).then(() => order.push(`reply ${n}`))
    const answered = raw.lines.next().then((line) => order.push(`answer ${JSON.parse(line).answer}`))
    await Promise.all([posted, answered])
  }
  expect(order).toEqual(Array.from({ length: 50 }, (_, n) => [`reply ${n}`, `answer ${n}`]).flat())
  await connection.close()
  await answering
  await dispose()
})

it("[H8] a line waits only for POSTs whose events were out before it, and keeps its place", async () => {
  const { server, connection, client, raw, responses, dispose } = await receiveOne({ answerGraceMs: 0 })
  const iterator = connection.lines[Symbol.asyncIterator]()
  // Holds back the reply, as a slow network would.
  const held = new Inbox<() => void>()
  server.server.prependListener("request", (_request, response: ServerResponse) => {
    const end = response.end.bind(response)
    vi.spyOn(response, "end").mockImplementation((body: unknown) => {
      held.put(() => end(body))
      return response
    })
  })
  const first = post(server.port, { body: '{"events":[{"n":1}]}' })
  expect((await iterator.next()).value).toBe('{"n":1}')
  const release = await held.next()
  const sent: string[] = []
  const sends = ["a", "b"].map((name) => connection.send(`{"to":"${name}"}`).then(() => sent.push(name)))
  // Everything that the client sent after the POST has been seen when this line is out.
  await sendFrame(client, '{"n":2}\n')
  expect((await iterator.next()).value).toBe('{"n":2}')
  expect(sent).toEqual([])
  expect(raw.lines.all).toEqual([])
  release()
  await first
  await Promise.all(sends)
  expect(sent).toEqual(["a", "b"])
  expect([await raw.lines.next(), await raw.lines.next()]).toEqual(['{"to":"a"}', '{"to":"b"}'])
  expect(responses.all).toHaveLength(1)
  await dispose()
})

it("[H8] a POST whose client vanished holds nothing back", async () => {
  const { server, connection, raw, dispose } = await receiveOne()
  const socket = connect(server.port, "127.0.0.1")
  const body = '{"events":[{"n":1}]}'
  socket.write(
    `POST /v1/session/abc/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  expect(await readLines(connection, 1)).toEqual(['{"n":1}'])
  socket.resetAndDestroy()
  await connection.send('{"answer":1}')
  expect(await raw.lines.next()).toBe('{"answer":1}')
  await dispose()
})

it("[H8] lines that wait for a POST when the connection ends are refused, all of them", async () => {
  const { server, connection, dispose } = await receiveOne({ answerGraceMs: 60_000 })
  await post(server.port, { body: '{"events":[{"n":1}]}' })
  const sends = [1, 2, 3].map((n) => connection.send(`{"n":${n}}`).catch((error: { code: string }) => error.code))
  await connection.close("over")
  expect(await Promise.all(sends)).toEqual(Array.from({ length: 3 }, () => "transport/closed"))
  await dispose()
})

it.each([
  ["not JSON", "{oops", "not JSON"],
  ["no events", "{}", "events"],
  ["events that are no list", '{"events":{}}', "events"],
  ["an event that is no object", '{"events":[{"n":1},7]}', "event 2"],
  ["null", "null", "events"],
  ["nothing", "", "not JSON"],
])("[H9] a body with %s is answered with 400, and nothing of it is handed out", async (_name, body, says) => {
  const { server, connection, client, dispose } = await receiveOne()
  const reply = await post(server.port, { body })
  expect(reply.status).toBe(400)
  expect(JSON.parse(reply.body).error).toContain(says)
  await sendFrame(client, '{"next":1}\n')
  expect(await readLines(connection, 1)).toEqual(['{"next":1}'])
  await dispose()
})

it("[H9] a body over the bound is answered with 413, said to be long or not, and the connection goes on", async () => {
  const { server, connection, dispose } = await receiveOne({ maxBodyBytes: 1000 })
  const body = `{"events":[{"fill":"${"x".repeat(100_000)}"}]}`
  expect((await post(server.port, { body })).status).toBe(413)
  const chunked = connect(server.port, "127.0.0.1")
  const answer = new Promise<string>((resolve) => chunked.once("data", (chunk: Buffer) => resolve(chunk.toString())))
  chunked.write(
    "POST /v1/session/abc/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nTransfer-Encoding: chunked\r\n\r\n" +
      `${(2000).toString(16)}\r\n${"x".repeat(2000)}\r\n`,
  )
  expect(await answer).toContain(" 413 ")
  chunked.destroy()
  expect((await post(server.port, { body: '{"events":[{"n":1}]}' })).status).toBe(200)
  expect(await readLines(connection, 1)).toEqual(['{"n":1}'])
  await dispose()
})

it("[H9] what comes of a body after its refusal is not kept, and a client that does not stop is cut off", async () => {
  const { server, dispose } = await receiveOne({ maxBodyBytes: 1000, clock: new FakeClock() })
  const taken = new Inbox<number>()
  server.server.on("connection", (socket) => socket.on("close", () => taken.put(socket.bytesRead)))
  const block = Buffer.alloc(1024 * 1024, "x")
  for (const [token, status] of [
    ["secret", " 413 "],
    ["wrong", " 401 "],
  ] as const) {
    const client = connect(server.port, "127.0.0.1")
    client.on("error", () => undefined)
    const answer = new Promise<string>((resolve) => client.once("data", (chunk: Buffer) => resolve(chunk.toString())))
    client.write(
      `POST /v1/session/abc/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1000000000\r\n\r\n`,
    )
    const more = (error?: Error | null) => {
      if (!error) client.write(block, more)
    }
    more()
    expect(await answer).toContain(status)
    const takenBytes = await taken.next()
    expect(takenBytes).toBeGreaterThan(64 * 1024 * 1024)
    expect(takenBytes).toBeLessThan(80 * 1024 * 1024)
    client.destroy()
  }
  await dispose()
})

it("[H9] a client that neither ends nor goes on with a refused body is cut off after a while", async () => {
  const clock = new FakeClock()
  const { server, dispose } = await receiveOne({ clock })
  const client = connect(server.port, "127.0.0.1")
  const cutOff = new Promise((resolve) => client.once("close", resolve))
  const answer = new Promise<string>((resolve) => client.once("data", (chunk: Buffer) => resolve(chunk.toString())))
  client.write("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf")
  expect(await answer).toContain(" 503 ")
  clock.advance(60_000)
  await cutOff
  await dispose()
})

it("[H9] a wrong token is 401, another method 405, no such agent 503, and one that is gone 503", async () => {
  const { server, connection, dispose } = await receiveOne()
  const body = '{"events":[{"n":1}]}'
  expect((await post(server.port, { body, token: "wrong" })).status).toBe(401)
  expect((await post(server.port, { body, method: "PUT" })).status).toBe(405)
  expect((await post(server.port, { body, path: "/v1/session/other/events" })).status).toBe(503)
  expect((await post(server.port, { body, path: "/v1/session/abc/events?q=1" })).status).toBe(503)
  await connection.close()
  expect((await post(server.port, { body })).status).toBe(503)
  await dispose()
})

it("[H9] a POST that breaks off in the middle is nothing", async () => {
  const { server, connection, client, dispose } = await receiveOne()
  const socket = connect(server.port, "127.0.0.1")
  const arrived = new Promise((resolve) => server.server.once("request", resolve))
  socket.write(
    'POST /v1/session/abc/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nContent-Length: 100\r\n\r\n{"events":[',
  )
  await arrived
  socket.resetAndDestroy()
  await sendFrame(client, '{"next":1}\n')
  expect(await readLines(connection, 1)).toEqual(['{"next":1}'])
  await dispose()
})

it("[H10] a reader that does not read holds back the POST, before its events are out; too many at once are 429", async () => {
  const { server, connection, dispose } = await receiveOne()
  const fill = `{"events":[{"fill":"${"x".repeat(1_100_000)}"}]}`
  expect((await post(server.port, { body: fill })).status).toBe(200)
  const replies = new Inbox<number>()
  for (let n = 0; n < 3; n++) {
    void post(server.port, { body: `{"events":[{"n":${n}}]}` }).then(({ status }) => replies.put(status))
  }
  expect(await replies.next()).toBe(429)
  expect(replies.all).toEqual([429])
  // What is not handed out yet holds nothing back: a reader that waits for its own send cannot lock itself out.
  await connection.send('{"free":1}')
  const lines = await readLines(connection, 3)
  expect(lines.slice(1).map((line) => Object.keys(JSON.parse(line)))).toEqual([["n"], ["n"]])
  expect([await replies.next(), await replies.next()]).toEqual([200, 200])
  await dispose()
})

it("[H11] of several connections at one path the newest with the POST's token gets its events", async () => {
  const receiver = createHybridReceiver()
  const server = await listenAccepting({}, (request, response) => void receiver.receiveEvents(request, response))
  const open = async (token: string): Promise<HybridConnection> => {
    const client = new WebSocket(`${server.url}/`, { headers: { authorization: `Bearer ${token}` } })
    await rawSocket(client).opened
    const accepted = await server.accepted.next()
    if (accepted === "none") throw new Error("refused")
    return receiver.attach(accepted)
  }
  const old = await open("a")
  const other = await open("b")
  const newest = await open("a")
  for (const [token, n] of [
    ["a", 1],
    ["b", 2],
  ] as const) {
    expect((await post(server.port, { path: "/events", token, body: `{"events":[{"n":${n}}]}` })).status).toBe(200)
  }
  expect(await readLines(newest, 1)).toEqual(['{"n":1}'])
  expect(await readLines(other, 1)).toEqual(['{"n":2}'])
  // Its own socket may be on its way back: it must not give its events up.
  expect((await post(server.port, { path: "/events", token: "c", body: '{"events":[{"n":9}]}' })).status).toBe(503)
  await newest.close()
  await post(server.port, { path: "/events", token: "a", body: '{"events":[{"n":3}]}' })
  expect(await readLines(old, 1)).toEqual(['{"n":3}'])
  await Promise.all([old.close(), other.close()])
  await server.close()
})
