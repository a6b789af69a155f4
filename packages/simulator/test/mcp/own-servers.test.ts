import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { composeAllow, composeSuccess, type Envelope, fieldOf } from "@signalbox/protocol"
import type { Launch, Scenario } from "@signalbox/simulator"
import { describe, expect, it, onTestFinished } from "vitest"
import { question } from "../../../../test/conformance/answers.ts"
import { type Asked, SimHost } from "../support/sim-host.ts"
import { hello, makeFolder, startSim, stdioFlags } from "../support/sim-process.ts"

const server = fileURLToPath(new URL("../support/mcp-server.mjs", import.meta.url))
const stdio = { type: "stdio" as const, command: process.execPath, args: [server], env: { GREETING: "hello" } }
const env = { PATH: process.env["PATH"] ?? "" }

type Named = Launch["mcpServers"][number]

function named(name: string, config: Named["config"]): Named {
  return { name, config, scope: "dynamic" }
}

function open(scenario: Scenario, mcpServers: Launch["mcpServers"], profile: string): SimHost {
  const answer = (asked: Asked): Envelope =>
    asked.subtype === "elicitation"
      ? composeSuccess(asked.request_id, { action: "accept", content: { name: "Ada" } })
      : composeAllow(question(asked.request_id, asked.request))
  const host = new SimHost({ scenario, profile, launch: { mcpServers, env }, onRequest: answer })
  onTestFinished(() => host.close())
  return host
}

/** The texts that tools gave, in order. */
function results(messages: readonly Envelope[]): string[] {
  return messages.flatMap((message) => {
    const content = fieldOf(message, "message")?.["content"]
    const [block] = message.type === "user" && Array.isArray(content) ? content : []
    const given: unknown = Object(block).content
    const text: unknown = Array.isArray(given) ? Object(given[0]).text : given
    return typeof text === "string" ? [text] : []
  })
}

function calls(...tools: string[]): Scenario {
  return {
    turns: [{ repeat: true, steps: [...tools.map((tool) => ({ tool, input: { text: "hi" } })), { say: "ok" }] }],
  }
}

async function overHttp(kind: "--http" | "--sse"): Promise<string> {
  const child = spawn(process.execPath, [server, kind], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill())
  const [line]: unknown[] = await once(child.stdout, "data")
  return String(line).trim()
}

