import { JsonRpcMessage, McpServerConfig, McpServerStatus } from "@signalbox/protocol/schemas"
import { describe, expect, expectTypeOf, test } from "vitest"

describe("an MCP server's configuration", () => {
  test.each([
    { command: "node", args: ["./server.js"], env: { A: "1" } },
    { type: "stdio", command: "node" },
    { type: "sse", url: "http://127.0.0.1/sse", headers: { authorization: "x" } },
    { type: "http", url: "http://127.0.0.1/mcp" },
    { type: "sdk", name: "local-tools" },
    { type: "carrier-pigeon", loft: "north" },
  ])("validates: %j", (config) => {
    expect(McpServerConfig.parse({ ...config, alwaysLoad: true })).toEqual({ ...config, alwaysLoad: true })
  })

  test.each([{}, { type: "stdio" }, { type: "http" }, { type: "sdk" }, { command: 5 }])(
    "without what its kind needs is refused: %j",
    (config) => {
      expect(McpServerConfig.safeParse(config).success).toBe(false)
    },
  )

  test("narrows to its kind", () => {
    const config = McpServerConfig.parse({ type: "http", url: "http://127.0.0.1/mcp" })
    if (config.type !== "http") throw new Error("not narrowed")
    expectTypeOf(config.url).toEqualTypeOf<string>()
  })
})

test("a server's status keeps a state and a configuration that we do not know", () => {
  const status = {
    name: "x",
    status: "hibernating",
    serverInfo: { name: "x", version: "1" },
    config: { type: "claudeai-proxy", id: "1" },
    scope: "dynamic",
    tools: [{ name: "t", annotations: { readOnly: true } }],
  }
  expect(McpServerStatus.parse(status)).toEqual(status)
  expect(McpServerStatus.safeParse({ name: "x" }).success).toBe(false)
})

test("a JSON-RPC message may be a request, a notification, a result or an error", () => {
  for (const message of [
    { jsonrpc: "2.0", id: 0, method: "initialize", params: {} },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 1, result: { tools: [] } },
    { jsonrpc: "2.0", id: null, error: { code: -32600, message: "bad" } },
  ]) {
    expect(JsonRpcMessage.parse(message)).toEqual(message)
  }
  expect(JsonRpcMessage.safeParse({ method: "x" }).success).toBe(false)
})
