import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, it } from "vitest"

const COMMAND = join(dirname(dirname(fileURLToPath(import.meta.url))), "bin/signalbox.mjs")

interface Running {
  readonly child: ChildProcess
  readonly lines: string[]
  readonly said: () => string
}

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "signalbox-up-"))
  cleanUps.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function run(...args: string[]): Running {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ["ignore", "pipe", "pipe"] })
  cleanUps.push(() => child.kill("SIGKILL"))
  const lines: string[] = []
  let text = ""
  createInterface({ input: child.stdout }).on("line", (line) => void lines.push(line))
  child.stderr.on("data", (data: Buffer) => {
    text += data.toString()
  })
  return { child, lines, said: () => text }
}

async function ready(
  running: Running,
): Promise<{ url: string; token: string; data: string; pid: number; event: string }> {
  await expect.poll(() => running.lines.length, { timeout: 20_000 }).toBe(1)
  return JSON.parse(running.lines[0] ?? "")
}

async function exitOf({ child }: Running): Promise<number | null> {
  if (child.exitCode === null) await once(child, "exit")
  return child.exitCode
}

describe("signalbox up", () => {
  it("[CL1] prints one line of JSON when ready [CL2] and stops cleanly", async () => {
    const data = folder()
    const running = run("up", "--json", "--port", "0", "--data", data)
    const told = await ready(running)
    expect(told).toMatchObject({ event: "ready", data, pid: running.child.pid })
    const reply = await fetch(`${told.url}/api/me`, { headers: { authorization: `Bearer ${told.token}` } })
    expect(await reply.json()).toMatchObject({ role: "admin" })
    running.child.kill("SIGTERM")
    expect(await exitOf(running)).toBe(0)
    expect(running.lines).toHaveLength(1)
  })

  it("[CL3] one hub per data directory, and none after a kill", async () => {
    const data = folder()
    const first = run("up", "--json", "--port", "0", "--data", data)
    const { url, pid } = await ready(first)
    const second = run("up", "--json", "--port", "0", "--data", data)
    expect(await exitOf(second)).toBe(1)
    expect(second.said()).toContain(`${url}, pid ${pid}`)
    first.child.kill("SIGKILL")
    await exitOf(first)
    await ready(run("up", "--json", "--port", "0", "--data", data))
  })

  it("[CL4] a port that was asked for and is taken is an error", async () => {
    const server = createServer()
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    cleanUps.push(() => server.close())
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const running = run("up", "--json", "--port", String(port), "--data", folder())
    expect(await exitOf(running)).toBe(1)
    expect(running.said()).toContain(`Port ${port} is taken`)
  })

  it("[CL5] wrong usage exits 2 and says what to do", async () => {
    const wrongPort = run("up", "--port", "many", "--data", folder())
    expect(await exitOf(wrongPort)).toBe(2)
    expect(wrongPort.said()).toBe("signalbox: --port many: give a number from 0 to 65535\n")
    const wrongOption = run("up", "--prot", "1")
    expect(await exitOf(wrongOption)).toBe(2)
    expect(wrongOption.said()).toContain("--port")
    const exposed = run("up", "--host", "0.0.0.0", "--port", "0", "--data", folder())
    expect(await exitOf(exposed)).toBe(1)
    expect(exposed.said()).toContain("--i-understand-plaintext")
  })

  it("[CL6] the data directory and the token are the owner's alone, and stay", async () => {
    const data = join(folder(), "made")
    const first = run("up", "--json", "--port", "0", "--data", data)
    const { token } = await ready(first)
    expect(statSync(data).mode & 0o777).toBe(0o700)
    expect(statSync(join(data, "admin-token")).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(data, "admin-token"), "utf8").trim()).toBe(token)
    first.child.kill("SIGTERM")
    await exitOf(first)
    expect((await ready(run("up", "--json", "--port", "0", "--data", data))).token).toBe(token)
  })
})
