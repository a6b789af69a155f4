import type { JsonRpcMessage } from "@signalbox/protocol"
import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { z as z3 } from "zod/v3"
import { ensureOfficialSdk } from "../../../../scripts/official-sdk.mjs"
import { createMcpBridge } from "../../src/mcp/bridge.ts"
import * as ours from "../../src/mcp/sdk-mcp-server.ts"

type Makers = Pick<typeof ours, "createSdkMcpServer" | "tool">
type Server = ReturnType<Makers["createSdkMcpServer"]>

async function officialSdk(): Promise<Makers> {
  const { entry } = await ensureOfficialSdk("0.3.325")
  // The official package is run here and never read; what it is typed as is what ours is.
  return (await import(/* @vite-ignore */ entry)) as Makers
}

const say = (text: string) => ({ content: [{ type: "text" as const, text }] })

const request = (id: number, method: string, params: Record<string, unknown> = {}): JsonRpcMessage => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
})

const initialize = request(0, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
})

const call = (id: number, name: string, args: unknown) => request(id, "tools/call", { name, arguments: args })

/** What the server answers to these, asked through our bridge. */
async function answers(server: Server, questions: readonly JsonRpcMessage[]): Promise<unknown[]> {
  const bridge = createMcpBridge({ name: server.name, server: server.instance, sendToAgent: () => undefined })
  const given = []
  for (const question of [initialize, ...questions]) given.push(await bridge.receive(question))
  await bridge.close()
  return given
}

const list = request(1, "tools/list")

const SERVERS: readonly [string, (sdk: Makers) => Server, readonly JsonRpcMessage[]][] = [
  [
    "a tool with arguments",
    ({ createSdkMcpServer, tool }) =>
      createSdkMcpServer({
        name: "calc",
        tools: [
          tool("add", "Adds", { a: z.number(), b: z.number().optional().describe("more") }, async ({ a, b }) =>
            say(`${a + (b ?? 0)}`),
          ),
        ],
      }),
    [list, call(2, "add", { a: 1, b: 2 }), call(3, "add", { a: "no" }), call(4, "add", {}), call(5, "nope", {})],
  ],
  [
    "shapes of zod 3",
    ({ createSdkMcpServer, tool }) =>
      createSdkMcpServer({
        name: "old",
        tools: [tool("shout", "Shouts", { text: z3.string() }, async ({ text }) => say(text.toUpperCase()))],
      }),
    [list, call(2, "shout", { text: "hi" }), call(3, "shout", { text: 1 })],
  ],
  [
    "annotations, a hint, always loaded",
    ({ createSdkMcpServer, tool }) =>
      createSdkMcpServer({
        name: "extras",
        version: "2.1.0",
        instructions: "Use them all.",
        timeout: 5000,
        tools: [
          tool("a", "A", {}, async () => say("a"), { annotations: { readOnlyHint: true, title: "T" } }),
          tool("b", "B", {}, async () => say("b"), { searchHint: "bee", alwaysLoad: true }),
          tool("c", "C", {}, async () => say("c"), { searchHint: "", alwaysLoad: false, annotations: {} }),
        ],
      }),
    [list],
  ],
  [
    "a server that is always loaded",
    ({ createSdkMcpServer, tool }) =>
      createSdkMcpServer({
        name: "loaded",
        alwaysLoad: true,
        tools: [
          tool("a", "A", {}, async () => say("a")),
          tool("b", "B", {}, async () => say("b"), { searchHint: "h" }),
        ],
      }),
    [list],
  ],
  [
    "tools that throw and that say they failed",
    ({ createSdkMcpServer, tool }) =>
      createSdkMcpServer({
        name: "bad",
        tools: [
          tool("throws", "T", {}, () => Promise.reject(new Error("tool broke"))),
          tool("fails", "F", {}, async () => ({ ...say("no"), isError: true })),
        ],
      }),
    [call(1, "throws", {}), call(2, "fails", {})],
  ],
  [
    "images and structured content",
    ({ createSdkMcpServer, tool }) =>
      createSdkMcpServer({
        name: "rich",
        tools: [
          tool("look", "L", {}, async () => ({ content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] })),
          tool("data", "D", {}, async () => ({ ...say("x"), structuredContent: { x: [1] }, _meta: { y: 2 } })),
        ],
      }),
    [call(1, "look", {}), call(2, "data", {})],
  ],
  ["no tools", ({ createSdkMcpServer }) => createSdkMcpServer({ name: "none" }), [list, call(2, "x", {})]],
]

/** How wrong arguments are described is the affair of the protocol's library, and newer ones say it in fewer words. */
function comparable(given: readonly unknown[]): unknown {
  const described = /(Invalid arguments for tool \w+): (?:[^"\\]|\\.)*/g
  return JSON.parse(JSON.stringify(given).replaceAll(described, "$1: (what is wrong)"))
}

describe("tool() and createSdkMcpServer()", () => {
  it.each(SERVERS)("[K1] make what the official ones make: %s", async (_, make, questions) => {
    const [theirs, mine] = [make(await officialSdk()), make(ours)]
    expect(Object.keys(mine)).toEqual(Object.keys(theirs))
    expect({ ...mine, instance: null }).toEqual({ ...theirs, instance: null })
    expect(comparable(await answers(mine, questions))).toEqual(comparable(await answers(theirs, questions)))
  })

  it("[K1] a tool's definition has the fields of the official one", async () => {
    const extras = { annotations: { title: "T" }, searchHint: "h", alwaysLoad: true }
    for (const given of [undefined, {}, extras, { searchHint: "" }]) {
      const handler = async () => say("x")
      const make = ({ tool }: Makers) => tool("n", "d", { a: z.string() }, handler, given)
      const [theirs, mine] = [make(await officialSdk()), make(ours)]
      expect(Object.keys(mine)).toEqual(Object.keys(theirs))
      expect({ ...mine, inputSchema: null }).toEqual({ ...theirs, inputSchema: null })
    }
  })

  it("[K1] two tools of one name are refused, as by the official one", async () => {
    for (const { createSdkMcpServer, tool } of [await officialSdk(), ours]) {
      const twin = tool("twin", "T", {}, async () => say("x"))
      expect(() => createSdkMcpServer({ name: "twins", tools: [twin, twin] })).toThrow(
        "Tool twin is already registered",
      )
    }
  })

  it("[K1] an empty list of tools is a list; the official server says that it has tools and knows no list of them", async () => {
    const server = ours.createSdkMcpServer({ name: "none", tools: [] })
    expect(await answers(server, [list])).toMatchObject([{}, { result: { tools: [] } }])
  })

  it("[K2] a handler's arguments have the types of the shape", () => {
    ours.tool("t", "d", { a: z.number(), b: z.string().optional(), c: z.enum(["x", "y"]) }, async (args) => {
      expectTypeOf(args.a).toEqualTypeOf<number>()
      expectTypeOf(args.b).toEqualTypeOf<string | undefined>()
      expectTypeOf(args.c).toEqualTypeOf<"x" | "y">()
      return say("x")
    })
    ours.tool("t", "d", { old: z3.number() }, async (args) => {
      expectTypeOf(args.old).toEqualTypeOf<number>()
      return say("x")
    })
  })

  it("[K1] the instance is a server of the protocol's own library: tools can be added to it later", async () => {
    const server = ours.createSdkMcpServer({ name: "grows", tools: [ours.tool("a", "A", {}, async () => say("a"))] })
    server.instance.registerTool("b", { description: "B" }, async () => say("b"))
    expect(await answers(server, [call(1, "b", {})])).toMatchObject([{}, { result: { content: [{ text: "b" }] } }])
  })
})
