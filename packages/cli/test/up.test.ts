import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { atEnd, exitOf, folder, ready, run, start } from "./signalbox-process.ts"

const QUIET = ["--json", "--no-runner", "--port", "0"]

describe("signalbox up", () => {
  it("[CL1] prints one line of JSON when ready [CL2] and stops cleanly", async () => {
    const data = folder()
    const running = start(["up", ...QUIET, "--data", data])
    const told = await ready(running)
    expect(told).toMatchObject({ event: "ready", data, pid: running.child.pid })
    const reply = await fetch(`${told.url}/api/me`, { headers: { authorization: `Bearer ${told.token}` } })
    expect(await reply.json()).toMatchObject({ role: "admin" })
    running.child.kill("SIGTERM")
    expect(await exitOf(running)).toBe(0)
    expect(running.lines).toHaveLength(1)
    expect(existsSync(join(data, "hub.json"))).toBe(false)
  })

  it("[CL3] one hub per data directory, and none after a kill", async () => {
    const data = folder()
    const first = start(["up", ...QUIET, "--data", data])
    const { url, pid } = await ready(first)
    const second = start(["up", ...QUIET, "--data", data])
    expect(await exitOf(second)).toBe(1)
    expect(second.said()).toContain(`${url}, pid ${pid}`)
    first.child.kill("SIGKILL")
    await exitOf(first)
    await ready(start(["up", ...QUIET, "--data", data]))
  })

  it("[JL30] a damaged write-ahead log is told in one line, and the hub does not start without what it held", async () => {
    const data = folder()
    const first = start(["up", ...QUIET, "--data", data])
    await ready(first)
    first.child.kill("SIGKILL")
    await exitOf(first)
    const file = join(data, "signalbox.db-wal")
    const bytes = readFileSync(file)
    bytes.fill(0, 0, 64)
    writeFileSync(file, bytes)
    const second = await run(["up", ...QUIET, "--data", data])
    expect([second.code, second.stdout]).toEqual([1, ""])
    expect(second.stderr).toMatch(
      /^signalbox: The write-ahead log \S+ is damaged at byte 0, [^\n]*Restore a backup[^\n]*\n$/,
    )
    expect(readFileSync(file).equals(bytes)).toBe(true)
  })

  it("[CL62] a proxy is named by its address or network, and anything else is wrong usage", async () => {
    const flags = ["up", ...QUIET, "--data", folder(), "--trusted-proxy"]
    const wrong = await run([...flags, "proxy.example.org"])
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(/^signalbox: --trusted-proxy proxy\.example\.org: give [^\n]+\n$/),
    ])
    const running = start([...flags, "127.0.0.1", "--trusted-proxy", "10.0.0.0/8"])
    const { url, token } = await ready(running)
    const guess = async (from: string, secret = "sbx_wrong") => {
      const headers = { "content-type": "application/json", "x-forwarded-for": from }
      const body = JSON.stringify({ token: secret })
      return (await fetch(`${url}/api/login`, { method: "POST", headers, body })).status
    }
    for (let count = 0; count < 10; count++) expect(await guess("192.0.2.1")).toBe(401)
    expect([await guess("192.0.2.1"), await guess("192.0.2.2")]).toEqual([429, 401])
    expect(await guess("192.0.2.1", token)).toBe(200)
  })

  it("[CL4] a port that was asked for and is taken is an error", async () => {
    const server = createServer()
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    atEnd(() => server.close())
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const ended = await run(["up", "--json", "--no-runner", "--port", String(port), "--data", folder()])
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain(`Port ${port} is taken`)
  })

  it("[CL5] wrong usage exits 2 and says what to do", async () => {
    const wrongPort = await run(["up", "--port", "many", "--data", folder()])
    expect(wrongPort).toMatchObject({ code: 2, stderr: "signalbox: --port many: must be from 0 to 65535\n" })
    const wrongOption = await run(["up", "--prot", "1"])
    expect(wrongOption.code).toBe(2)
    expect(wrongOption.stderr).toContain("--port")
    const noUrl = await run(["up", "--public-url", "nope", "--port", "0", "--no-runner", "--data", folder()])
    expect([noUrl.code, noUrl.stderr]).toEqual([
      2,
      expect.stringMatching(/^signalbox: --public-url nope: give [^\n]+\n$/),
    ])
    const exposed = await run(["up", "--host", "0.0.0.0", "--port", "0", "--no-runner", "--data", folder()])
    expect(exposed.code).toBe(1)
    expect(exposed.stderr).toContain("--i-understand-plaintext")
  })

  it.runIf(existsSync("/proc/self"))(
    "[CL5] a data directory that cannot be made is told, and not tried for ever",
    async () => {
      const ended = await run(["up", "--json", "--no-runner", "--port", "0", "--data", "/proc/signalbox/data"])
      expect(ended.code).toBe(1)
      expect(ended.stderr).toMatch(/^signalbox: can't create \/proc\/signalbox\/data [^\n]*--data\n$/)
    },
  )

  it("[CL6] the data directory and the token are the owner's alone, and stay", async () => {
    const data = join(folder(), "made")
    const first = start(["up", ...QUIET, "--data", data])
    const { token } = await ready(first)
    expect(statSync(data).mode & 0o777).toBe(0o700)
    expect(statSync(join(data, "admin-token")).mode & 0o777).toBe(0o600)
    expect(statSync(join(data, "hub.json")).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(data, "admin-token"), "utf8").trim()).toBe(token)
    first.child.kill("SIGTERM")
    await exitOf(first)
    expect((await ready(start(["up", ...QUIET, "--data", data]))).token).toBe(token)
  })

  it("[CL7] without --json it greets in five lines, and opens a browser where there is a display", async () => {
    const place = folder()
    const opened = join(place, "opened")
    mkdirSync(join(place, "bin"))
    writeFileSync(join(place, "bin/xdg-open"), `#!/bin/sh\necho "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`)
    chmodSync(join(place, "bin/xdg-open"), 0o755)
    const env = { PATH: `${join(place, "bin")}:${process.env["PATH"] ?? ""}`, DISPLAY: ":0" }
    const running = start(["up", "--no-runner", "--port", "0", "--data", join(place, "data")], env)
    await expect.poll(() => existsSync(opened), { timeout: 30_000 }).toBe(true)
    const login = readFileSync(opened, "utf8").trim()
    const greeting = running
      .said()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("{"))
    expect(greeting).toHaveLength(5)
    expect(greeting[0]).toMatch(/^Hub running at http:\/\/127\.0\.0\.1:\d+, without a runner\. Ctrl-C stops it\.$/)
    expect(greeting.join("\n")).toContain(login)
    expect(login).toMatch(/\/login#code=[\w-]{16,}$/)
    expect(running.lines).toEqual([])
    const code = new URL(login).hash.replace("#code=", "")
    const signedIn = await fetch(new URL("/api/login", login), { method: "POST", body: JSON.stringify({ code }) })
    expect(signedIn.status).toBe(200)
    running.child.kill("SIGINT")
    expect(await exitOf(running)).toBe(0)
  })
})
