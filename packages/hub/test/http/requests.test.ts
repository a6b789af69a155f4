import type { EventQuery } from "@signalbox/protocol/hub-api"
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { HubError } from "../../src/errors.ts"
import { eventPageJson } from "../../src/http/reply.ts"
import { readPage } from "../../src/session/event-page.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"
import { ODD_LINE, ask as theAsk } from "./fake-core.ts"
import { errorOf, type HttpSetup, setUpHttp } from "./http-setup.ts"

async function pageText(log: MemoryEventLog, id: string, query: EventQuery, maxBytes?: number): Promise<string> {
  let text = ""
  for await (const piece of eventPageJson(await readPage(log, id, query, maxBytes))) text += piece
  return text
}

describe("requests", () => {
  let hub: HttpSetup
  beforeAll(async () => {
    hub = await setUpHttp()
  })
  beforeEach(() => {
    hub.core.calls.length = 0
  })

  const post = async (path: string, body: unknown) =>
    errorOf(await hub.ask(path, { as: "admin", method: "POST", body }))

  it("[HA22] [HA23] an unknown route is 404 in JSON, a wrong method 405 with Allow", async () => {
    expect(await errorOf(await hub.ask("/nowhere"))).toMatchObject({ status: 404, code: "route/unknown" })
    expect(await errorOf(await hub.ask("/api/sessions/", { as: "viewer" }))).toMatchObject({ status: 404 })
    const wrong = await hub.ask("/api/sessions/s1", { as: "admin", method: "PUT", body: {} })
    expect([wrong.headers.get("allow"), (await errorOf(wrong)).code]).toEqual([
      "GET, HEAD, PATCH, DELETE",
      "route/method",
    ])
    expect((await hub.ask("/healthz", { method: "POST" })).headers.get("allow")).toBe("GET, HEAD")
    const head = await hub.ask("/api/sessions/s1", { as: "viewer", method: "HEAD" })
    expect([head.status, await head.text()]).toEqual([200, ""])
  })

  it("[HA24] a body over its bound is 413, announced or not", async () => {
    const path = "/api/asks/a1/extend"
    const long = { expiresAt: "x".repeat(70_000) }
    expect(await post(path, long)).toMatchObject({ status: 413, code: "request/too-large" })
    let sent = 0
    const chunk = new TextEncoder().encode("x".repeat(1_000))
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1_000
        controller.enqueue(chunk)
      },
    })
    expect(await post(path, endless)).toMatchObject({ status: 413 })
    expect(sent).toBeLessThan(70_000)
    const liar = await hub.ask(path, {
      as: "admin",
      method: "POST",
      body: "{}",
      headers: { "content-length": "99999" },
    })
    expect(liar.status).toBe(413)
    expect(hub.core.calls).toEqual([])
  })

  it.each([
    ['{"content":}', "line 1, column 12: expected value"],
    ['{"content":"a",}', "line 1, column 16: expected name"],
    ['{\n  "content": "a"\n  "b": 1}', "line 3, column 3: expected , or }"],
    ['{"content":"a"', "line 1, column 15: expected , or }"],
    ["[1 2]", "line 1, column 4: expected , or ]"],
    ['{"a" 1}', "line 1, column 6: expected :"],
    ['{"content":"a\nb"}', "line 1, column 12: expected value"],
    ['{"content":"\\x"}', "line 1, column 12: expected value"],
    ["{} {}", "line 1, column 4: expected the end"],
    ["[01]", "line 1, column 3: expected , or ]"],
    ["NaN", "line 1, column 1: expected value"],
    ["   ", "line 1, column 4: expected value"],
  ])("[HA25] %j is told where it stops being JSON", async (body, where) => {
    expect(await post("/api/sessions/s1/messages", body)).toMatchObject({
      status: 400,
      code: "request/invalid",
      message: expect.stringContaining(where),
    })
  })

  it("[HA25] a body that is missing, not UTF-8, nested without end, or breaks off is refused", async () => {
    const path = "/api/sessions/s1/messages"
    expect(await post(path, undefined)).toMatchObject({ status: 400, message: expect.stringContaining("missing") })
    expect(await post(path, new Uint8Array([0x22, 0xff, 0x22]))).toMatchObject({
      message: expect.stringContaining("UTF-8"),
    })
    const deep = `{"content":${"[".repeat(201)}${"]".repeat(201)}}`
    expect(await post(path, deep)).toMatchObject({ status: 400, message: expect.stringContaining("nested") })
    expect(await post("/api/policy", "[".repeat(999_999))).toMatchObject({ status: 405 })
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) })
    expect(await post(path, broken)).toMatchObject({ status: 400, message: expect.stringContaining("ended early") })
    expect(hub.core.calls).toEqual([])
  })

  it("[HA25] a megabyte of hostile text is told where it goes wrong too", async () => {
    const put = async (body: string) => errorOf(await hub.ask("/api/policy", { as: "admin", method: "PUT", body }))
    expect(await put(`{"a":"${"\\u0041".repeat(150_000)}`)).toMatchObject({
      message: expect.stringContaining("column 6"),
    })
    expect(await put(`["${"x".repeat(900_000)}",]`)).toMatchObject({
      message: expect.stringContaining("column 900005"),
    })
  })

  it.each([
    ["/api/sessions", { titel: "x" }, 'body: Unrecognized key: "titel"'],
    ["/api/sessions", { title: 1 }, "body.title: "],
    ["/api/sessions", { agent: "gpt" }, 'body.agent: expected "claude"'],
    ["/api/sessions", { agent: { command: [] } }, "body.agent.command: "],
    ["/api/sessions", { env: { "A=B": "x" } }, "body.env.A=B: "],
    ["/api/sessions", { env: { A: "x\0y" } }, "body.env.A: must not hold a NUL"],
    ["/api/sessions", [], "body: "],
    ["/api/sessions", "null", "body: "],
    ["/api/sessions/s1/messages", { content: "" }, "body.content: "],
    ["/api/sessions/s1/messages", { content: 5 }, "body.content: expected a text"],
    ["/api/sessions/s1/messages", { content: ["x"] }, "body.content"],
    ["/api/sessions/s1/messages", { content: "x", uuid: "nope" }, "body.uuid: expected a uuid"],
    ["/api/sessions/s1/messages", { content: "x", priority: "soon" }, "body.priority: "],
    ["/api/sessions/s1/control", { request: {} }, "body.request.subtype: "],
    ["/api/sessions/s1/control", { request: { subtype: "x" }, timeoutMs: 0 }, "body.timeoutMs: "],
    ["/api/sessions/s1/interrupt", { now: true }, "body: Unrecognized key"],
    ["/api/asks/a1/answer", { behavior: "maybe" }, 'body: expected {"behavior":"allow"}'],
    ["/api/asks/a1/answer", { behavior: "deny", mesage: "x" }, 'body: Unrecognized key: "mesage"'],
    ["/api/asks/a1/answer", { behavior: "allow", updatedInput: 1 }, "body.updatedInput: "],
    ["/api/asks/a1/answer", { answerId: "x" }, 'body: expected {"behavior":"allow"}'],
    ["/api/login", { token: "x", code: "y" }, "body: "],
  ])("[HA26] POST %s %j names what is wrong", async (path, body, message) => {
    expect(await post(path, body)).toMatchObject({
      status: 400,
      code: "request/invalid",
      message: expect.stringContaining(message),
    })
    expect(hub.core.calls).toEqual([])
  })

  it.each([
    ["/api/sessions?limit=0", "query.limit: expected a whole number from 1 to 500"],
    ["/api/sessions?limit=many", "query.limit: expected a whole number"],
    ["/api/sessions?limit=1.5", "query.limit: expected a whole number"],
    ["/api/sessions?limit=1&limit=2", "query.limit: given more than once"],
    ["/api/sessions?state=dead", "query.state: "],
    ["/api/asks?sesion=s1", 'query: Unrecognized key: "sesion"'],
    ["/api/sessions/s1/events?after=1&before=2", "give one of after, before and around"],
    ["/api/sessions/s1/events?after=-1", "query.after: "],
    ["/api/sessions/s1/events?after=", "query.after: "],
    ["/api/search", "query.q: say what to look for"],
  ])("[HA26] GET %s names what is wrong", async (path, message) => {
    const error = await errorOf(await hub.ask(path, { as: "viewer" }))
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining(message) })
    expect(hub.core.calls).toEqual([])
  })

  it.each([
    ["", { after: 0, limit: 500 }],
    ["?after=7&limit=5", { after: 7, limit: 5 }],
    ["?before=9", { before: 9, limit: 500 }],
    ["?around=3", { around: 3, limit: 500 }],
  ])("[HA26] events%s reach the core as they should", async (query, expected) => {
    await hub.ask(`/api/sessions/a%2Fb/events${query}`, { as: "viewer" })
    expect(hub.core.calls).toEqual([{ method: "readEvents", args: ["a/b", expected] }])
  })

  it.each([
    ["", { newestFirst: false, limit: 1_000 }],
    ["?order=newest&limit=20&session=s1", { session: "s1", newestFirst: true, limit: 20 }],
  ])("[AK17] asks%s reach the core as they should", async (query, expected) => {
    await hub.ask(`/api/asks${query}`, { as: "viewer" })
    expect(hub.core.calls).toEqual([{ method: "listAsks", args: [expected] }])
  })

  it("[HA27] an event's message is the line as it was received", async () => {
    const text = await (await hub.ask("/api/sessions/s1/events", { as: "viewer" })).text()
    expect(text).toContain(`"from":"agent","message":${ODD_LINE}}`)
    expect(JSON.parse(text)).toMatchObject({
      firstSeq: 1,
      lastSeq: 2,
      more: false,
      events: [{ by: 'a "b"' }, { seq: 2 }],
    })
  })

  it("[HA28] a page of giant lines is cut, without a gap, from where the caller reads on", async () => {
    const log = new MemoryEventLog()
    const line = JSON.stringify({ text: "x".repeat(88) })
    await log.append(
      "s",
      Array.from({ length: 10 }, () => ({ at: 0, from: "agent", line })),
    )
    const seqs = async (query: object, maxBytes: number) => {
      const { events, more } = JSON.parse(await pageText(log, "s", { limit: 10, ...query }, maxBytes))
      return [(events as { seq: number }[]).map(({ seq }) => seq).join(" "), more]
    }
    expect(await seqs({ after: 0 }, 350)).toEqual(["1 2 3", true])
    expect(await seqs({ before: 11 }, 350)).toEqual(["8 9 10", true])
    expect(await seqs({ around: 5 }, 450)).toEqual(["3 4 5 6", true])
    expect(await seqs({ around: 1, limit: 4 }, 5_000)).toEqual(["1 2 3 4", true])
    expect(await seqs({ around: 10, limit: 4 }, 5_000)).toEqual(["9 10", false])
    expect(await seqs({ after: 0 }, 10)).toEqual(["1", true])
    expect(await seqs({ before: 11 }, 10)).toEqual(["10", true])
    expect(await seqs({ after: 0 }, 5_000)).toEqual(["1 2 3 4 5 6 7 8 9 10", false])
    expect(await pageText(log, "none", { before: 1, limit: 1 })).toBe(
      '{"events":[],"firstSeq":0,"lastSeq":0,"more":false}',
    )
  })

  it("[HA28] a page is read from the log in pieces, each when it is asked for, and is whole", async () => {
    const log = new MemoryEventLog()
    const line = JSON.stringify({ text: "x".repeat(100_000) })
    await log.append(
      "s",
      Array.from({ length: 20 }, () => ({ at: 0, from: "agent", line })),
    )
    const read = vi.spyOn(log, "read")
    const page = await readPage(log, "s", { after: 0, limit: 20 })
    read.mockClear()
    const text = eventPageJson(page)
    await text.next()
    expect(read).toHaveBeenCalledTimes(1)
    expect(page.largestPieceBytes).toBeLessThan(256 * 1024)
    await text.return(undefined)
    const { events } = JSON.parse(await pageText(log, "s", { after: 0, limit: 20 }))
    expect(events).toHaveLength(20)
  })

  it("[HA31] lists are under their name, with more or a cursor", async () => {
    const list = async (path: string) => Object.keys((await (await hub.ask(path, { as: "admin" })).json()) as object)
    expect(await list("/api/sessions")).toEqual(["sessions", "cursor", "read"])
    for (const name of ["asks", "grants", "logins", "runners", "runs", "tokens"])
      expect(await list(`/api/${name}`)).toEqual([name, "more"])
    const audit = await (await hub.ask("/api/audit?after=3&limit=2", { as: "viewer" })).json()
    expect(audit).toMatchObject({ records: [{ id: 4 }, { id: 5 }], more: true })
  })
})

