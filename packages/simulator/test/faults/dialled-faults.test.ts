import type { ChildTransport } from "@signalbox/transport"
import { describe, expect, it } from "vitest"
import { DialledHost, type HostOptions } from "../support/dialled-host.ts"
import { hello, startSim } from "../support/sim-process.ts"

const ENOUGH = 80 * 1024 * 1024

type Way = "websocket" | "hybrid"

const HYBRID = { CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "1" }

/** A host that says hello to whoever comes first, and an agent with faults that dials it. */
async function dialled(
  way: Way,
  faults: readonly string[],
  options: HostOptions = {},
): Promise<{ host: DialledHost; child: ChildTransport }> {
  let greeted = false
  const host = await DialledHost.open({
    ...options,
    onConnection: async (connection) => {
      if (greeted) return
      greeted = true
      await connection.send(hello)
    },
  })
  const env = { CLAUDE_CODE_SESSION_ACCESS_TOKEN: "a-token", ...(way === "hybrid" ? HYBRID : {}) }
  const flags = ["--profile", "2.1.120", "--sdk-url", host.url("/v1/ws/one"), "--no-session-persistence"]
  const child = await startSim([...flags, ...faults.flatMap((fault) => ["--fault", fault])], { env })
  return { host, child }
}

const has = (host: DialledHost, type: string) => () => host.count(type) > 0

describe.each(["websocket", "hybrid"] as const)("faults on a dialled connection (%s)", (way) => {
  it("[SF6] exit: what came before it has arrived", async () => {
    const { host, child } = await dialled(way, ["exit=4@after:assistant"])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 4 } })
    await host.until(() => host.open === 0, "the end of the connection")
    expect(host.types).toEqual(["system", "assistant"])
  })

  it("[SF9] close: the socket is cut, and dialled again as the version does", async () => {
    const { host } = await dialled(way, ["close@result"])
    await host.until(() => host.upgrades.length === 2, "a second connection")
    await host.until(has(host, "result"), "the result")
    expect(host.upgrades.map(({ url }) => url)).toEqual(["/v1/ws/one", "/v1/ws/one"])
  })

  it("[SF7] hang: the connection stays, nothing comes, and TERM ends it", async () => {
    const { host, child } = await dialled(way, ["hang@result"])
    await host.until(has(host, "assistant"), "the assistant's message")
    expect(host.open).toBe(1)
    child.kill("SIGTERM")
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 143 } })
    expect(host.types).toEqual(["system", "assistant"])
  })

  it("[SF10] duplicate, and a long line", async () => {
    const { host } = await dialled(way, ["duplicate@assistant", "long=4MB@result"])
    await host.until(has(host, "result"), "the result")
    expect(host.types).toEqual(["system", "assistant", "assistant", "keep_alive", "result"])
    expect(host.lines[3]).toHaveLength(4 * 1024 * 1024)
  })

  it("[SF11] delay and late", async () => {
    const { host } = await dialled(way, ["late=300@assistant", "delay=100@result"])
    await host.until(has(host, "assistant"), "the late message")
    expect(host.types).toEqual(["system", "result", "assistant"])
  })

  it("[SF12] flood", async () => {
    const { host } = await dialled(way, ["flood=20000@assistant"])
    await host.until(has(host, "result"), "the result")
    expect(host.lines.filter((line) => line.includes('"content_block_delta"'))).toHaveLength(20_000)
  })
})

describe("faults that are no messages", () => {
  it("[SF10] half and rubbish come through a WebSocket as lines that are none", async () => {
    const { host } = await dialled("websocket", ["half@assistant", "rubbish=300@result"])
    await host.until(has(host, "result"), "the result")
    expect(host.types).toEqual(["system", "no message", "no message", "result"])
    expect(host.lines[1]).toMatch(/^\{"type":"assistant"/)
    expect(host.lines[2]).toHaveLength(300)
  })

  it("[SF10] a line of 64 MB comes through a WebSocket that takes it", async () => {
    const { host } = await dialled("websocket", ["long@result"], { maxPayloadBytes: ENOUGH, maxLineBytes: ENOUGH })
    await host.until(has(host, "keep_alive"), "the long line")
    expect(host.lines[host.types.indexOf("keep_alive")]?.length).toBe(64 * 1024 * 1024)
  })

  it("[SF10] where messages are posted they cannot happen, and that is said", async () => {
    const { child } = await dialled("hybrid", ["half@assistant"])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 1 } })
    expect(child.stderrTail()).toContain("the fault half@assistant cannot happen here")
  })
})
