import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { findRunner } from "@signalbox/runner"
import { describe, expect, it } from "vitest"
import { isWholeRun } from "../../../test/gate.ts"
import { identify, isAlive, type ProcessCard } from "../src/base/process-files.ts"
import { nextRestart } from "../src/runner/local-runner.ts"
import { atEnd, exitOf, folder, run, start, startHub, type TestHub } from "./signalbox-process.ts"

const POLL = { timeout: 60_000, interval: 100 }

async function runners(hub: TestHub): Promise<{ name: string; connected: boolean; agents: number }[]> {
  return (await hub.call("GET", "/api/runners")).runners
}

async function runnerOf(hub: TestHub): Promise<ProcessCard> {
  await expect.poll(async () => (await runners(hub)).filter(({ connected }) => connected).length, POLL).toBe(1)
  return identify((await findRunner(join(hub.data, "runner"))) ?? 0)
}

describe("the runner beside the hub", () => {
  it("[CL14] outlives its hub with its agents, and the next hub of the data directory adopts it", async () => {
    const hub = await startHub("runner")
    const { id } = await hub.json("new", "--agent", "simulator", "--cwd", folder(), "--prompt", "permission please")
    await expect.poll(async () => (await hub.json("asks")).asks.length, POLL).toBe(1)
    const runner = await runnerOf(hub)
    expect(statSync(join(hub.data, "runner-token")).mode & 0o777).toBe(0o600)
    hub.process.child.kill("SIGKILL")
    await exitOf(hub.process)
    const next = await startHub("runner", { data: hub.data })
    expect(await runnerOf(next)).toEqual(runner)
    const { asks } = await next.json("asks")
    expect(asks).toMatchObject([{ sessionId: id, state: "pending" }])
    await next.json("answer", asks[0].id, "allow")
    const state = async () => (await next.json("ls")).sessions[0]?.state
    await expect.poll(state, POLL).toBe("idle")
    next.process.child.kill("SIGTERM")
    expect(await exitOf(next.process)).toBe(0)
    expect(next.process.said()).toContain(
      `1 agent keeps running without the hub; reconnect with "signalbox up --data ${hub.data}"`,
    )
    expect(isAlive(runner)).toBe(true)
  })

  it("[CL15] `down` ends it when it has no agent; with agents only `down --agents` does", async () => {
    const hub = await startHub("runner")
    const first = await runnerOf(hub)
    expect(await hub.json("down")).toEqual({ hub: "stopped", runner: "stopped", agents: 0 })
    expect(isAlive(first)).toBe(false)
    expect(await exitOf(hub.process)).toBe(0)
    const next = await startHub("runner", { data: hub.data })
    const { id } = await next.json("new", "--agent", "simulator", "--cwd", folder())
    await expect.poll(async () => (await next.json("ls")).sessions[0]?.state, POLL).toBe("idle")
    const second = await runnerOf(next)
    const left = await next.run(["down"])
    expect(left.code).toBe(0)
    expect(left.stderr).toContain("Hub stopped.\n1 agent keeps running")
    expect(left.stderr).toContain("signalbox down --agents")
    expect(isAlive(second)).toBe(true)
    expect(await next.json("down", "--agents")).toEqual({ hub: "absent", runner: "stopped", agents: 0 })
    expect(isAlive(second)).toBe(false)
    expect(await next.json("down")).toEqual({ hub: "absent", runner: "absent", agents: 0 })
    // What became of the agent is told to the hub when it is back.
    const last = await startHub("runner", { data: hub.data })
    await expect
      .poll(async () => (await last.json("ls", "--all")).sessions[0], POLL)
      .toMatchObject({ id, state: "ended" })
  })

  it("[CL16] gets a token of its own, and another when that one is revoked", async () => {
    const hub = await startHub("runner")
    await runnerOf(hub)
    const file = join(hub.data, "runner-token")
    const token = readFileSync(file, "utf8")
    const { tokens } = await hub.json("token", "ls")
    const own = tokens.filter(({ role }: { role: string }) => role === "runner")
    expect(own).toHaveLength(1)
    expect((await hub.run(["token", "revoke", own[0].id.slice(0, 8)])).code).toBe(0)
    await hub.json("down")
    const next = await startHub("runner", { data: hub.data })
    await runnerOf(next)
    expect(readFileSync(file, "utf8")).not.toBe(token)
  })

  it.runIf(isWholeRun)(
    "[CL60] is the same machine after its token file was lost, although the old token is still valid",
    async () => {
      const hub = await startHub("runner")
      const { id } = await hub.json("new", "--agent", "simulator", "--cwd", folder())
      const runner = await runnerOf(hub)
      hub.process.child.kill("SIGKILL")
      await exitOf(hub.process)
      rmSync(join(hub.data, "runner-token"))
      const next = await startHub("runner", { data: hub.data })
      expect(await runnerOf(next)).toEqual(runner)
      await next.run(["send", id, "hello"])
      await expect.poll(async () => (await next.json("ls")).sessions[0]?.state, POLL).toBe("idle")
      expect(await runners(next)).toHaveLength(1)
      await next.json("down", "--agents")
      // A fresh process of the runner, which never started an agent, is the same machine too.
      rmSync(join(hub.data, "runner-token"))
      const last = await startHub("runner", { data: hub.data })
      await runnerOf(last)
      expect(await runners(last)).toHaveLength(1)
    },
  )
})

