import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { connectHub, HubClientError } from "@signalbox/client"
import type { RouteRule } from "@signalbox/protocol/hub-api"
import { ROUTES } from "@signalbox/protocol/hub-api/schemas"
import { describe, expect, it, vi } from "vitest"
import { refused } from "./fake-hub.ts"
import { setUp } from "./setup.ts"

const setup = setUp()
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("calls to the hub", () => {
  it("[HC12] each is the one that the contract names", async () => {
    const { fake } = setup
    const hub = setup.connect()
    const session = hub.session("s/1")
    const path = "/api/sessions/s%2F1"
    fake.route("GET /api/sessions", () => ({ body: { sessions: [{ id: "x" }], cursor: "c2" } }))
    fake.route("POST /api/sessions", () => ({ status: 201, body: { id: "new" } }))
    fake.route(`GET ${path}`, () => ({ body: { id: "s/1" } }))
    fake.route(`GET ${path}/events`, () => ({ body: { events: [], firstSeq: 1, lastSeq: 0, more: false } }))
    fake.route(`POST ${path}/messages`, ({ body }) => ({ status: 202, body: { uuid: body["uuid"], seq: 1 } }))
    fake.route(`DELETE ${path}/messages/u1`, () => ({ body: {} }))
    fake.route(`POST ${path}/control`, () => ({ body: { response: { models: [] } } }))
    fake.route(`POST ${path}/interrupt`, () => ({ body: {} }))
    fake.route(`PATCH ${path}`, () => ({ body: { id: "s/1", title: "t" } }))
    fake.route(`DELETE ${path}`, () => ({ body: { id: "s/1" } }))
    fake.route("GET /api/asks", () => ({ body: { asks: [{ id: "a" }] } }))
    fake.route("GET /api/asks/a", () => ({ body: { id: "a" } }))
    fake.route("POST /api/asks/a/answer", () => ({ body: { id: "a", state: "allowed" } }))
    fake.route("POST /api/asks/a/extend", () => ({ body: { id: "a", expiresAt: "later" } }))
    fake.route("PUT /api/policy", ({ body }) => ({ body }))

    expect(await hub.sessions({ limit: 2, state: "idle" })).toEqual({ sessions: [{ id: "x" }], cursor: "c2" })
    expect(await hub.launch({ cwd: "/w" })).toEqual({ id: "new" })
    expect(await session.get()).toEqual({ id: "s/1" })
    expect(await session.events({ after: 3, limit: 5 })).toMatchObject({ events: [], more: false })
    expect((await session.send("hi", { priority: "next" })).uuid).toMatch(UUID)
    await session.cancel("u1")
    expect(await session.control({ subtype: "supported_models" }, { timeoutMs: 500 })).toEqual({ models: [] })
    expect(await session.interrupt()).toBeUndefined()
    expect(await session.change({ title: "t" })).toMatchObject({ title: "t" })
    await session.stop()
    expect(await hub.asks({ state: "pending", session: "s/1" })).toEqual([{ id: "a" }])
    expect(await hub.ask("a")).toEqual({ id: "a" })
    expect(await hub.answer("a", { behavior: "allow", inputHash: "h" })).toEqual({ id: "a", state: "allowed" })
    expect(await hub.extend("a", { expiresAt: "soon" })).toEqual({ id: "a", expiresAt: "later" })
    expect(await hub.request({ method: "PUT", path: "/api/policy", body: { rules: [] } })).toEqual({ rules: [] })

    const made = expect.stringMatching(UUID)
    expect(fake.calls.map(({ method, query, body }) => [method, { ...query, ...body }])).toEqual([
      ["GET", { limit: "2", state: "idle" }],
      ["POST", { cwd: "/w", requestKey: made }],
      ["GET", {}],
      ["GET", { after: "3", limit: "5" }],
      ["POST", { content: "hi", uuid: made, priority: "next" }],
      ["DELETE", {}],
      ["POST", { request: { subtype: "supported_models" }, timeoutMs: 500 }],
      ["POST", {}],
      ["PATCH", { title: "t" }],
      ["DELETE", {}],
      ["GET", { state: "pending", session: "s/1" }],
      ["GET", {}],
      ["POST", { behavior: "allow", inputHash: "h", answerId: made }],
      ["POST", { expiresAt: "soon" }],
      ["PUT", { rules: [] }],
    ])
  })

  it("[HC25] there is a method for every route that answers in JSON", async () => {
    const called = new Set<string>()
    vi.stubGlobal("fetch", async (url: string, { method }: RequestInit) => {
      called.add(`${method} ${decodeURIComponent(new URL(url).pathname)}`)
      return Response.json({ asks: [], runners: [] })
    })
    const hub = setup.connect()
    const session = hub.session(":id")
    const ofSession = [session.get(), session.events(), session.outline(), session.send("hi"), session.cancel(":uuid")]
    const steering = [session.control({ subtype: "x" }), session.interrupt(), session.setEnvironment({ A: "b" })]
    const ending = [session.change({ archived: true }), session.stop(), session.removeWorktree()]
    const asks = [hub.askPage(), hub.ask(":id"), hub.answer(":id", { behavior: "allow" }), hub.extend(":id")]
    const rights = [hub.policy(), hub.setPolicy({}), hub.grants(), hub.revokeGrant(":id"), hub.audit()]
    const tested = hub.testPolicy({}).catch(() => undefined)
    const judged = [tested, hub.explainPolicy({ request: { tool: "x", input: {} } }), hub.policySuggestions()]
    const versions = [hub.policyVersions(), hub.policyVersion(Number.NaN)]
    const { tokens, logins, runners, runs } = hub
    const people = [session.readMark(), session.markRead(1), logins.list(), logins.end(":id")]
    const access = [tokens.list(), tokens.create({ role: "viewer" }), tokens.revoke(":id"), hub.me(), hub.logout()]
    const machines = [runners.list(), runners.drain(":id", true), runners.forget(":id"), runners.log(":id")]
    const looking = [runners.folders(":id"), runners.recorded(":id"), hub.search({ q: "x" }), hub.settings()]
    const tasks = [runs.list(), runs.create({ title: "t", tasks: [] }), runs.get(":id"), runs.change(":id", {})]
    const rest = [hub.sessions(), hub.launch(), hub.setSettings({}), hub.login({ code: "c" })]
    // A task has a number.
    const task = runs.changeTask(":id", Number.NaN, {})
    const ofHubs = [hub.hubs.list(), hub.hubs.rotateSecret()]
    const operations = [hub.health(), hub.ready(), hub.openApi(), hub.storeSize(), ...ofHubs]
    // Only 204 says that it was purged.
    const purging = [session.purge().catch(() => undefined), hub.prune({ olderThan: "90d" })]
    const all = [
      ofSession,
      steering,
      ending,
      asks,
      rights,
      judged,
      versions,
      access,
      people,
      machines,
      looking,
      tasks,
      rest,
      task,
      operations,
      purging,
    ]
    await Promise.all(all.flat())
    vi.unstubAllGlobals()
    const inJson = Object.entries<RouteRule>(ROUTES).filter(([, rule]) => rule.contentType === undefined)
    expect([...called].map((name) => name.replace("NaN", ":n")).toSorted()).toEqual(
      inJson.map(([name]) => name).toSorted(),
    )
  })

  it("[PG35] a hub that is too old to purge is told so, and its session is not stopped instead", async () => {
    const { fake } = setup
    const session = setup.connect().session("s")
    const replies = [{ status: 204 }, { body: { id: "s", state: "ended" } }]
    fake.route("DELETE /api/sessions/s", () => replies.shift())
    const tooOld = { code: "client/too-old", message: expect.stringContaining("update it") }
    await expect(session.purge()).rejects.toMatchObject(tooOld)
    expect(fake.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /api/store"])
    fake.route("GET /api/store", () => ({ body: {} }))
    await session.purge()
    expect(fake.calls.at(-1)).toMatchObject({ method: "DELETE", query: { purge: "true" } })
    await expect(session.purge()).rejects.toMatchObject(tooOld)
  })

  it("[BT15] a test of a policy tells its progress; a failure on the way is an error; an aborted one is ended", async () => {
    const result = { requests: 3, contradicts: { count: 0, examples: [] } }
    const lines = [{ progress: { judged: 0, total: 3 } }, { progress: { judged: 2, total: 3 } }, { result }]
    const asked: unknown[] = []
    let told: readonly unknown[] = lines
    vi.stubGlobal("fetch", async (url: string, init: RequestInit & { body: string }) => {
      asked.push([new URL(url).pathname, new Headers(init.headers).get("accept"), JSON.parse(init.body)])
      init.signal?.throwIfAborted()
      const text = told.map((line) => `${JSON.stringify(line)}\n`).join("")
      // In pieces that end anywhere.
      const pieces = text.match(/[^]{1,7}/g) ?? []
      const body = new ReadableStream({
        start(controller) {
          for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
          controller.close()
        },
      })
      return new Response(body, { headers: { "content-type": "application/x-ndjson" } })
    })
    const hub = setup.connect()
    const seen: number[] = []
    const policy = { rules: [] }
    const options = { since: "30d", limit: 2, onProgress: ({ judged }: { judged: number }) => seen.push(judged) }
    expect(await hub.testPolicy(policy, options)).toEqual(result)
    expect(seen).toEqual([0, 2])
    expect(asked).toEqual([["/api/policy/test", "application/x-ndjson", { policy, since: "30d", limit: 2 }]])
    told = [lines[0], { error: { code: "store/failed", message: "no disk" } }]
    await expect(hub.testPolicy(policy)).rejects.toMatchObject({ code: "store/failed", message: "no disk" })
    told = [lines[0]]
    await expect(hub.testPolicy(policy)).rejects.toMatchObject({ code: "client/bad-reply" })
    const signal = AbortSignal.abort()
    await expect(hub.testPolicy(policy, { signal })).rejects.toMatchObject({ code: "client/aborted" })
    vi.unstubAllGlobals()
  })

  it("[BT15] all audit records are read page after page, from either end", async () => {
    setup.fake.route("GET /api/audit", ({ query }) => {
      const ids = query["order"] === "newest" ? [3, 2, 1] : [1, 2, 3]
      const left = ids.filter((id) => id > Number(query["after"] ?? 0) && id < Number(query["before"] ?? 9))
      return { body: { records: left.slice(0, 2).map((id) => ({ id })), more: left.length > 2 } }
    })
    const idsOf = async (order: "oldest" | "newest") => {
      const ids: number[] = []
      for await (const { id } of setup.connect().auditRecords({ order })) ids.push(id)
      return ids
    }
    expect(await idsOf("oldest")).toEqual([1, 2, 3])
    expect(await idsOf("newest")).toEqual([3, 2, 1])
  })

  it("[HC13] a refusal has the hub's code, status and what else the reply says", async () => {
    setup.fake.route("POST /api/asks/a/answer", () =>
      refused(409, "ask/settled", "ada was first", { ask: { id: "a", settledBy: "ada" } }),
    )
    const error = await setup
      .connect()
      .answer("a", { behavior: "deny" })
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(HubClientError)
    expect(error).toMatchObject({
      code: "ask/settled",
      status: 409,
      message: "ada was first",
      details: { ask: { id: "a", settledBy: "ada" } },
    })
    expect(setup.fake.calls).toHaveLength(1)
  })

  it("[HC13] what is no reply of a hub is said to be none", async () => {
    setup.fake.route("GET /api/sessions", () => ({ body: "<html>" }))
    await expect(setup.connect().sessions()).rejects.toMatchObject({ code: "client/bad-reply", status: 200 })
    setup.fake.route("GET /api/sessions", () => ({ status: 502, body: "<html>" }))
    await expect(setup.connect().sessions()).rejects.toMatchObject({ code: "client/bad-reply", status: 502 })
  })

  it("[HC14] what may be done twice is tried again while the hub is away for a moment, with the same ids", async () => {
    let tries = 0
    setup.fake.route("POST /api/sessions/s/messages", ({ body }) => {
      tries++
      if (tries === 1) return undefined
      if (tries === 2) return refused(503, "hub/stopping", "come back")
      // It was stopped for a while, and had not read what was sent.
      if (tries === 3) return refused(408, "request/invalid", "the request did not come in time, and nothing was done")
      return { status: 202, body: { uuid: body["uuid"], seq: 1 } }
    })
    const sent = await setup.connect().session("s").send("hi")
    expect(setup.fake.calls.map(({ body }) => body["uuid"])).toEqual([sent.uuid, sent.uuid, sent.uuid, sent.uuid])
  })

  it("[HC23] a hub that is busy is asked again no sooner than it says, and only so often", async () => {
    const error = { code: "hub/busy", message: "read what you asked for" }
    const times: number[] = []
    setup.fake.route("GET /api/sessions/s/events", () => {
      times.push(performance.now())
      return times.length < 3 ? { status: 503, body: { retryAfterSeconds: 0.2, error } } : { body: { events: [] } }
    })
    const session = setup.connect().session("s")
    expect(await session.events()).toEqual({ events: [] })
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0))
    expect(waits.every((ms) => ms >= 190)).toBe(true)
    setup.fake.route("GET /api/sessions/s/events", () => ({ status: 503, body: { error } }))
    await expect(session.events()).rejects.toMatchObject({ code: "hub/busy", status: 503 })
    expect(setup.fake.calls).toHaveLength(3 + 5)
  })

  it("[HC14] what may not is not, and trying ends", async () => {
    setup.fake.route("POST /api/sessions/s/interrupt", () => undefined)
    setup.fake.route("POST /api/sessions/s/control", () => undefined)
    const session = setup.connect().session("s")
    await expect(session.interrupt()).rejects.toMatchObject({ code: "client/unreachable" })
    await expect(session.control({ subtype: "x" })).rejects.toMatchObject({ code: "client/unreachable" })
    expect(setup.fake.calls).toHaveLength(2)
    const url = setup.fake.url
    await setup.fake.stop()
    await expect(setup.connect({ url }).sessions()).rejects.toMatchObject({ code: "client/unreachable" })
  })

  it("[HC15] a call ends by time, by its signal, and by close", async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    await expect(setup.connect({ url, timeoutMs: 20 }).sessions()).rejects.toMatchObject({ code: "client/timeout" })
    const ending = new AbortController()
    const aborted = setup.connect({ url }).request({ method: "GET", path: "/x", signal: ending.signal })
    ending.abort()
    await expect(aborted).rejects.toMatchObject({ code: "client/aborted" })
    const hub = setup.connect({ url })
    const closed = hub.sessions()
    hub.close()
    await expect(closed).rejects.toMatchObject({ code: "client/closed" })
    await expect(hub.sessions()).rejects.toMatchObject({ code: "client/closed" })
    setup.fake.route("GET /api/sessions", () => undefined)
    const retrying = setup.connect({ reconnect: { baseDelayMs: 60_000, maxDelayMs: 60_000 } })
    const waiting = retrying.sessions().catch((error: unknown) => error)
    await vi.waitFor(() => expect(setup.fake.calls).toHaveLength(1))
    retrying.close()
    expect(await waiting).toMatchObject({ code: "client/closed" })
    silent.closeAllConnections()
    await new Promise((resolve) => silent.close(resolve))
  })

  it.each([
    ["nonsense", "t", "is no address"],
    ["ftp://x", "t", "begins with http"],
    ["http://a:b@x", "t", "no name"],
    ["http://x/?token=t", "t", "give the token as"],
    ["http://x", "", "the token is empty"],
    ["http://x", "a\nb", "the token"],
  ])("[HC16] the address %s with the token %j is refused at once", (url, token, message) => {
    expect(() => connectHub({ url, token })).toThrow(message)
  })

  it("[HC16] an address may have a path, a slash at its end, and the scheme of its socket", async () => {
    setup.fake.route("GET /prefix/api/sessions", () => ({ body: { sessions: [], cursor: null } }))
    const url = `${setup.fake.url.replace("http", "ws")}/prefix/`
    expect(await setup.connect({ url }).sessions()).toEqual({ sessions: [], cursor: null })
  })
})
