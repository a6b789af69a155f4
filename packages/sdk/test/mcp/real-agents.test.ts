import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import {
  composeRequest,
  composeSuccess,
  type Envelope,
  fieldOf,
  type JsonRpcMessage,
  textOf,
} from "@signalbox/protocol"
import type { Scenario } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { AgentHost, type ControlRequestLine } from "../../../../test/conformance/agent-host.ts"
import { allowTools } from "../../../../test/conformance/answers.ts"
import { claudeVersionsNow } from "../../../../test/gate.ts"
import { createMcpBridge } from "../../src/mcp/bridge.ts"
import { createSdkMcpServer, tool } from "../../src/mcp/sdk-mcp-server.ts"

type Instance = Parameters<typeof createMcpBridge>[0]["server"]

const VERSIONS = claudeVersionsNow.filter((version) => version !== "2.1.120")
const text = (text: string) => ({ content: [{ type: "text" as const, text }] })

interface Talk {
  readonly version: string
  readonly scenario: Scenario
  readonly servers: Readonly<Record<string, Instance>>
}

/** A real CLI whose MCP servers are behind our bridges. */
async function withServers(
  { version, scenario, servers }: Talk,
  run: (agent: AgentHost, received: JsonRpcMessage[]) => Promise<void>,
): Promise<void> {
  const received: JsonRpcMessage[] = []
  const held: { agent?: AgentHost } = {}
  let sent = 0
  const send = (message: Envelope) => held.agent?.send(message)
  const bridges = new Map(
    Object.entries(servers).map(([server_name, server]) => {
      const sendToAgent = (message: JsonRpcMessage) =>
        send(composeRequest(`server-${++sent}`, { subtype: "mcp_message", server_name, message }))
      return [server_name, createMcpBridge({ name: server_name, server, sendToAgent })]
    }),
  )
  const onRequest = (asked: ControlRequestLine): Envelope | null => {
    if (asked.subtype !== "mcp_message") return allowTools(asked)
    // The schema of the wire says what a message is, and every line of the agent is checked against it.
    const message = asked.request["message"] as JsonRpcMessage
    received.push(message)
    const answer = bridges.get(textOf(asked.request, "server_name") ?? "")?.receive(message)
    void answer?.then((response) =>
      send(composeSuccess(asked.request_id, { mcp_response: response ?? { jsonrpc: "2.0", result: {}, id: 0 } })),
    )
    return null
  }
  const cell = { version, road: "stdio", name: `${version} stdio` } as const
  const agent = await AgentHost.start(cell, { scenario, onRequest })
  held.agent = agent
  try {
    await agent.request({ subtype: "initialize", sdkMcpServers: Object.keys(servers) })
    await run(agent, received)
  } finally {
    for (const bridge of bridges.values()) await bridge.close()
    await agent.dispose()
  }
}

/** What the model was told of its calls, in order. */
function resultsIn(messages: readonly Envelope[]): unknown[] {
  return messages
    .filter(({ type }) => type === "user")
    .flatMap((message) => fieldOf(message, "message")?.["content"])
    .filter((block) => JSON.stringify(block ?? null).includes("tool_result"))
}

const calling = (...calls: [string, Record<string, unknown>][]): Scenario => ({
  turns: [{ steps: [...calls.map(([name, input]) => ({ tool: name, input })), { say: "Done." }] }],
})