describe("a runner that dies", () => {
  it("[CL37] while its hub lives it is started again, and that is said; its sessions go on", async () => {
    const hub = await startHub("runner")
    const { id } = await hub.json("new", "--agent", "simulator", "--cwd", folder(), "--prompt", "hello")
    const state = async () => (await hub.json("ls", "--all")).sessions[0]?.state
    await expect.poll(state, POLL).toBe("idle")
    const first = await runnerOf(hub)
    process.kill(first.pid, "SIGKILL")
    await expect
      .poll(() => hub.process.said(), POLL)
      .toContain("the runner ended unexpectedly (SIGKILL); restarting it")
    await expect.poll(state, POLL).toBe("ended")
    const second = await runnerOf(hub)
    expect(second).not.toEqual(first)
    // The hub is another's now, and that one adopts the runner: it looks after it all the same.
    hub.process.child.kill("SIGKILL")
    await exitOf(hub.process)
    const next = await startHub("runner", { data: hub.data })
    expect(await runnerOf(next)).toEqual(second)
    const log = () => readFileSync(join(hub.data, "runner.log"), "utf8")
    await expect.poll(log, POLL).toContain("another runner is already running here")
    process.kill(second.pid, "SIGKILL")
    await expect.poll(() => next.process.said(), POLL).toMatch(/the runner ended unexpectedly[^\n]*; restarting it/)
    await expect.poll(async () => (await runners(next))[0]?.connected, POLL).toBe(true)
    expect((await next.run(["send", id, "again"])).code).toBe(0)
    await expect.poll(async () => (await next.json("ls", "--all")).sessions[0]?.state, POLL).toBe("idle")
  })

  it.runIf(isWholeRun)("[CL37] one that was stopped is not started again", async () => {
    const hub = await startHub("runner")
    const runner = await runnerOf(hub)
    process.kill(runner.pid, "SIGTERM")
    await expect.poll(() => hub.process.said(), POLL).toContain("the runner was stopped")
    expect(await findRunner(join(hub.data, "runner"))).toBeUndefined()
    expect(hub.process.said()).not.toContain("restarting")
  })

  it("[CL37] restarts wait longer each time and come to an end, unless it was well in between", () => {
    const delays: number[] = []
    let inARow = 0
    for (let next = nextRestart(0, 10); next !== undefined; next = nextRestart(inARow, 10)) {
      delays.push(next.delayMs)
      inARow = next.inARow
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000])
    expect(nextRestart(inARow, 3_600_000)).toEqual({ inARow: 1, delayMs: 1_000 })
  })
})

