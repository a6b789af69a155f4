import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createSdkMcpServer, type McpServerConfig, query, tool } from "../../src/index.ts"
import { fakeAgent, hear, result } from "../fake-agent.ts"

const greet = tool("greet", "Greets", { name: z.string() }, async () => ({ content: [] }))

async function firstRequest(mcpServers: Record<string, McpServerConfig>) {
  const agent = fakeAgent([{ until: "user" }, { say: result() }], { mcpServers })
  await hear(query({ prompt: "hello", options: agent.options }))
  const [first, second] = agent.log().flatMap(({ line }) => (line === undefined ? [] : [line]))
  return { request: first?.request ?? {}, second: second?.type }
}

describe("servers of this process in the first request", () => {
  it("[K11] what a server has to offer is told with the first line", async () => {
    const { request, second } = await firstRequest({
      hello: createSdkMcpServer({ name: "hello", version: "2.0.0", tools: [greet], timeout: 4_000 }),
    })
    expect(request).toMatchObject({
      subtype: "initialize",
      sdkMcpServers: ["hello"],
      sdkMcpServerConfigs: { hello: { timeout: 4_000 } },
      sdkMcpServerManifests: {
        hello: {
          initializeResult: { serverInfo: { name: "hello", version: "2.0.0" } },
          toolsListResult: { tools: [{ name: "greet", description: "Greets" }] },
        },
      },
    })
    expect(second).toBe("user")
  })

  it("[K11] a server that does not answer, or fails, holds nothing up and is named all the same", async () => {
    const silent = { type: "sdk", name: "silent", instance: { connect: async () => undefined } } as const
    const failing = {
      type: "sdk",
      name: "failing",
      instance: { connect: () => Promise.reject(new Error("no")) },
    } as const
    const { request, second } = await firstRequest({ silent, failing })
    expect(request["sdkMcpServers"]).toEqual(["silent", "failing"])
    expect(request).not.toHaveProperty("sdkMcpServerManifests")
    expect(second).toBe("user")
  })

  it("[K11] without servers nothing is said of them", async () => {
    const { request } = await firstRequest({})
    expect(Object.keys(request).filter((name) => name.startsWith("sdkMcp"))).toEqual([])
  })
})