describe("MCP servers of the agent's own", () => {
  it.each(["2.1.37", "2.1.120", "2.1.325"])(
    "[A36] %s starts one, calls it, and starts it again when it is gone",
    async (profile) => {
      const scenario = calls("mcp__desk__echo", "mcp__desk__die", "mcp__desk__echo")
      const host = open(scenario, [named("desk", stdio)], profile)
      const turn = await host.turn("go")
      const [first = "", died, second = ""] = results(turn)
      expect(first).toMatch(/^hi hello \d+$/)
      expect(died).toBe(profile === "2.1.325" ? "Connection closed" : "MCP error -32000: Connection closed")
      expect(second).toMatch(/^hi hello \d+$/)
      expect(second).not.toBe(first)
      expect(turn[0]).toMatchObject({ mcp_servers: [{ name: "desk", status: "connected" }] })
      expect(turn[0]?.["slash_commands"]).toContain("mcp__desk__greet")
    },
  )

  it.each(["--http", "--sse"] as const)("[A36] dials one (%s), with its headers", async (kind) => {
    const url = await overHttp(kind)
    const type = kind === "--http" ? ("http" as const) : ("sse" as const)
    const config = { type, url, headers: { "x-key": "open" } }
    const servers = [named("desk", config), named("shut", { type, url })]
    const host = open(calls("mcp__desk__echo", "mcp__desk__ask"), servers, "2.1.120")
    const turn = await host.turn("go")
    expect(results(turn)).toEqual([
      expect.stringMatching(/^hi {2}\d+$/),
      '{"action":"accept","content":{"name":"Ada"}}',
    ])
    const { response } = await host.request({ subtype: "mcp_status" })
    expect(response).toMatchObject({
      mcpServers: [
        { name: "desk", status: "connected", config, serverInfo: { name: "test", version: "1" } },
        { name: "shut", status: "failed", error: "HTTP 403: no key" },
      ],
    })
  })

  it("[A36] shows what a server has besides its tools", async () => {
    const scenario: Scenario = {
      turns: [
        {
          steps: [
            { tool: "ListMcpResourcesTool", input: {} },
            { tool: "ReadMcpResourceTool", input: { server: "desk", uri: "book://one" } },
            { tool: "ReadMcpResourceTool", input: { server: "nobody", uri: "book://one" } },
            { say: "ok" },
          ],
        },
      ],
    }
    const host = open(scenario, [named("desk", stdio)], "2.1.325")
    const turn = await host.turn("go")
    expect(results(turn)).toEqual([
      '[{"name":"book","uri":"book://one","server":"desk"}]',
      '{"contents":[{"uri":"book://one","text":"Once"}]}',
      'Server "nobody" not found. Available servers: desk',
    ])
    expect(turn[0]?.["tools"]).toEqual(expect.arrayContaining(["ListMcpResourcesTool", "ReadMcpResourceTool"]))
  })

  it("[A36] a server's question reaches the host, and the answer the server", async () => {
    const host = open(calls("mcp__desk__ask"), [named("desk", stdio)], "2.1.325")
    expect(results(await host.turn("go"))).toEqual(['{"action":"accept","content":{"name":"Ada"}}'])
    const asked = host.seen.find((message) => fieldOf(message, "request")?.["subtype"] === "elicitation")
    expect(asked?.["request"]).toMatchObject({ mcp_server_name: "desk", message: "Who?", property_order: ["name"] })
  })

  it.each([
    ["2.1.37", "spawn /nowhere/server ENOENT", /^fetch failed$/],
    ["2.1.325", "ENOENT: no such file or directory, posix_spawn 'stdio'", /^ECONNREFUSED: /],
  ])("[A36] %s says of one that cannot be had why, and goes on", async (profile, missing, refused) => {
    const servers = [
      named("absent", { type: "stdio", command: "/nowhere/server" }),
      named("closed", { type: "http", url: "http://127.0.0.1:9/mcp" }),
    ]
    const host = open(calls(), servers, profile)
    expect((await host.turn("go")).at(-1)).toMatchObject({ subtype: "success" })
    const { response } = await host.request({ subtype: "mcp_status" })
    const told = [Object(response).mcpServers].flat().map(({ name, error }) => [name, error])
    expect(Object.fromEntries(told)).toEqual({
      absent: missing,
      closed: expect.stringMatching(refused),
    })
    expect(await host.request({ subtype: "mcp_reconnect", serverName: "absent" })).toMatchObject({ error: missing })
  })

  it("[A36] a host's own set replaces what it set before, and not what the command line named", async () => {
    const host = open(calls("mcp__later__echo"), [named("desk", stdio)], "2.1.120")
    const set = (servers: object) => host.request({ subtype: "mcp_set_servers", servers })
    expect(await set({ later: stdio, bad: { command: "/nowhere/x" } })).toMatchObject({
      response: { added: ["later", "bad"], removed: [], errors: { bad: expect.stringContaining("ENOENT") } },
    })
    expect(results(await host.turn("go"))).toEqual([expect.stringMatching(/^hi hello/)])
    expect(await set({})).toMatchObject({ response: { added: [], removed: ["later", "bad"] } })
    const { response } = await host.request({ subtype: "mcp_status" })
    expect([Object(response).mcpServers].flat().map(({ name }) => name)).toEqual(["desk"])
  })

  it("[A36] the executable takes them from --mcp-config, fills in variables, and takes them along when it goes", async () => {
    const folder = makeFolder()
    const config = { mcpServers: { desk: { command: "${NODE}", args: ["${NOT_SET:-" + server + "}"] } } }
    const scenario = calls("mcp__desk__echo")
    const flags = [...stdioFlags, "--mcp-config", JSON.stringify(config), "--allowedTools", "mcp__desk"]
    const child = await startSim(flags, { folder, scenario, env: { NODE: process.execPath } })
    await child.send(hello)
    const seen: Envelope[] = []
    for await (const line of child.lines) {
      seen.push(JSON.parse(line))
      if (seen.at(-1)?.type === "result") child.endInput()
    }
    const pid = Number(results(seen)[0]?.split(" ").at(-1))
    expect(pid).toBeGreaterThan(0)
    expect(() => process.kill(pid, 0)).toThrow("ESRCH")
  })

  it.each([
    ["/nowhere.json", "MCP config file not found: /nowhere.json"],
    ['{"a":1}', "mcpServers: Does not adhere to MCP server configuration schema"],
    ['{"mcpServers":{"x":{"command":5}}}', "mcpServers.x: Does not adhere to MCP server configuration schema"],
  ])("[A36] the executable refuses --mcp-config %s", async (config, words) => {
    const child = await startSim([...stdioFlags, "--mcp-config", config])
    expect((await child.closed).reason).toBe("exit code 1")
    expect(child.stderrTail()).toContain(words)
  })
})