describe("a runner for a hub elsewhere", () => {
  it.runIf(isWholeRun)(
    "[CL17] takes its token from a file or a variable, and ends with its agents when it is stopped",
    async () => {
      const hub = await startHub("no-runner")
      const { token } = await hub.json("token", "create", "--role", "runner", "--name", "elsewhere")
      const data = folder()
      const file = join(data, "token")
      writeFileSync(file, `${token}\n`, { mode: 0o600 })
      const flags = ["--hub", hub.url, "--name", "elsewhere", "--label", "big", "--data", data]
      const running = start(["runner", ...flags, "--token-file", file])
      const said = () => running.said()
      await expect.poll(said, POLL).toContain("as elsewhere, up to")
      await expect.poll(() => runners(hub), POLL).toMatchObject([{ name: "elsewhere", connected: true }])
      const { id } = await hub.json("new", "--agent", "simulator", "--runner", "big", "--cwd", data)
      await expect.poll(async () => (await runners(hub))[0]?.agents, POLL).toBe(1)
      running.child.kill("SIGINT")
      expect(await exitOf(running)).toBe(0)
      await expect
        .poll(async () => (await hub.json("ls", "--all")).sessions[0], POLL)
        .toMatchObject({ id, state: "ended" })
      const byVariable = start(["runner", ...flags], { SIGNALBOX_TOKEN: token })
      atEnd(() => byVariable.child.kill("SIGTERM"))
      await expect.poll(() => runners(hub), POLL).toMatchObject([{ name: "elsewhere", connected: true }])
    },
  )

  it.runIf(isWholeRun)("[CL43] one that the hub does not take ends at once, with one line", async () => {
    const hub = await startHub("no-runner")
    const refused = async (token: string) => {
      const flags = ["--hub", hub.url, "--data", folder()]
      const { code, stdout, stderr } = await run(["runner", ...flags], { env: { SIGNALBOX_TOKEN: token } })
      expect([code, stdout]).toEqual([4, ""])
      return stderr
    }
    expect(await refused("sbx_wrong")).toMatch(
      /^signalbox: that token isn't valid on the hub at \S+: [^\n]*signalbox token create --role runner\n$/,
    )
    expect(await refused(hub.token)).toMatch(
      /^signalbox: a runner needs a token with the role runner; this one has admin: [^\n]+\n$/,
    )
  })

  it.runIf(isWholeRun)("[CL61] plain http beyond this machine warns, whatever the name looks like", async () => {
    const warned = async (hub: string) => {
      const running = start(["runner", "--hub", hub, "--data", folder()], { SIGNALBOX_TOKEN: "sbx_none" })
      await expect.poll(() => running.said(), POLL).not.toBe("")
      running.child.kill("SIGKILL")
      await exitOf(running)
      return running.said().includes("is not encrypted: others on the network can read the token and conversations")
    }
    expect(await warned("http://127.0.0.1.nowhere.invalid:9")).toBe(true)
    expect(await warned("ws://nowhere.invalid:9")).toBe(true)
    expect(await warned("https://nowhere.invalid:9")).toBe(false)
    expect(await warned("http://127.0.0.2:9")).toBe(false)
  })

  it("[CL18] says what is missing, and takes no token on the command line", async () => {
    const none = await run(["runner", "--hub", "http://127.0.0.1:9", "--data", folder()])
    expect(none.code).toBe(4)
    expect(none.stderr).toMatch(
      /^signalbox: a runner needs a token: [^\n]*signalbox token create --role runner[^\n]*\n$/,
    )
    const noHub = await run(["runner", "--data", folder()])
    expect([noHub.code, noHub.stderr.includes("--hub is missing")]).toEqual([2, true])
    const inArguments = await run(["runner", "--hub", "http://127.0.0.1:9", "--token", "sbx_secret"])
    expect(inArguments.code).toBe(2)
    const noUrl = await run(["runner", "--hub", "somewhere", "--data", folder()])
    expect(noUrl.code).toBe(2)
  })
})