describe("replies", () => {
  it("[AK18] more time is asked for with the end that was seen, or with no body at all", async () => {
    const seen: unknown[] = []
    const refused = new HubError("ask/not-extendable", "it does not expire", { details: { ask: theAsk } })
    const extend = (_id: string, how: { expiresAt?: string }) => {
      seen.push(how.expiresAt)
      return how.expiresAt === undefined ? Promise.reject(refused) : Promise.resolve(theAsk)
    }
    const hub = await setUpHttp({ replies: { asks: { extend, answer: () => Promise.reject(refused) } } })
    const post = (body?: unknown) =>
      hub.ask("/api/asks/a1/extend", { as: "operator", method: "POST", ...(body === undefined ? {} : { body }) })
    expect((await post({ expiresAt: "2031-01-01T00:00:00.000Z" })).status).toBe(200)
    expect((await post({ byMs: 5 })).status).toBe(400)
    const reply = await post()
    expect(reply.status).toBe(409)
    expect(await reply.text()).toMatch(/^(?!.*secret-).*"code":"ask\/not-extendable"/)
    expect(seen).toEqual(["2031-01-01T00:00:00.000Z", undefined])
  })

  it("[HA29] an ask is told without what only the hub needs, inside of errors too", async () => {
    const settled = new HubError("ask/settled", "Ada was first", { details: { ask: { ...theAsk, state: "denied" } } })
    const hub = await setUpHttp({
      replies: { asks: { answer: () => Promise.reject(settled), extend: () => Promise.reject(settled) } },
    })
    const answer = await hub.ask("/api/asks/a1/answer", { as: "operator", method: "POST", body: { behavior: "allow" } })
    expect(answer.status).toBe(409)
    const texts = [
      answer,
      await hub.ask("/api/asks", { as: "viewer" }),
      await hub.ask("/api/asks/a1", { as: "viewer" }),
    ]
    for (const reply of texts) expect(await reply.text()).toMatch(/^(?!.*secret-).*"requestId":"r1"/)
  })

  it("[HA29] what an answer says of itself does not become part of it", async () => {
    const hub = await setUpHttp()
    const body = { action: "accept", content: { a: 1 }, inputHash: "h", answerId: "i" }
    await hub.ask("/api/asks/a1/answer", { as: "operator", method: "POST", body })
    expect(hub.core.calls).toMatchObject([
      {
        args: ["a1", { action: "accept", content: { a: 1 } }, { inputHash: "h", answerId: "i", by: "the operator" }],
      },
    ])
  })

  it("[HA22] details stand beside the error and cannot take its place", async () => {
    const rotated = new HubError("session/rotated", "It goes on in s2", { details: { next: "s2", error: "mine" } })
    const hub = await setUpHttp({ replies: { sendMessage: () => Promise.reject(rotated) } })
    const reply = await hub.ask("/api/sessions/s1/messages", { as: "operator", method: "POST", body: { content: "x" } })
    expect([reply.status, await reply.json()]).toEqual([
      409,
      { next: "s2", error: { code: "session/rotated", message: "It goes on in s2" } },
    ])
  })

  it("[HA30] a failure of ours gives a reference, and only the log says what failed", async () => {
    const hub = await setUpHttp({
      replies: { grants: { list: () => Promise.reject(new Error("the cellar is flooded")) } },
    })
    const error = await errorOf(await hub.ask("/api/grants", { as: "viewer" }))
    expect(error).toMatchObject({ status: 500, code: "hub/internal" })
    expect(error.message).not.toContain("cellar")
    const reference = /[\da-f-]{36}/.exec(error.message)?.[0] ?? "none"
    expect(hub.log()).toMatch(new RegExp(`cellar.*"reference":"${reference}"`))
  })

  it("[HA33] readiness says why not, and liveness is not concerned", async () => {
    let reason: string | undefined
    const hub = await setUpHttp({ notReady: () => reason })
    expect(await (await hub.ask("/readyz")).json()).toEqual({ status: "ready" })
    reason = "The hub is stopping"
    expect(await errorOf(await hub.ask("/readyz"))).toMatchObject({ status: 503, message: reason })
    expect((await hub.ask("/healthz")).status).toBe(200)
  })
})
