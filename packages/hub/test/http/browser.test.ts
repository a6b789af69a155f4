import { describe, expect, it } from "vitest"
import { errorOf, setUpHttp } from "./http-setup.ts"

const ALLOWED = "http://localhost:5173"

describe("browsers", () => {
  it("[HA11] [HA12] signing in and out by REST", async () => {
    const hub = await setUpHttp()
    const login = await hub.ask("/api/login", { method: "POST", body: { token: hub.tokens.operator } })
    expect(await login.json()).toEqual({ role: "operator", name: "the operator", now: expect.any(String) })
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? ""
    const out = await hub.ask("/api/logout", { method: "POST", headers: { cookie } })
    expect(out.headers.get("set-cookie")).toMatch(/=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/)
    expect((await hub.ask("/api/me", { headers: { cookie } })).status).toBe(401)
    expect((await hub.ask("/api/logout", { method: "POST" })).status).toBe(200)
  })

  it("[HA13] signing in with a code, from the page that /login is", async () => {
    const hub = await setUpHttp()
    const [admin] = (await hub.authority.tokens.list(9)).filter(({ role }) => role === "admin")
    const code = await hub.authority.createLoginCode(admin?.id ?? "")
    const post = () => hub.ask("/api/login", { method: "POST", body: { code } })
    expect((await post()).status).toBe(200)
    expect(await errorOf(await post())).toMatchObject({ status: 401, code: "auth/required" })
    expect(await (await hub.ask("/login")).text()).toContain('<script src="/login.js" type="module"></script>')
    expect(await (await hub.ask("/login.js")).text()).toContain("location.hash")
  })

  it("[HA14] the eleventh wrong token in a minute is told to wait; a valid one from the same address is not", async () => {
    const hub = await setUpHttp()
    const attempt = (body: unknown, peer = "10.1.1.1") => hub.ask("/api/login", { method: "POST", body, peer })
    for (let count = 0; count < 10; count++) expect((await attempt({ token: "sbx_wrong" })).status).toBe(401)
    for (const body of [{ token: "sbx_wrong" }, { code: "wrong" }]) {
      const refused = await attempt(body)
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"])
    }
    expect((await attempt({ token: hub.tokens.admin })).status).toBe(200)
    expect((await attempt({ token: "sbx_wrong" }, "10.1.1.2")).status).toBe(401)
    hub.clock.pass(60_000)
    expect((await attempt({ token: "sbx_wrong" })).status).toBe(401)
  })

  it("[HA14] forty attempts at once are no more than ten", async () => {
    const hub = await setUpHttp()
    const tries = Array.from({ length: 40 }, () => hub.ask("/api/login", { method: "POST", body: { token: "sbx_no" } }))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect([401, 429].map((status) => statuses.filter((other) => other === status).length)).toEqual([10, 30])
  })

  it.each(["/", "/api/me", "/healthz", "/metrics", "/nowhere", "/api/login"])(
    "[HA15] [HA16] %s is refused to a foreign Host or Origin, whoever asks",
    async (path) => {
      const hub = await setUpHttp()
      const options = { as: "admin", method: path === "/api/login" ? "POST" : "GET" } as const
      const host = await hub.ask(path, { ...options, headers: { host: "evil.example" } })
      expect(await errorOf(host)).toMatchObject({ status: 403, code: "auth/host" })
      const origin = await hub.ask(path, { ...options, headers: { origin: "http://127.0.0.1:3000" } })
      expect(origin.headers.has("access-control-allow-origin")).toBe(false)
      expect(await errorOf(origin)).toMatchObject({ status: 403, code: "auth/origin" })
    },
  )

  it("[HA16] the hub's own page may talk to it", async () => {
    const hub = await setUpHttp()
    const own = await hub.ask("/api/me", { as: "viewer", headers: { origin: "http://127.0.0.1:8765" } })
    expect([own.status, own.headers.has("access-control-allow-origin")]).toEqual([200, false])
  })

  it("[HA17] an allowed Origin gets CORS, on errors too", async () => {
    const hub = await setUpHttp({ exposure: { allowOrigins: [ALLOWED] } })
    const headers = { origin: ALLOWED }
    for (const [reply, status] of [
      [await hub.ask("/api/me", { as: "viewer", headers }), 200],
      [await hub.ask("/api/me", { headers }), 401],
      [await hub.ask("/api/nowhere", { as: "viewer", headers }), 404],
      [await hub.ask("/api/sessions", { as: "operator", method: "POST", body: "{", headers }), 400],
    ] as const) {
      expect([reply.status, reply.headers.get("access-control-allow-origin"), reply.headers.get("vary")]).toEqual([
        status,
        ALLOWED,
        "Origin",
      ])
    }
  })

  it("[HA17] a preflight is answered without a token, and only for an allowed Origin", async () => {
    const hub = await setUpHttp({ exposure: { allowOrigins: [ALLOWED] } })
    const preflight = (origin: string) =>
      hub.ask("/api/sessions", {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
      })
    const allowed = await preflight(ALLOWED)
    expect(allowed.status).toBe(204)
    expect(allowed.headers.get("access-control-allow-methods")).toContain("POST")
    expect(allowed.headers.get("access-control-allow-headers")).toContain("Authorization")
    expect(allowed.headers.get("access-control-allow-origin")).toBe(ALLOWED)
    const refused = await preflight("http://evil.example")
    expect([refused.status, refused.headers.has("access-control-allow-origin")]).toEqual([403, false])
    const own = await preflight("http://127.0.0.1:8765")
    expect([own.status, own.headers.has("access-control-allow-origin")]).toEqual([401, false])
  })

  it("[HA19] /metrics needs a token unless on loopback", async () => {
    const hub = await setUpHttp({ exposure: { publicUrl: "https://hub.example.org" } })
    const get = async (options = {}) => (await hub.ask("/metrics", options)).status
    expect(await get()).toBe(200)
    expect(await get({ peer: "10.0.0.1" })).toBe(401)
    for (const name of ["x-forwarded-for", "x-original-host", "cf-ray", "fastly-client-ip", "x-envoy-peer-metadata"]) {
      expect(await get({ headers: { [name]: "10.0.0.1" } }), name).toBe(401)
    }
    expect(await get({ headers: { host: "hub.example.org" } })).toBe(401)
    expect(await get({ peer: "10.0.0.1", as: "viewer" })).toBe(200)
    expect(await get({ peer: "10.0.0.1", as: "runner" })).toBe(403)
  })

  it("[HA21] every reply has the security headers, whatever it is", async () => {
    const hub = await setUpHttp({ exposure: { publicUrl: "https://hub.example.org", allowOrigins: [ALLOWED] } })
    const preflight = { origin: ALLOWED, "access-control-request-method": "GET" }
    const replies = [
      await hub.ask("/"),
      await hub.ask("/healthz"),
      await hub.ask("/api/me"),
      await hub.ask("/nowhere"),
      await hub.ask("/healthz", { method: "DELETE" }),
      await hub.ask("/api/me", { headers: { host: "evil.example" } }),
      await hub.ask("/api/sessions/s1/events", { as: "viewer" }),
      await hub.ask("/api/sessions/s1/env", { as: "admin", method: "POST", body: { variables: {} } }),
      await hub.ask("/api/me", { method: "OPTIONS", headers: preflight }),
    ]
    for (const { headers, status } of replies) {
      expect(headers.get("x-content-type-options"), String(status)).toBe("nosniff")
      expect(headers.get("x-frame-options")).toBe("DENY")
      expect(headers.get("referrer-policy")).toBe("no-referrer")
      expect(headers.get("cache-control")).toBe("no-store")
      expect(headers.get("content-security-policy")).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
      expect(headers.get("strict-transport-security")).toBe("max-age=31536000")
    }
  })

  it("[HA21] the page has a strict policy and keeps to it", async () => {
    const hub = await setUpHttp()
    const page = await hub.ask("/")
    const policy = page.headers.get("content-security-policy") ?? ""
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(policy).toContain("script-src 'self'")
    const html = await page.text()
    expect(html).toContain("Signalbox")
    expect(html).not.toMatch(/<script(?![^>]* src="\/)|<style|style=|\son\w+=|https?:\/\//)
    expect((await hub.ask("/", { headers: { host: "localhost" } })).headers.has("strict-transport-security")).toBe(
      false,
    )
  })
})
