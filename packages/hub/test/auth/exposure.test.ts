import { describe, expect, it } from "vitest"
import { checkHostAndOrigin, isLoopbackAddress, isLoopbackRequest } from "../../src/auth/authority.ts"
import { checkBinding, settleExposure } from "../../src/auth/exposure.ts"
import { factsWith } from "./facts.ts"

const exposure = settleExposure({ publicUrl: "https://hub.example.org", allowOrigins: ["http://localhost:5173/"] })
const local = settleExposure({})
const check = (headers: Record<string, string>, to = exposure) => checkHostAndOrigin(factsWith(headers), to)

describe("Host and Origin", () => {
  it.each([
    "localhost",
    "LOCALHOST:8765",
    "127.0.0.1:9999",
    "127.8.9.1",
    "[::1]:8765",
    "hub.example.org",
    "hub.example.org:443",
  ])("[HA15] the Host %s is the hub's", (host) => {
    expect(check({ host })).toEqual({ kind: "none" })
  })

  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "hub.example.org.evil.example",
    "hub.example.org:8765",
    "0.0.0.0:8765",
    "192.168.1.5:8765",
    "user@localhost",
    "localhost/path",
    "localhost#",
    "localhost:99999",
    "",
    "::1",
  ])("[HA15] the Host %j is refused", (host) => {
    expect(() => check({ host })).toThrow(expect.objectContaining({ code: "auth/host" }))
  })

  it("[HA15] no Host at all is refused, and a public one where there is no public URL", () => {
    const facts = { ...factsWith(), header: () => undefined }
    expect(() => checkHostAndOrigin(facts, exposure)).toThrow(expect.objectContaining({ code: "auth/host" }))
    expect(() => check({ host: "hub.example.org" }, local)).toThrow(expect.objectContaining({ code: "auth/host" }))
  })

  it.each([
    ["127.0.0.1:8765", "http://127.0.0.1:8765", "own"],
    ["localhost:9000", "http://localhost:9000", "own"],
    ["[::1]:8765", "http://[::1]:8765", "own"],
    ["hub.example.org", "https://hub.example.org", "own"],
    ["127.0.0.1:8765", "https://hub.example.org", "own"],
    ["127.0.0.1:8765", "http://localhost:5173", "allowed"],
  ])("[HA16] at %s the Origin %s is %s", (host, origin, kind) => {
    expect(check({ host, origin }).kind).toBe(kind)
  })

  it.each([
    ["127.0.0.1:8765", "http://127.0.0.1:3000"],
    ["127.0.0.1:8765", "http://localhost:8765"],
    ["127.0.0.1:8765", "https://127.0.0.1:8765"],
    ["127.0.0.1:8765", "null"],
    ["127.0.0.1:8765", ""],
    ["127.0.0.1:8765", "http://evil.example"],
    ["127.0.0.1:8765", "http://127.0.0.1:8765.evil.example"],
    ["127.0.0.1:8765", "http://localhost:5173.evil.example"],
    ["hub.example.org", "http://hub.example.org"],
    ["127.0.0.1:8765", "chrome-extension://abcdef"],
  ])("[HA16] at %s the Origin %j is refused", (host, origin) => {
    expect(() => check({ host, origin })).toThrow(expect.objectContaining({ code: "auth/origin" }))
  })

  it.each([
    "*",
    "null",
    "localhost:5173",
    "http://localhost:5173/app",
    "ftp://x",
    "http://a@b",
    "http://*.example.org",
  ])("[HA16] %j is not taken as an allowed Origin, and it is said what is", (origin) => {
    expect(() => settleExposure({ allowOrigins: [origin] })).toThrow(/--allow-origin .*as in http:\/\/localhost:5173/)
  })
})

describe("loopback", () => {
  it("[HA19] is a loopback peer, a loopback Host and no forwarding header", () => {
    expect(isLoopbackRequest(factsWith())).toBe(true)
    expect(isLoopbackRequest(factsWith({}, "::ffff:127.0.0.1"))).toBe(true)
    expect(isLoopbackRequest(factsWith({}, "10.0.0.7"))).toBe(false)
    expect(isLoopbackRequest(factsWith({ host: "hub.example.org" }))).toBe(false)
    for (const name of ["x-forwarded-for", "x-forwarded-host", "forwarded", "via", "x-real-ip", "X-Forwarded-Proto"]) {
      expect(isLoopbackRequest(factsWith({ [name]: "127.0.0.1" })), name).toBe(false)
    }
  })

  it.each([
    ["127.0.0.1", true],
    ["127.255.255.254", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["::ffff:10.0.0.1", false],
    ["0.0.0.0", false],
    ["::", false],
    ["128.0.0.1", false],
    ["", false],
    [undefined, false],
  ])("[HA19] the address %s: %s", (address, expected) => {
    expect(isLoopbackAddress(address)).toBe(expected)
  })

  it("[HA20] listening beyond it in plain text must be understood", () => {
    const bind = (host: string, plaintextUnderstood = false, to = local) =>
      checkBinding({ host, exposure: to, plaintextUnderstood })
    for (const host of ["127.0.0.1", "localhost", "::1", "[::1]"]) expect(() => bind(host), host).not.toThrow()
    for (const host of ["0.0.0.0", "::", "192.168.1.5", "example.org"]) {
      expect(() => bind(host), host).toThrow(expect.objectContaining({ code: "start/exposed" }))
    }
    expect(() => bind("0.0.0.0", true)).not.toThrow()
    expect(() => bind("0.0.0.0", false, exposure)).not.toThrow()
    const plain = settleExposure({ publicUrl: "http://hub.example.org" })
    expect(() => bind("0.0.0.0", false, plain)).toThrow("--i-understand-plaintext")
  })
})
