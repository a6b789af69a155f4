import { once } from "node:events"
import { createServer } from "node:http"
import { describe, expect, it } from "vitest"
import { atEnd, deadAddress, environment, exitOf, folder, run, start, startHub } from "./signalbox-process.ts"

const POLL = { timeout: 60_000, interval: 100 }

describe("a hub or a machine that is away", () => {
  it("[CL50] a runner says that its hub does not answer, serves it when it comes, and exits 3 if it never did", async () => {
    const hub = await startHub("no-runner")
    const { token } = await hub.json("token", "create", "--role", "runner")
    const dead = await deadAddress()
    const lost = start(["runner", "--hub", dead, "--data", folder()], { SIGNALBOX_TOKEN: token })
    await expect.poll(() => lost.said(), POLL).toContain(`Can't reach the hub at ${dead} (connect ECONNREFUSED`)
    lost.child.kill("SIGTERM")
    expect(await exitOf(lost)).toBe(3)
    expect(lost.said()).not.toContain("Connected to")
    const found = start(["runner", "--hub", hub.url, "--data", folder()], { SIGNALBOX_TOKEN: token })
    await expect.poll(() => found.said(), POLL).toContain(`Connected to ${hub.url}`)
    found.child.kill("SIGTERM")
    expect(await exitOf(found)).toBe(0)
  })

  it("[CL50] a runner does not take a web server for a hub", async () => {
    const server = createServer((_, reply) => void reply.end("<h1>It works</h1>")).listen(0, "127.0.0.1")
    await once(server, "listening")
    atEnd(() => server.close())
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    const ended = await run(["runner", "--hub", url, "--data", folder()], { env: { SIGNALBOX_TOKEN: "sbx_x" } })
    expect([ended.code, ended.stderr]).toEqual([1, `signalbox: ${url} is not a hub: give --hub a hub's address\n`])
  })

  it("[CL51] send says that a message waits for a machine that is away", async () => {
    const hub = await startHub("no-runner")
    const { token } = await hub.json("token", "create", "--role", "runner")
    const runner = start(["runner", "--hub", hub.url, "--name", "attic", "--data", folder()], {
      SIGNALBOX_TOKEN: token,
    })
    await expect.poll(() => runner.said(), POLL).toContain("Connected to")
    const { id } = await hub.json("new", "--agent", "simulator", "--cwd", folder())
    const state = async () => (await hub.call("GET", `/api/sessions/${id}`)).state
    await expect.poll(state, POLL).toBe("idle")
    expect((await hub.run(["send", id, "one"])).stderr).toBe("")
    await expect.poll(async () => (await hub.call("GET", `/api/sessions/${id}`)).turns, POLL).toBe(1)
    runner.child.kill("SIGKILL")
    await expect.poll(state, POLL).toBe("disconnected")
    const sent = await hub.run(["send", id, "two"])
    expect(sent.stderr).toMatch(/^The message is queued: the machine attic is not connected \(last seen .* ago\)\. /)
    expect(await hub.json("send", id, "three")).toMatchObject({ waitsFor: expect.stringContaining("attic") })
  })

  it("[CL52] down stops no hub of this machine while SIGNALBOX_URL names another", async () => {
    const hub = await startHub("no-runner")
    const elsewhere = { ...environment(), SIGNALBOX_DATA: hub.data, SIGNALBOX_URL: "http://10.0.0.5:8765" }
    for (const more of [[], ["--agents"]]) {
      const refused = await run(["down", ...more], { env: elsewhere })
      expect(refused.code).toBe(2)
      expect(refused.stderr).toContain(
        "SIGNALBOX_URL is http://10.0.0.5:8765, and down stops only a hub on this machine",
      )
      expect(refused.stderr).toContain(`"signalbox ${["down", ...more].join(" ")} --data ${hub.data}"`)
    }
    expect(hub.process.child.exitCode).toBeNull()
    const here = { ...elsewhere, SIGNALBOX_URL: hub.url.replace("127.0.0.1", "localhost") }
    expect((await run(["down"], { env: here })).stderr).toContain("Hub stopped.")
    expect((await run(["down", "--data", hub.data], { env: elsewhere })).code).toBe(0)
  })

  it("[HA58] the last admin token cannot be revoked, and the error says how to replace it", async () => {
    const hub = await startHub("no-runner")
    const { tokens } = await hub.json("token", "ls")
    const [own] = tokens.filter(({ role }: { role: string }) => role === "admin")
    const refused = await hub.run(["token", "revoke", own.id])
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/last admin token.*Make another admin token first/),
    ])
    const soon = new Date(Date.now() + 60_000).toISOString()
    await hub.json("token", "create", "--role", "admin", "--expires", soon)
    expect((await hub.run(["token", "revoke", own.id])).code).toBe(0)
  })
})
