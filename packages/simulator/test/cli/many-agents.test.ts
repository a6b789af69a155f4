import { type AddressInfo, createServer } from "node:net"
import { textOf } from "@signalbox/protocol"
import { describe, expect, it, onTestFinished } from "vitest"
import { simulatedAgents } from "../../../../test/gate.ts"
import { addressOf } from "../../src/cli/many-agents.ts"
import { DialledHost } from "../support/dialled-host.ts"
import { hello, startSim } from "../support/sim-process.ts"

/** What one agent may take, over what the process takes by itself. */
const MEGABYTES_AT_REST = 150
const MEGABYTES_EACH = 0.5

function idsOf(host: DialledHost, type: string): Set<string | undefined> {
  return new Set(
    host.lines.filter((_, at) => host.types[at] === type).map((line) => textOf(JSON.parse(line), "session_id")),
  )
}

describe("many agents in one process", () => {
  it("[SF14] each has its own address, connection and session, and all end when they are sent home", async () => {
    const count = simulatedAgents
    const host = await DialledHost.open({ onConnection: (connection) => connection.send(hello) })
    const child = await startSim(["--agents", String(count), "--sdk-url", host.url("/v1/ws/load-{n}?a=b")])
    await host.until(() => host.count("result") === count, `${count} results`)
    expect(host.open).toBe(count)
    expect(idsOf(host, "result").size).toBe(count)
    const urls = Array.from({ length: count }, (_, at) => `/v1/ws/load-${at + 1}?a=b`)
    expect(host.upgrades.map(({ url }) => url).toSorted()).toEqual(urls.toSorted())
    await host.sendHome()
    expect((await child.closed).error).toBeUndefined()
    const [, connected, megabytes] = /(\d+) connected.*at most (\d+) MB/.exec(child.stderrTail()) ?? []
    expect(child.stderrTail()).toContain(`${count} agents, ${count} connected, ended: ${count} with exit code 0.`)
    expect(Number(connected)).toBe(count)
    expect(Number(megabytes)).toBeLessThan(MEGABYTES_AT_REST + MEGABYTES_EACH * count)
  })

  it("[SF14] TERM ends them all", async () => {
    const host = await DialledHost.open()
    const child = await startSim(["--agents", "20", "--sdk-url", host.url("/v1/ws")])
    await host.until(() => host.open === 20, "20 connections")
    child.kill("SIGTERM")
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 1 } })
    await host.until(() => host.open === 0, "the end of all connections")
    expect(child.stderrTail()).toContain("ended: 20 with exit code 143.")
  })

  it("[SF15] a fault ends the agent it happens to, and not the others", async () => {
    const host = await DialledHost.open({
      // Only the agent with an odd number is spoken to, so only it comes to its first line.
      onConnection: (connection, { url }) => (/[13579]$/.test(url) ? connection.send(hello) : undefined),
    })
    const child = await startSim(["--agents", "6", "--sdk-url", host.url("/v1/ws"), "--fault", "exit=5@after:result"])
    await host.until(() => host.count("result") === 3 && host.open === 3, "three results, and three that are left")
    await host.sendHome()
    await child.closed
    expect(child.stderrTail()).toContain("6 agents, 6 connected, ended: 3 with exit code 0, 3 with exit code 5.")
  })

  it("[SF14] who never got in is told at the end, with the reason", async () => {
    const nobody = ["--agents", "2", "--profile", "2.1.37", "--sdk-url", "ws://127.0.0.1:1/v1/ws/{n}"]
    const child = await startSim(nobody)
    await child.closed
    expect(child.stderrTail()).toMatch(/claude-sim: 2 never connected: gave up .*ECONNREFUSED/)
  })

  it("[SF14] those that still try are ended at once, and were refused by nobody", async () => {
    let tries = 0
    const server = createServer((socket) => {
      tries++
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo // it listens on a port
    // 2.1.120 tries for ten minutes.
    const child = await startSim(["--agents", "2", "--sdk-url", `ws://127.0.0.1:${port}/v1/ws/{n}`])
    await expect.poll(() => tries, { timeout: 30_000 }).toBeGreaterThan(1)
    child.kill("SIGTERM")
    await child.closed
    expect(child.stderrTail()).toContain("2 agents, 0 connected, ended: 2 with exit code 143.")
    expect(child.stderrTail()).not.toContain("never connected")
  })

  it("[SF14] what cannot be is refused", async () => {
    const onStdio = await startSim(["--agents", "5", "--verbose", "--output-format", "stream-json"])
    expect((await onStdio.closed).error).toMatchObject({ details: { exitCode: 1 } })
    expect(onStdio.stderrTail()).toContain("--agents N needs --sdk-url")
    const resumed = await startSim(["--agents", "5", "--sdk-url", "ws://127.0.0.1:9/x", "--resume", "a"])
    expect((await resumed.closed).error).toMatchObject({ details: { exitCode: 1 } })
    expect(resumed.stderrTail()).toContain("--agents N plays new sessions")
  })

  it("[SF14] the number stands where {n} is, or at the end of the path", () => {
    expect(addressOf("ws://h/a/{n}?b={n}", 7)).toBe("ws://h/a/7?b=7")
    expect(addressOf("ws://h/a?b=c", 7)).toBe("ws://h/a/7?b=c")
    expect(addressOf("ws://h/a/", 7)).toBe("ws://h/a/7")
    expect(addressOf("ws://h", 7)).toBe("ws://h/7")
  })
})
