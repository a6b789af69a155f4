import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { ensureAdminToken } from "../../src/auth/admin-token.ts"
import { Tokens } from "../../src/auth/tokens.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"

describe("the first start", () => {
  let home = ""
  let data = ""
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "signalbox-"))
    data = join(home, "deep", "data")
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

  it("[HA10] makes the data directory and the admin's token for their owner alone", async () => {
    const tokens = await Tokens.open(new MemoryDirectory())
    const { token, path, created } = await ensureAdminToken(data, tokens)
    expect(created).toBe(true)
    expect([await modeOf(data), await modeOf(path)]).toEqual(["700", "600"])
    expect(await readFile(path, "utf8")).toBe(`${token}\n`)
    expect(tokens.find(token)?.role).toBe("admin")
    expect(await readdir(data)).toEqual(["admin-token"])
  })

  it("[HA10] a second start finds the same token and closes what had been opened up", async () => {
    const tokens = await Tokens.open(new MemoryDirectory())
    const first = await ensureAdminToken(data, tokens)
    await chmod(data, 0o755)
    await chmod(first.path, 0o644)
    expect(await ensureAdminToken(data, tokens)).toEqual({ ...first, created: false })
    expect([await modeOf(data), await modeOf(first.path)]).toEqual(["700", "600"])
  })

  it("[HA10] a token that was revoked, or is not an admin's, is replaced", async () => {
    const tokens = await Tokens.open(new MemoryDirectory())
    const first = await ensureAdminToken(data, tokens)
    await tokens.create({ role: "admin" }, "test")
    await tokens.revoke(first.tokenId, "test")
    const second = await ensureAdminToken(data, tokens)
    expect(second).toMatchObject({ created: true })
    expect(tokens.find(second.token)?.id).toBe(second.tokenId)
    const viewer = await tokens.create({ role: "viewer" }, "test")
    await writeFile(second.path, viewer.secret)
    expect((await ensureAdminToken(data, tokens)).created).toBe(true)
  })

  it("[HA10] a link in the token's place is refused, and so is a directory that is a file", async () => {
    const tokens = await Tokens.open(new MemoryDirectory())
    const { path } = await ensureAdminToken(data, tokens)
    await rm(path)
    await symlink("/etc/hostname", path)
    await expect(ensureAdminToken(data, tokens)).rejects.toMatchObject({ code: "start/data-directory" })
    const file = join(home, "file")
    await writeFile(file, "")
    await expect(ensureAdminToken(join(file, "data"), tokens)).rejects.toThrow("Choose another directory with --data")
  })
})