describe.each(VERSIONS)("CLI %s with servers of this process", (version) => {
  it("[K7] lists and calls the tools of several servers", { timeout: 120_000 }, async () => {
    const made: unknown[] = []
    const add = tool("add", "Adds", { a: z.number(), b: z.number() }, async ({ a, b }) => {
      made.push([a, b])
      return text(`sum ${a + b}`)
    })
    const servers = {
      calc: createSdkMcpServer({ name: "calc", tools: [add] }).instance,
      words: createSdkMcpServer({
        name: "words",
        tools: [tool("shout", "Shouts", { text: z.string() }, async ({ text: said }) => text(said.toUpperCase()))],
      }).instance,
    }
    const scenario = calling(["mcp__calc__add", { a: 1, b: 2 }], ["mcp__words__shout", { text: "hi" }])
    await withServers({ version, scenario, servers }, async (agent, received) => {
      const turn = await agent.turn("use them")
      expect(made).toEqual([[1, 2]])
      expect(JSON.stringify(resultsIn(turn))).toMatch(/sum 3.*HI/)
      const { mcpServers } = await agent.ask({ subtype: "mcp_status" })
      expect(mcpServers).toMatchObject([
        { name: "calc", status: "connected" },
        { name: "words", status: "connected" },
      ])
      expect(received.map(({ method }) => method)).toContain("tools/list")
    })
  })

  it("[K7] tells the model of a tool that throws, of wrong arguments and of an unknown tool", {
    timeout: 120_000,
  }, async () => {
    const broken = tool("broken", "B", {}, () => Promise.reject(new Error("tool broke")))
    const strict = tool("strict", "S", { n: z.number().min(5) }, async () => text("fine"))
    const { instance } = createSdkMcpServer({ name: "s", tools: [broken, strict] })
    const scenario = calling(["mcp__s__broken", {}], ["mcp__s__strict", { n: 1 }], ["mcp__s__missing", {}])
    await withServers({ version, scenario, servers: { s: instance } }, async (agent) => {
      const results = resultsIn(await agent.turn("try them"))
      expect(results).toHaveLength(3)
      expect(results).toMatchObject([{ is_error: true }, { is_error: true }, { is_error: true }])
      expect(JSON.stringify(results[0])).toContain("tool broke")
      expect(JSON.stringify(results[1])).toContain("Input validation error")
    })
  })

  it("[K7] hands on images and structured content", { timeout: 120_000 }, async () => {
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    const look = tool("look", "L", {}, async () => ({ content: [{ type: "image", data, mimeType: "image/png" }] }))
    const figures = tool("figures", "F", {}, async () => ({ ...text("one"), structuredContent: { one: 1 } }))
    const { instance } = createSdkMcpServer({ name: "s", tools: [look, figures] })
    const scenario = calling(["mcp__s__look", {}], ["mcp__s__figures", {}])
    await withServers({ version, scenario, servers: { s: instance } }, async (agent) => {
      const [image, structured] = resultsIn(await agent.turn("look"))
      expect(JSON.stringify(image)).toContain('"type":"image"')
      expect(JSON.stringify(structured)).toMatch(/one/)
    })
  })

  it("[K8] takes what a server says of its own accord: progress, logs, a new list of tools", {
    timeout: 120_000,
  }, async () => {
    const server = new McpServer({ name: "s", version: "1" }, { capabilities: { logging: {} } })
    server.registerTool("work", { description: "W" }, async (extra) => {
      const { _meta: meta } = extra
      const progressToken = meta?.progressToken
      if (progressToken !== undefined)
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress: 1, total: 2 },
        })
      await server.sendLoggingMessage({ level: "info", data: "working" })
      server.registerTool("late", { description: "Came later" }, async () => text("late was here"))
      return text("worked")
    })
    const scenario = {
      turns: [
        { steps: [{ tool: "mcp__s__work", input: {} }, { say: "One." }] },
        { steps: [{ tool: "mcp__s__late", input: {} }, { say: "Two." }] },
      ],
    }
    await withServers({ version, scenario, servers: { s: server } }, async (agent, received) => {
      expect(JSON.stringify(resultsIn(await agent.turn("work")))).toContain("worked")
      const results = JSON.stringify(resultsIn(await agent.turn("and the new one")))
      const hasAskedAgain = received.filter(({ method }) => method === "tools/list").length > 1
      // The newest generation asks for the list again when it is told that it changed; 2.1.37 does not.
      expect([hasAskedAgain, results.includes("late was here")]).toEqual(Array(2).fill(version !== "2.1.37"))
    })
  })
})

describe("what 2.1.325 makes of a tool's extras", () => {
  it("[K10] a tool that is always loaded is told to the model, others are named and looked up", {
    timeout: 120_000,
  }, async () => {
    const plain = tool("plain", "Plain one", {}, async () => text("plain"))
    const loaded = tool("loaded", "Loaded one", {}, async () => text("loaded"), {
      alwaysLoad: true,
      searchHint: "zebra",
    })
    const hinted = tool("hinted", "Hinted one", {}, async () => text("hinted"), { searchHint: "giraffe crossing" })
    const { instance } = createSdkMcpServer({ name: "s", tools: [plain, loaded, hinted] })
    const scenario = calling(["ToolSearch", { query: "giraffe crossing", max_results: 1 }])
    await withServers({ version: "2.1.325", scenario, servers: { s: instance } }, async (agent) => {
      const turn = await agent.turn("go")
      const asked = agent.api.requests.find(({ kind }) => kind === "conversation")
      expect(asked?.tools).toContain("mcp__s__loaded")
      expect(asked?.tools).not.toContain("mcp__s__plain")
      expect(JSON.stringify(asked?.messages)).toContain("mcp__s__plain")
      expect(JSON.stringify(resultsIn(turn))).toContain("mcp__s__hinted")
    })
  })
})
