import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { Authority } from "../../src/auth/authority.ts"
import { settleExposure } from "../../src/auth/exposure.ts"
import { Logins } from "../../src/auth/logins.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { factsWith } from "./facts.ts"
import { ManualClock } from "./manual-clock.ts"

async function setUp(directory = new MemoryDirectory(), clock = new ManualClock()) {
  const exposure = settleExposure({ publicUrl: "https://hub.example.org" })
  const authority = await Authority.open({ directory, exposure, clock })
  const { record, secret } = await authority.tokens.create({ role: "operator", name: "ada" }, "test")
  return { directory, clock, authority, record, secret }
}

/** Its changes are made at once, and told when somebody says so. */
class SlowDirectory extends MemoryDirectory {
  told: Promise<void> = Promise.resolve()

  override async changeDocument(name: string, change: (kept: unknown) => unknown): Promise<unknown> {
    const { told } = this
    const kept = await super.changeDocument(name, change)
    await told
    return kept
  }
}

/** What a browser would send back. */
const sentBack = (cookie: string) => ({ cookie: cookie.split(";")[0] ?? "" })

describe("signing in", () => {
  it("[HA11] sets a cookie that only the browser's requests to this hub carry, without the token", async () => {
    const { authority, secret } = await setUp()
    const { cookie, caller } = await authority.login({ token: secret }, factsWith())
    expect(cookie).toMatch(/^signalbox_[\da-f]{12}=sbl_[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/)
    expect(cookie).not.toContain(secret)
    expect(caller).toMatchObject({ role: "operator", name: "ada" })
    expect(authority.identify(factsWith(sentBack(cookie)))).toMatchObject(caller)
  })

  it("[HA11] the cookie is Secure on the public https address, and two hubs have two names for it", async () => {
    const [one, two] = [await setUp(), await setUp()]
    const { cookie } = await one.authority.login({ token: one.secret }, factsWith({ host: "hub.example.org" }))
    const other = await two.authority.login({ token: two.secret }, factsWith())
    expect(cookie).toMatch(/; Secure$/)
    expect(cookie.split("=")[0]).not.toBe(other.cookie.split("=")[0])
  })

  it("[CT40] a hub that is asked to read anew who is signed in has done so when it says so, whatever it is at", async () => {
    const directory = new SlowDirectory()
    const clock = new ManualClock()
    const [here, elsewhere] = [await Logins.open(directory, clock), await Logins.open(directory, clock)]
    let tell = () => {}
    directory.told = new Promise((resolve) => {
      tell = resolve
    })
    const token = { id: "t", expiresAt: null }
    const own = here.create(token)
    directory.told = Promise.resolve()
    const other = await elsewhere.create(token)
    const read = here.refresh()
    tell()
    await read
    expect([here.find((await own).loginId), here.find(other.loginId)]).toMatchObject([
      { tokenId: "t" },
      { tokenId: "t" },
    ])
  })

  it("[HA12] outlives the hub, and only as a hash is it kept", async () => {
    const { authority, secret, directory, clock } = await setUp()
    const { cookie } = await authority.login({ token: secret }, factsWith())
    const again = await Authority.open({ directory, clock, exposure: authority.exposure })
    expect(again.identify(factsWith(sentBack(cookie)))).toMatchObject({ name: "ada" })
    expect(JSON.stringify(await directory.getDocument("logins"))).not.toContain(cookie.slice(30, 60))
  })

  it("[HA12] ends with logout, with its token, and after its time", async () => {
    const { authority, secret, record, clock } = await setUp()
    const login = async () => factsWith(sentBack((await authority.login({ token: secret }, factsWith())).cookie))
    const [first, second] = [await login(), await login()]
    expect(await authority.logout(first)).toMatch(/=; Path=\/; Max-Age=0;/)
    expect(() => authority.identify(first)).toThrow(expect.objectContaining({ code: "auth/required" }))
    expect(authority.identify(second)).not.toBeNull()
    await authority.tokens.revoke(record.id, "test")
    expect(() => authority.identify(second)).toThrow("sign in again")
    const other = await authority.tokens.create({ role: "viewer" }, "test")
    const third = factsWith(sentBack((await authority.login({ token: other.secret }, factsWith())).cookie))
    clock.pass(30 * 24 * 3_600_000)
    expect(() => authority.identify(third)).toThrow("sign in again")
  })

  it("[HA12] a thousand and one logins leave the newest thousand", async () => {
    const { authority, secret, directory } = await setUp()
    for (let count = 0; count < 1_001; count++) await authority.login({ token: secret }, factsWith())
    expect(await directory.getDocument("logins")).toMatchObject({ logins: { length: 1_000 } })
  })

  it("[HA13] a code signs in once", async () => {
    const { authority, record } = await setUp()
    const code = await authority.createLoginCode(record.id)
    expect((await authority.login({ code }, factsWith())).caller.name).toBe("ada")
    await expect(authority.login({ code }, factsWith())).rejects.toMatchObject({ code: "auth/required" })
  })

  it("[HA13] a code is good for less than 60 seconds, and not for a token that was revoked", async () => {
    const { authority, record, clock } = await setUp()
    const [late, intime, orphan] = await Promise.all([1, 2, 3].map(() => authority.createLoginCode(record.id)))
    clock.pass(59_999)
    await expect(authority.login({ code: intime ?? "" }, factsWith())).resolves.toBeDefined()
    clock.pass(1)
    await expect(authority.login({ code: late ?? "" }, factsWith())).rejects.toMatchObject({ code: "auth/required" })
    await authority.tokens.revoke(record.id, "test")
    await expect(authority.login({ code: orphan ?? "" }, factsWith())).rejects.toMatchObject({ code: "auth/required" })
  })

  it("[HA2] an agent's or runner's token signs nobody in", async () => {
    const { authority } = await setUp()
    const { secret } = await authority.tokens.create({ role: "runner" }, "test")
    await expect(authority.login({ token: secret }, factsWith())).rejects.toMatchObject({ code: "auth/forbidden" })
  })

  it("[HA18] a cookie on a request of another site's or port's page counts for nothing", async () => {
    const { authority, secret } = await setUp()
    const { cookie } = await authority.login({ token: secret }, factsWith())
    const from = (site: string) => authority.identify(factsWith({ ...sentBack(cookie), "sec-fetch-site": site }))
    expect(from("cross-site")).toBeNull()
    expect(from("same-site")).toBeNull()
    expect(from("same-origin")).toMatchObject({ name: "ada" })
    expect(from("none")).toMatchObject({ name: "ada" })
  })
})

const WRONG = { code: "auth/required", message: "no" }

describe("throttling", () => {
  it("[HA14] ten failures a minute from one address", async () => {
    const { authority, clock } = await setUp()
    for (let count = 0; count < 10; count++) expect(authority.loginFailure(factsWith(), "no")).toMatchObject(WRONG)
    clock.pass(15_000)
    expect(authority.loginFailure(factsWith(), "no")).toMatchObject({
      code: "auth/throttled",
      status: 429,
      details: { retryAfterSeconds: 45 },
    })
    expect(authority.loginFailure(factsWith({}, "::ffff:127.0.0.1"), "no").message).toContain("try again in 45 s")
    expect(authority.loginFailure(factsWith({}, "10.0.0.1"), "no")).toMatchObject(WRONG)
    clock.pass(45_000)
    expect(authority.loginFailure(factsWith(), "no")).toMatchObject(WRONG)
  })

  it("[HA80] a forwarded address counts from a trusted proxy alone, and only what that proxy wrote", async () => {
    const proxies = { trustedProxies: ["10.0.0.0/8", "::1"] }
    const directory = new MemoryDirectory()
    const authority = await Authority.open({ directory, exposure: settleExposure(proxies), clock: new ManualClock() })
    const fail = (forwarded: string | undefined, peer: string) =>
      authority.loginFailure(factsWith(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }, peer), "no")
        .code
    for (let count = 0; count < 10; count++) fail(`${count}.0.0.1, 192.0.2.1`, "10.0.0.1")
    // Whatever the client claims before it, the proxy wrote the last one; a second proxy of ours may stand in between.
    expect(fail("203.0.113.9, 192.0.2.1", "10.0.0.1")).toBe("auth/throttled")
    expect(fail("192.0.2.1, 10.0.0.9", "::1")).toBe("auth/throttled")
    expect(fail("192.0.2.1:4711", "10.0.0.1")).toBe("auth/throttled")
    expect(fail("192.0.2.2", "10.0.0.1")).toBe("auth/required")
    expect(fail("unknown", "10.0.0.1")).toBe("auth/required")
    // Nobody else is believed.
    for (let count = 0; count < 10; count++) fail(`198.51.100.${count}`, "192.0.2.7")
    expect(fail("198.51.100.99", "192.0.2.7")).toBe("auth/throttled")
    for (const wrong of ["proxy.example.org", "10.0.0.0/33", "10.0.0.0/8/8", "10.0.0.0/", ""]) {
      expect(() => settleExposure({ trustedProxies: [wrong] }), wrong).toThrow(/--trusted-proxy .*as in 127\.0\.0\.1/)
    }
  })

  it("[HA14] a whole /64 counts as one address", async () => {
    const { authority } = await setUp()
    for (let count = 1; count <= 10; count++) authority.loginFailure(factsWith({}, `2001:db8:1:2::${count}`), "no")
    expect(authority.loginFailure(factsWith({}, "2001:db8:1:2:a:b:c:d"), "no").code).toBe("auth/throttled")
    expect(authority.loginFailure(factsWith({}, "2001:db8:1:3::1"), "no")).toMatchObject(WRONG)
  })

  it("[HA14] a hundred a minute in all, from however many addresses", async () => {
    const { authority, clock } = await setUp()
    for (let count = 0; count < 100; count++) authority.loginFailure(factsWith({}, `10.0.0.${count}`), "no")
    expect(authority.loginFailure(factsWith({}, "10.9.9.9"), "no").code).toBe("auth/throttled")
    clock.pass(60_000)
    expect(authority.loginFailure(factsWith({}, "10.9.9.9"), "no")).toMatchObject(WRONG)
  })
})

