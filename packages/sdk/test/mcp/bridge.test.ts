import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { ListRootsResultSchema } from "@modelcontextprotocol/sdk/types.js"
import type { JsonRpcMessage } from "@signalbox/protocol"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createMcpBridge } from "../../src/mcp/bridge.ts"
import { createSdkMcpServer, tool } from "../../src/mcp/sdk-mcp-server.ts"

const request = (id: number | string, method: string, params: Record<string, unknown> = {}): JsonRpcMessage => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
})

const initialize = (id: number, capabilities: Record<string, unknown> = {}) =>
  request(id, "initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "t", version: "1" } })
const initialized: JsonRpcMessage = { jsonrpc: "2.0", method: "notifications/initialized" }
const call = (id: number | string, name: string, args: unknown = {}, meta = {}) =>
  request(id, "tools/call", { name, arguments: args, _meta: meta })
const text = (text: string) => ({ content: [{ type: "text" as const, text }] })

interface Door {
  readonly opened: Promise<void>
  open(): void
}

function door(): Door {
  let open = () => undefined as void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

function makeBridge(server: Parameters<typeof createMcpBridge>[0]["server"], name = "test") {
  const said: JsonRpcMessage[] = []
  const waiting: (() => void)[] = []
  const sendToAgent = (message: JsonRpcMessage) => {
    said.push(message)
    for (const wake of waiting.splice(0)) wake()
  }
  const bridge = createMcpBridge({ name, server, sendToAgent })
  const untilSaid = async (count: number) => {
    while (said.length < count) await new Promise<void>((wake) => waiting.push(wake))
    return said
  }
  return { ...bridge, said, untilSaid }
}

describe("the bridge to a server in this process", () => {
  it("[K3] answers each request under its own id, whichever ends first", async () => {
    const slow = door()
    const { instance } = createSdkMcpServer({
      name: "s",
      tools: [
        tool("slow", "S", {}, async () => {
          await slow.opened
          return text("slow")
        }),
        tool("fast", "F", { n: z.number() }, async ({ n }) => text(`fast ${n}`)),
      ],
    })
    const bridge = makeBridge(instance)
    await bridge.receive(initialize(0))
    const first = bridge.receive(call(1, "slow"))
    expect(await bridge.receive(call("two", "fast", { n: 2 }))).toMatchObject({ id: "two", result: text("fast 2") })
    slow.open()
    expect(await first).toMatchObject({ id: 1, result: text("slow") })
    await bridge.close()
  })

  it("[K4] takes notifications without an answer, and hands on the server's own", async () => {
    const { instance } = createSdkMcpServer({ name: "s", tools: [tool("a", "A", {}, async () => text("a"))] })
    const bridge = makeBridge(instance)
    await bridge.receive(initialize(0))
    expect(await bridge.receive(initialized)).toBeUndefined()
    instance.registerTool("b", {}, async () => text("b"))
    expect(await bridge.untilSaid(1)).toMatchObject([{ method: "notifications/tools/list_changed" }])
    await bridge.close()
  })

  it("[K4] hands on the server's requests, and takes their answers", async () => {
    const server = new McpServer({ name: "s", version: "1" })
    server.registerTool("roots", {}, async () => {
      const { roots } = await server.server.request({ method: "roots/list" }, ListRootsResultSchema)
      return text(roots.map(({ uri }) => uri).join())
    })
    const bridge = makeBridge(server)
    await bridge.receive(initialize(0, { roots: {} }))
    const answer = bridge.receive(call(1, "roots"))
    const [asked] = await bridge.untilSaid(1)
    expect(asked).toMatchObject({ method: "roots/list" })
    const roots = { jsonrpc: "2.0" as const, id: asked?.id, result: { roots: [{ uri: "file:///x" }] } }
    expect(await bridge.receive(roots)).toBeUndefined()
    expect(await answer).toMatchObject({ id: 1, result: text("file:///x") })
    await bridge.close()
  })

  it("[K4] reports progress under the token of the call, and a cancelled call aborts its signal", async () => {
    const aborted = door()
    const server = new McpServer({ name: "s", version: "1" })
    server.registerTool("work", {}, async (extra) => {
      const { _meta: meta } = extra
      const progressToken = meta?.progressToken ?? "none"
      await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress: 1 } })
      if (extra.signal.aborted) aborted.open()
      extra.signal.addEventListener("abort", () => aborted.open())
      await aborted.opened
      return text("never told")
    })
    const bridge = makeBridge(server)
    await bridge.receive(initialize(0))
    const answer = bridge.receive(call(7, "work", {}, { progressToken: 7 }))
    expect(await bridge.untilSaid(1)).toMatchObject([
      { method: "notifications/progress", params: { progressToken: 7, progress: 1 } },
    ])
    await bridge.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } })
    await aborted.opened
    expect(await answer).toMatchObject({ id: 7, error: { message: "The call was cancelled" } })
    await bridge.close()
  })

  it("[K5] a server that never answers is bounded by closing", async () => {
    for (const connect of [async () => undefined, () => new Promise<void>(() => undefined)]) {
      const bridge = makeBridge({ connect })
      const answers = [bridge.receive(initialize(0)), bridge.receive(call(1, "x"))]
      expect(await bridge.receive(initialized)).toBeUndefined()
      await bridge.close()
      await bridge.close()
      expect(await Promise.all(answers)).toMatchObject([
        { id: 0, error: { code: -32000 } },
        { id: 1, error: { code: -32000 } },
      ])
      expect(await bridge.receive(call(2, "x"))).toMatchObject({ id: 2, error: { code: -32000 } })
      expect(await bridge.receive(initialized)).toBeUndefined()
    }
  })

  it("[K5] a server that cannot be connected says so in the answer, and is tried again", async () => {
    let tries = 0
    const bridge = makeBridge({
      connect: async () => {
        tries++
        throw new Error("no room")
      },
    })
    expect(await bridge.receive(initialize(0))).toMatchObject({
      id: 0,
      error: { message: expect.stringContaining("no room") },
    })
    expect(await bridge.receive(initialized)).toBeUndefined()
    expect(await bridge.receive(initialize(1))).toMatchObject({ id: 1, error: { code: -32603 } })
    expect(tries).toBeGreaterThan(1)
    await bridge.close()
    const thrower = makeBridge({
      connect: () => {
        throw new Error("at once")
      },
    })
    expect(await thrower.receive(initialize(0))).toMatchObject({
      error: { message: expect.stringContaining("at once") },
    })
  })

  it("[K6] a server can be used by one query after another", async () => {
    const { instance } = createSdkMcpServer({ name: "s", tools: [tool("a", "A", {}, async () => text("a"))] })
    for (let round = 0; round < 3; round++) {
      const bridge = makeBridge(instance)
      expect(await bridge.receive(initialize(0))).toMatchObject({ id: 0, result: { serverInfo: { name: "s" } } })
      expect(await bridge.receive(call(1, "a"))).toMatchObject({ result: text("a") })
      await bridge.close()
      expect(instance.isConnected()).toBe(false)
    }
  })

  it("[K6] a server can be used by two queries at once, which use the same ids; the official SDK loses it for the second", async () => {
    const gate = door()
    const { instance } = createSdkMcpServer({
      name: "s",
      tools: [
        tool("who", "W", { me: z.string() }, async ({ me }) => {
          await gate.opened
          return text(me)
        }),
      ],
    })
    const [one, two] = [makeBridge(instance), makeBridge(instance)]
    await Promise.all([one.receive(initialize(0)), two.receive(initialize(0))])
    const answers = [one.receive(call(1, "who", { me: "one" })), two.receive(call(1, "who", { me: "two" }))]
    gate.open()
    expect(await Promise.all(answers)).toMatchObject([
      { id: 1, result: text("one") },
      { id: 1, result: text("two") },
    ])
    await one.close()
    expect(await two.receive(call(2, "who", { me: "still" }))).toMatchObject({ id: 2, result: text("still") })
    instance.registerTool("late", {}, async () => text("late"))
    expect(await two.untilSaid(1)).toMatchObject([{ method: "notifications/tools/list_changed" }])
    expect(one.said).toEqual([])
    await two.close()
    expect(instance.isConnected()).toBe(false)
  })

  it("[K6] progress of two queries with the same token goes to each its own", async () => {
    const server = new McpServer({ name: "s", version: "1" })
    const both = door()
    let running = 0
    server.registerTool("work", { inputSchema: { me: z.number() } }, async ({ me }, extra) => {
      if (++running === 2) both.open()
      await both.opened
      const { _meta: meta } = extra
      const progressToken = meta?.progressToken ?? "none"
      await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress: me } })
      return text("done")
    })
    const bridges = [makeBridge(server), makeBridge(server)]
    for (const bridge of bridges) await bridge.receive(initialize(0))
    await Promise.all(bridges.map((bridge, me) => bridge.receive(call(1, "work", { me }, { progressToken: 1 }))))
    for (const [me, bridge] of bridges.entries()) {
      expect(bridge.said).toMatchObject([{ params: { progressToken: 1, progress: me } }])
      await bridge.close()
    }
  })

  it("[K5] a server that hangs up settles what is open, and the next message connects it again", async () => {
    const { instance } = createSdkMcpServer({
      name: "s",
      tools: [
        tool("leave", "L", {}, async () => {
          await instance.close()
          return text("gone")
        }),
      ],
    })
    const bridge = makeBridge(instance)
    await bridge.receive(initialize(0))
    expect(await bridge.receive(call(1, "leave"))).toMatchObject({ id: 1, error: { code: -32000 } })
    expect(await bridge.receive(initialize(2))).toMatchObject({ id: 2, result: {} })
    await bridge.close()
  })

  it("[K5] an agent that is gone does not trouble a server that notifies", async () => {
    const { instance } = createSdkMcpServer({ name: "s", tools: [tool("a", "A", {}, async () => text("a"))] })
    const bridge = createMcpBridge({
      name: "s",
      server: instance,
      sendToAgent: () => Promise.reject(new Error("the agent is gone")),
    })
    await bridge.receive(initialize(0))
    // Sent without waiting: a rejection would be reported as unhandled and fail this run.
    instance.registerTool("b", {}, async () => text("b"))
    expect(await bridge.receive(call(1, "b"))).toMatchObject({ result: text("b") })
    await bridge.close()
  })
})
