import type { Role, SignedInBrowser } from "@signalbox/protocol/hub-api"
import { beforeAll, describe, expect, it } from "vitest"
import { errorOf, type HttpSetup, ROLES, setUpHttp, signIn } from "./http-setup.ts"
import { EXAMPLES, LEAST_ROLE } from "./route-examples.ts"

const RANK = { anybody: 0, viewer: 1, operator: 2, admin: 3 } as const
const rankOf = (role: Role | undefined) =>
  role === "viewer" || role === "operator" || role === "admin" ? RANK[role] : 0

const CODES = new Map([
  [401, "auth/required"],
  [403, "auth/forbidden"],
])

/** A body that fails the test when somebody looks at it. */
function untouchable(): { body: ReadableStream; wasRead: () => boolean } {
  let read = false
  const body = new ReadableStream({ pull: () => void (read = true) }, { highWaterMark: 0 })
  return { body, wasRead: () => read }
}

describe("every route, every role", () => {
  let hub: HttpSetup
  beforeAll(async () => {
    hub = await setUpHttp()
  })

  it("[HA32] each route has its example and its role here, and the other way round", () => {
    const declared = hub.app.routes.map(({ method, path }) => `${method} ${path}`)
    expect(declared.toSorted()).toEqual(Object.keys(EXAMPLES).toSorted())
    expect(declared.toSorted()).toEqual(Object.keys(LEAST_ROLE).toSorted())
  })

  const cases = Object.entries(LEAST_ROLE).flatMap(([name, least]) =>
    [undefined, ...ROLES].map((role) => ({ name, least, role, who: role ?? "nobody" })),
  )

  it.each(cases)("[HA1] [HA2] $name by $who, for $least and up", async ({ name, least, role }) => {
    const example = EXAMPLES[name] ?? { method: "GET", path: "/missing" }
    const { record } = await hub.authority.tokens.create({ role: "viewer" }, "test")
    const isPerson = role === "viewer" || role === "operator" || role === "admin"
    const login = isPerson && example.path.includes("LOGIN_ID") ? await signIn(hub, role) : "none"
    const path = example.path.replace("TOKEN_ID", record.id).replace("LOGIN_ID", login)
    const body = JSON.parse(JSON.stringify(example.body ?? null).replace("ADMIN_TOKEN", hub.tokens.admin)) ?? undefined
    hub.core.calls.length = 0
    const reply = await hub.ask(path, { method: example.method, body, ...(role === undefined ? {} : { as: role }) })
    const refused = rankOf(role) >= RANK[least] ? 0 : role === undefined ? 401 : 403
    const text = await reply.text()
    const code = (JSON.parse(reply.status < 400 ? "{}" : text) as { error?: { code: string } }).error?.code
    expect([reply.status < 300 ? 0 : reply.status, code]).toEqual([refused, CODES.get(refused)])
    // Whoever is refused has asked nothing of the core.
    expect(refused === 0 || hub.core.calls.length === 0).toBe(true)
  })

  it("[HA3] who may not is told so before the body is read", async () => {
    for (const [name, least] of Object.entries(LEAST_ROLE)) {
      const example = EXAMPLES[name]
      if (example === undefined || example.method === "GET" || least === "anybody") continue
      for (const role of [undefined, "agent", "runner"] as const) {
        const { body, wasRead } = untouchable()
        const options = { method: example.method, body, ...(role === undefined ? {} : { as: role }) }
        const reply = await hub.ask(example.path, options)
        expect([name, reply.status, wasRead()]).toEqual([name, role === undefined ? 401 : 403, false])
      }
    }
  })

  it.each(["/api/sessions/nowhere", "/api/nothing", "/api", "/api/asks/a1/answer", "/api/../api/tokens"])(
    "[HA3] %s tells nobody whether it exists",
    async (path) => {
      expect((await hub.ask(path)).status).toBe(401)
      expect((await hub.ask(path, { as: "agent" })).status).toBe(403)
      expect((await hub.ask(path, { headers: { authorization: "Bearer sbx_wrong" } })).status).toBe(401)
    },
  )

  it("[HA1] a wrong token is not made good by a cookie, and a wrong cookie is refused", async () => {
    const login = await hub.ask("/api/login", { method: "POST", body: { token: hub.tokens.viewer } })
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? ""
    expect(await (await hub.ask("/api/me", { headers: { cookie } })).json()).toMatchObject({
      role: "viewer",
      name: "the viewer",
    })
    expect((await hub.ask("/api/me", { headers: { cookie, authorization: "Bearer x" } })).status).toBe(401)
    const wrong = await errorOf(await hub.ask("/api/me", { headers: { cookie: `${cookie}x` } }))
    expect(wrong).toMatchObject({ status: 401, message: expect.stringContaining("sign in again") })
    expect((await hub.ask("/api/me", { headers: { cookie: `a=b; ${cookie}x; ${cookie}` } })).status).toBe(200)
  })

  it("[HA6] control requests are checked before the session is looked for", async () => {
    const control = (as: Role, request: unknown) =>
      hub.ask("/api/sessions/nowhere/control", { method: "POST", as, body: { request } })
    hub.core.calls.length = 0
    expect((await control("operator", { subtype: "update_settings" })).status).toBe(403)
    const bypass = { subtype: "set_permission_mode", mode: "bypassPermissions" }
    expect(await errorOf(await control("operator", bypass))).toMatchObject({ code: "auth/forbidden" })
    expect(hub.core.calls).toEqual([])
    expect((await control("admin", { subtype: "from_the_future", x: 1 })).status).toBe(200)
    expect(hub.core.calls).toEqual([
      { method: "control", args: ["nowhere", { request: { subtype: "from_the_future", x: 1 }, timeoutMs: 60_000 }] },
    ])
  })

  it("[HA7] [HA8] launches and answers that are an admin's are refused to an operator", async () => {
    const post = (path: string, as: Role, body: unknown) => hub.ask(path, { method: "POST", as, body })
    const launch = { agent: { command: ["/bin/sh"] } }
    expect((await post("/api/sessions", "operator", launch)).status).toBe(403)
    expect((await post("/api/sessions", "admin", launch)).status).toBe(201)
    const answer = { behavior: "allow", updatedPermissions: [{ type: "setMode", mode: "bypassPermissions" }] }
    expect((await post("/api/asks/a1/answer", "operator", answer)).status).toBe(403)
    expect((await post("/api/asks/a1/answer", "admin", answer)).status).toBe(200)
  })

  it("[HA4] [HA5] a token made by REST is told once, listed without its secret, and gone when revoked", async () => {
    const made = await hub.ask("/api/tokens", { method: "POST", as: "admin", body: { role: "viewer", name: "ci" } })
    const { id, token } = (await made.json()) as { id: string; token: string }
    const me = () => hub.ask("/api/me", { headers: { authorization: `Bearer ${token}` } })
    expect((await me()).status).toBe(200)
    const list = await (await hub.ask("/api/tokens", { as: "admin" })).text()
    expect(list).toContain(id)
    expect(list).not.toMatch(/hash|sbx_/)
    const ended: string[] = []
    hub.authority.tokens.onEnded((tokenId) => ended.push(tokenId))
    expect((await hub.ask(`/api/tokens/${id}`, { method: "DELETE", as: "admin" })).status).toBe(200)
    expect([(await me()).status, ended]).toEqual([401, [id]])
    expect((await hub.ask("/api/tokens/nobody", { method: "DELETE", as: "admin" })).status).toBe(404)
  })

  it("[HA91] a token is not named like the hub or a rule, nor with characters that cannot be seen", async () => {
    const make = (name: string) =>
      hub.ask("/api/tokens", { method: "POST", as: "admin", body: { role: "viewer", name } })
    const wrong = [
      "hub",
      " Hub ",
      "\uff48ub",
      "rule secrets",
      "Rule\u3000x",
      "relay auto-approval",
      "anonymous relay frontend",
    ]
    const unseen = ["An\u200bn", "Ann\u001b[1m", "Ann\r\nBen", "Ann\tB", "\u202enna"]
    for (const name of [...wrong, ...unseen]) {
      const problem = { status: 400, message: expect.stringContaining("body.name: ") }
      expect(await errorOf(await make(name)), JSON.stringify(name)).toMatchObject(problem)
    }
    for (const name of ["ruler", "hub-ci", "Zoë 東京", "rule"]) expect((await make(name)).status, name).toBe(201)
    // A name that was given before keeps working.
    const { secret } = await hub.authority.tokens.create({ role: "viewer", name: "hub" }, "test")
    expect((await hub.ask("/api/me", { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200)
  })

  it("[HA26] a token is not made for an agent, nor to end in the past", async () => {
    const make = async (body: unknown) => errorOf(await hub.ask("/api/tokens", { method: "POST", as: "admin", body }))
    expect(await make({ role: "agent" })).toMatchObject({ status: 400, message: expect.stringContaining("body.role") })
    expect(await make({ role: "viewer", expiresAt: "2029-12-31T23:59:59Z" })).toMatchObject({
      status: 400,
      message: "body.expiresAt: expected a time that is yet to come",
    })
  })
})

describe("signed-in browsers", () => {
  const listed = async (hub: HttpSetup, as: "viewer" | "operator" | "admin") =>
    ((await (await hub.ask("/api/logins", { as })).json()) as { logins: SignedInBrowser[] }).logins

  it("[HA103] are one's own, an admin sees everybody's, and none has a secret", async () => {
    const hub = await setUpHttp()
    await signIn(hub, "viewer", `Mozilla/5.0 ${"x".repeat(1_000)}`)
    await signIn(hub, "operator", "Other/2")
    expect(await listed(hub, "viewer")).toMatchObject([{ name: "the viewer", role: "viewer", current: false }])
    const [mine] = await listed(hub, "viewer")
    expect(mine?.browser).toHaveLength(300)
    expect(Date.parse(mine?.expiresAt ?? "") - Date.parse(mine?.createdAt ?? "")).toBe(30 * 24 * 3_600_000)
    expect((await listed(hub, "admin")).map(({ name }) => name)).toEqual(["the operator", "the viewer"])
    const cookie = (await hub.ask("/api/login", { method: "POST", body: { token: hub.tokens.viewer } })).headers
      .get("set-cookie")
      ?.split(";", 1)[0]
    const reply = await hub.ask("/api/logins", { headers: { cookie: cookie ?? "" } })
    const text = await reply.text()
    const { logins } = JSON.parse(text) as { logins: SignedInBrowser[] }
    expect(logins.map(({ current }) => current)).toEqual([true, false])
    expect(text).not.toContain(cookie?.split("=")[1])
  })

  it("[HA103] are signed out by their person or an admin, and by nobody else", async () => {
    const hub = await setUpHttp()
    const [viewers, operators] = [await signIn(hub, "viewer"), await signIn(hub, "operator")]
    const end = async (id: string, as: "viewer" | "operator" | "admin") => {
      const reply = await hub.ask(`/api/logins/${id}`, { method: "DELETE", as })
      const { error } = (await reply.json()) as { error?: { code: string } }
      return error?.code ?? reply.status
    }
    // Whether somebody else's is there is not told.
    expect(await end(operators, "viewer")).toBe("login/unknown")
    expect(await end("none", "viewer")).toBe("login/unknown")
    expect(await end(viewers, "viewer")).toBe(200)
    expect(await end(viewers, "viewer")).toBe("login/unknown")
    expect(await end(operators, "admin")).toBe(200)
    expect(await listed(hub, "admin")).toEqual([])
  })
})