describe("upgrades", () => {
  const closers: (() => void)[] = []
  afterEach(() => {
    for (const close of closers.splice(0)) close()
  })

  /** The request as a real server reads it off a socket. */
  async function received(head: string): Promise<IncomingMessage> {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const socket = connect(port, "127.0.0.1", () => socket.write(`GET /ws HTTP/1.1\r\n${head}\r\n\r\n`))
    socket.on("error", () => {})
    closers.push(() => {
      socket.destroy()
      server.close()
      server.closeAllConnections()
    })
    const [request] = (await once(server, "request")) as [IncomingMessage]
    return request
  }

  it("[HA16] [HA1] are let in as who they are, or refused with the reason", async () => {
    const { authority, secret } = await setUp()
    const check = async (...headers: string[]) => authority.checkUpgrade(await received(headers.join("\r\n")))
    const host = "Host: localhost"
    const who = { ok: true, loopback: true, origin: { kind: "none" } }
    expect(await check(host, `Authorization: Bearer ${secret}`)).toMatchObject({ ...who, caller: { name: "ada" } })
    expect(await check(host)).toMatchObject({ ...who, caller: null })
    expect(await check(host, "Authorization: Bearer wrong")).toMatchObject({
      ok: false,
      error: { code: "auth/required" },
    })
    expect(await check(host, `Authorization: Basic ${secret}`)).toMatchObject({
      ok: false,
      error: { code: "auth/required" },
    })
    expect(await check(host, "Origin: http://evil.example")).toMatchObject({
      ok: false,
      error: { code: "auth/origin" },
    })
    expect(await check("Host: evil.example")).toMatchObject({ ok: false, error: { code: "auth/host" } })
    expect(await check(host, "X-Forwarded-For: 127.0.0.1")).toMatchObject({ ok: true, loopback: false })
  })

  it("[HA15] [HA16] a header that may stand once and stands twice is refused", async () => {
    const { authority, secret } = await setUp()
    const check = async (...headers: string[]) => authority.checkUpgrade(await received(headers.join("\r\n")))
    const host = "Host: localhost"
    expect(await check(host, "Host: evil.example")).toMatchObject({ ok: false, error: { code: "auth/host" } })
    expect(await check(host, "Origin: http://localhost", "Origin: http://evil.example")).toMatchObject({
      ok: false,
      error: { code: "auth/origin" },
    })
    const bearer = `Authorization: Bearer ${secret}`
    expect(await check(host, bearer, "Authorization: Bearer x")).toMatchObject({
      ok: false,
      error: { code: "auth/required" },
    })
  })
})
