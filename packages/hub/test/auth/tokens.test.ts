import { describe, expect, it } from "vitest"
import { Tokens } from "../../src/auth/tokens.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { ManualClock } from "./manual-clock.ts"

async function setUp() {
  const directory = new MemoryDirectory()
  const clock = new ManualClock()
  const tokens = await Tokens.open(directory, clock)
  const ended: string[] = []
  tokens.onEnded((id) => ended.push(id))
  return { directory, clock, tokens, ended }
}

const inSeconds = (clock: ManualClock, seconds: number) => new Date(clock.now() + seconds * 1000).toISOString()

describe("tokens", () => {
  it("[HA4] a token is 256 random bits, found by itself and kept only as a hash", async () => {
    const { directory, tokens } = await setUp()
    const { record, secret } = await tokens.create({ role: "viewer" }, "admin")
    expect(secret).toMatch(/^sbx_[\w-]{43}$/)
    expect(tokens.find(secret)?.id).toBe(record.id)
    expect(tokens.find(`${secret}x`)).toBeUndefined()
    expect(tokens.find(record.hash)).toBeUndefined()
    expect(record.hash).toMatch(/^[\da-f]{64}$/)
    expect(JSON.stringify([await directory.listTokens({ limit: 9 }), await tokens.list(9)])).not.toContain(
      secret.slice(4),
    )
  })

  it("[HA4] tokens are there again after a restart", async () => {
    const { directory, clock, tokens } = await setUp()
    const { secret } = await tokens.create({ role: "operator", name: "ci" }, "admin")
    const revoked = await tokens.create({ role: "operator" }, "admin")
    await tokens.revoke(revoked.record.id, "admin")
    const again = await Tokens.open(directory, clock)
    expect(again.find(secret)).toMatchObject({ role: "operator", name: "ci" })
    expect(again.find(revoked.secret)).toBeUndefined()
  })

  it("[HA5] a revoked token is not valid any more and is told once", async () => {
    const { tokens, ended } = await setUp()
    const { record, secret } = await tokens.create({ role: "viewer" }, "admin")
    const revoking = tokens.revoke(record.id, "admin")
    expect(tokens.find(secret)).toBeUndefined()
    expect((await revoking).revokedAt).not.toBeNull()
    await tokens.revoke(record.id, "admin")
    expect(ended).toEqual([record.id])
    await expect(tokens.revoke("nobody", "admin")).rejects.toMatchObject({ code: "token/unknown" })
  })

  it("[HA5] what became of a token is told to whoever has its secret", async () => {
    const { clock, tokens } = await setUp()
    const revoked = await tokens.create({ role: "viewer" }, "admin")
    await tokens.revoke(revoked.record.id, "admin")
    const over = await tokens.create({ role: "viewer", expiresAt: inSeconds(clock, 10) }, "admin")
    clock.pass(10_000)
    const told = [revoked.secret, over.secret, "sbx_nobody"].map((secret) => tokens.whyNot(secret))
    expect(told).toEqual(["This token was revoked", "This token has run out", "This token is wrong"])
  })

  it("[HA5] a revocation that the store cannot keep still holds", async () => {
    const { directory, tokens, ended } = await setUp()
    const { record, secret } = await tokens.create({ role: "viewer" }, "admin")
    directory.revokeToken = () => Promise.reject(new Error("disk full"))
    await expect(tokens.revoke(record.id, "admin")).rejects.toThrow("disk full")
    expect(tokens.find(secret)).toBeUndefined()
    expect(ended).toEqual([record.id])
  })

  it("[HA5] tokens run out one after the other, and each is told once", async () => {
    const { clock, tokens, ended } = await setUp()
    const late = await tokens.create({ role: "viewer", expiresAt: inSeconds(clock, 20) }, "admin")
    const soon = await tokens.create({ role: "viewer", expiresAt: inSeconds(clock, 10) }, "admin")
    const never = await tokens.create({ role: "viewer" }, "admin")
    clock.pass(9_999)
    expect(tokens.find(soon.secret)).toBeDefined()
    clock.pass(1)
    expect(tokens.find(soon.secret)).toBeUndefined()
    expect(ended).toEqual([soon.record.id])
    clock.pass(10_000)
    expect(ended).toEqual([soon.record.id, late.record.id])
    clock.pass(1e9)
    expect(tokens.find(never.secret)).toBeDefined()
    expect(ended).toHaveLength(2)
  })

  it("[HA5] one that ran out while the process was busy is told, though another was made before its timer ran", async () => {
    const { clock, tokens, ended } = await setUp()
    const { record } = await tokens.create({ role: "viewer", expiresAt: inSeconds(clock, 10) }, "admin")
    clock.skip(20_000)
    await tokens.create({ role: "viewer", expiresAt: inSeconds(clock, 10) }, "admin")
    clock.pass(0)
    expect(ended).toEqual([record.id])
  })

  it("[HA5] an end further away than a timer reaches is waited for all the same", async () => {
    const { clock, tokens, ended } = await setUp()
    const { record } = await tokens.create({ role: "viewer", expiresAt: inSeconds(clock, 60 * 24 * 3_600) }, "admin")
    clock.pass(2 ** 31)
    expect(ended).toEqual([])
    clock.pass(60 * 24 * 3_600_000)
    expect(ended).toEqual([record.id])
  })

  it("[HA9] making and revoking leaves an audit record without the secret", async () => {
    const { directory, tokens } = await setUp()
    const { record, secret } = await tokens.create({ role: "runner", name: "box" }, "ada")
    await tokens.revoke(record.id, "grace")
    const records = await directory.listAudit({ after: 0, limit: 10 })
    expect(records.map(({ what, by, details }) => ({ what, by, ...details }))).toEqual([
      { what: "token/created", by: "ada", tokenId: record.id, role: "runner", name: "box" },
      { what: "token/revoked", by: "grace", tokenId: record.id, role: "runner", name: "box" },
    ])
    expect(JSON.stringify(records)).not.toContain(secret)
    expect(JSON.stringify(records)).not.toContain(record.hash)
  })
})
