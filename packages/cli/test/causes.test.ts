import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { atEnd, deadAddress, folder, run, startHub } from "./signalbox-process.ts"

const [MOUNT, UNMOUNT] = ["mount", "umount"]

/** A folder that cannot be written, not even by root; undefined where none can be mounted. */
function readOnlyFolder(): string | undefined {
  const disk = folder()
  try {
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], { stdio: "pipe" })
  } catch {
    return undefined
  }
  atEnd(() => execFileSync(UNMOUNT, ["-l", disk]))
  mkdirSync(join(disk, "data"), { mode: 0o700 })
  execFileSync(MOUNT, ["-o", "remount,ro", disk])
  return join(disk, "data")
}

async function webServer(): Promise<string> {
  const server = createServer((request, reply) => {
    reply.writeHead(request.url?.startsWith("/api/sessions") === true ? 404 : 200).end("<h1>It works</h1>")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  atEnd(() => server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
}

describe("errors name their cause", () => {
  it("[CL57] a data folder that cannot be written", async () => {
    const data = readOnlyFolder()
    const file = join(folder(), "file")
    writeFileSync(file, "")
    const up = (path: string) => run(["up", "--json", "--port", "0", "--no-runner", "--data", path])
    const wrong = await up(file)
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/cannot be made .*EEXIST.*--data\n$/)])
    if (data === undefined) return
    const readOnly = await up(data)
    expect(readOnly.code).toBe(1)
    expect(readOnly.stderr).toMatch(
      /: it cannot be written \(EROFS: read-only file system.*Choose another directory with --data\n$/,
    )
  })

  it("[CL57] an address at which no hub answers, or something else does", async () => {
    const url = await webServer()
    const ls = (at: string) => run(["ls"], { env: { SIGNALBOX_URL: at, SIGNALBOX_TOKEN: "sbx_x" } })
    const web = await ls(url)
    expect([web.code, web.stderr]).toEqual([
      1,
      `signalbox: what answers at ${url} is not a hub: it answered /api/sessions with status 404; check the address\n`,
    ])
    const dead = await deadAddress()
    const nobody = await ls(dead)
    expect([nobody.code, nobody.stderr]).toEqual([
      3,
      `signalbox: can't reach the hub at ${dead} (connect ECONNREFUSED ${new URL(dead).host}): check SIGNALBOX_URL, and that the hub is running\n`,
    ])
  })

  it("[CL57] a CLAUDE_BIN that does not exist or is not executable, here and on the runner", async () => {
    const place = folder()
    const [missing, plain] = [join(place, "missing"), join(place, "plain")]
    writeFileSync(plain, "text")
    chmodSync(plain, 0o644)
    for (const [bin, why] of [
      [missing, "does not exist"],
      [plain, "is not executable"],
    ] as const) {
      const ended = await run(["run", "hello"], { env: { CLAUDE_BIN: bin } })
      expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining(`CLAUDE_BIN is ${bin}, which ${why}.`)])
    }
    const hub = await startHub("runner", { env: { CLAUDE_BIN: plain } })
    const refused = await hub.run(["new", "--cwd", place])
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`CLAUDE_BIN is ${plain}, which is not executable.`),
    ])
  })
})
