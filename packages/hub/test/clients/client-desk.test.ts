import { fieldOf, textOf } from "@signalbox/protocol"
import { describe, expect, it } from "vitest"
import { ClientDesk } from "../../src/clients/client-desk.ts"
import { setUpSessions } from "../session/session-setup.ts"
import type { LineSocket } from "./line-socket.ts"
import { errorIn, payloadIn, ScriptedAgent } from "./scripted-agent.ts"
import { call, openAgent, openClient, openStage, tokenOf } from "./stage.ts"

const NEWEST = "2.1.325"

/** Answers everything the hub tells it about hooks and servers, for ever. */
function obey(agent: ScriptedAgent): void {
  const answered = new Set<unknown>()
  const look = async () => {
    for (;;) {
      const request = await agent.wire.find((message) => {
        const subtype = textOf(fieldOf(message, "request"), "subtype")
        const known = subtype === "mcp_set_servers" || (subtype === "initialize" && message !== agent.wire.messages[0])
        return known && !answered.has(message)
      })
      answered.add(request)
      agent.wire.answer(request, { added: [], removed: [], errors: {}, hooks_applied: true })
    }
  }
  look().catch(() => undefined)
}

function hooksOf(agent: ScriptedAgent): unknown[] {
  return agent.requests("initialize").map((message) => fieldOf(message, "request")?.["hooks"])
}

function serversOf(agent: ScriptedAgent): unknown[] {
  return agent
    .requests("mcp_set_servers")
    .map((message) => Object.keys(fieldOf(fieldOf(message, "request"), "servers") ?? {}))
}

function bring(client: LineSocket, what: Record<string, unknown>) {
  return client.ask(`init-${Math.random()}`, { subtype: "initialize", ...what })
}

const onBash = { PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["hook_0"] }] }
const bash = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "ls" } }
const deny = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny" } }

describe("what clients bring to a session", () => {
  it("[RC41] a client that left before what it brings was taken brings nothing", async () => {
    const session = setUpSessions().registry.create({ agent: "external" })
    const kept: ClientDesk[] = []
    const desk = new ClientDesk({
      session,
      keep: (changed) => void kept.push(changed),
      hooksChanged: () => undefined,
      enforcement: { narrow: async () => ({}), judgeAllowed: (_session, _request, said) => said },
      trouble: () => undefined,
    })
    const client = { id: "c1", tokenId: "t1", mayAnswer: true, tell: () => undefined }
    desk.join(client, true)
    desk.forgetToken("t1")
    kept.length = 0
    expect(await desk.bring("c1", { servers: { mine: { type: "sdk", name: "mine" } } })).toBeUndefined()
    expect({ hosts: desk.hosts("c1", "mine"), parts: desk.keptParts, kept }).toEqual({
      hosts: false,
      parts: [],
      kept: [],
    })
  })

  it("[RC17] hooks are registered when a client brings some, one per event, with the hub's id and a time-out", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { version: NEWEST })
    obey(agent)
    const [one, other] = [await openClient(stage, id), await openClient(stage, id)]
    await bring(one, {})
    expect(hooksOf(agent)).toEqual([undefined])
    await bring(one, { hooks: onBash })
    await bring(other, { hooks: { ...onBash, Stop: [{ hookCallbackIds: ["hook_1"], timeout: 60 }] } })
    const preToolUse = [{ hookCallbackIds: ["hub-hook:PreToolUse"], timeout: 35 }]
    expect(hooksOf(agent)).toEqual([
      undefined,
      { PreToolUse: preToolUse },
      { PreToolUse: preToolUse, Stop: [{ hookCallbackIds: ["hub-hook:Stop"], timeout: 65 }] },
    ])
  })

  it("[RC18] an agent that is initialized once gets the hooks its session was made with, and a client is told what it misses", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { hooks: ["PreToolUse"] })
    expect(hooksOf(agent)).toEqual([{ PreToolUse: [{ hookCallbackIds: ["hub-hook:PreToolUse"], timeout: 35 }] }])
    const client = await openClient(stage, id)
    await bring(client, { hooks: { ...onBash, Stop: [{ hookCallbackIds: ["hook_1"] }] } })
    expect(await client.find((message) => message["subtype"] === "hooks_not_registered")).toMatchObject({
      events: ["Stop"],
    })
    const answered = agent.callHook("PreToolUse", bash)
    client.answer(await client.request("hook_callback"), deny)
    expect(payloadIn(await answered)).toEqual(deny)
    expect(agent.requests("initialize")).toHaveLength(1)
  })

  it("[RC14] a callback goes to every client whose matcher means it, under its own id, and the answers are merged", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { version: NEWEST })
    obey(agent)
    const clients = [await openClient(stage, id), await openClient(stage, id), await openClient(stage, id)]
    const [one, other, write] = clients as [LineSocket, LineSocket, LineSocket]
    await bring(one, { hooks: onBash })
    await bring(other, { hooks: { PreToolUse: [{ hookCallbackIds: ["hook_0"] }] } })
    await bring(write, { hooks: { PreToolUse: [{ matcher: "Write", hookCallbackIds: ["hook_0"] }] } })
    const answered = agent.callHook("PreToolUse", bash)
    const calls = [await one.request("hook_callback"), await other.request("hook_callback")] as const
    expect(fieldOf(calls[0], "request")).toMatchObject({ callback_id: "hook_0", input: bash })
    expect(calls[0]["request_id"]).not.toBe(calls[1]["request_id"])
    one.answer(calls[0], { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } })
    other.answer(calls[1], deny)
    expect(payloadIn(await answered)).toMatchObject(deny)
    expect(write.messages.filter((message) => fieldOf(message, "request")?.["subtype"] === "hook_callback")).toEqual([])
  })

  it("[RC15] a hook whose owner is gone, fails or is too slow fails open, or blocks when it says so", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { version: NEWEST })
    obey(agent)
    const [gone, failing, slow] = [
      await openClient(stage, id),
      await openClient(stage, id),
      await openClient(stage, id),
    ]
    const blocking = (tool: string, more: Record<string, unknown> = {}) => ({
      hooks: { PreToolUse: [{ matcher: tool, hookCallbackIds: ["hook_0"], onFailure: "block", ...more }] },
    })
    await bring(gone, blocking("A"))
    await bring(failing, blocking("B"))
    await bring(slow, blocking("C", { timeout: 0.05 }))
    const left = agent.callHook("PreToolUse", { tool_name: "A" })
    await gone.request("hook_callback")
    gone.close()
    expect(payloadIn(await left)).toMatchObject(deny)
    expect(payloadIn(await agent.callHook("PreToolUse", { tool_name: "A" }))).toEqual({})
    const failed = agent.callHook("PreToolUse", { tool_name: "B" })
    failing.fail(await failing.request("hook_callback"), "No hook callback found")
    expect(payloadIn(await failed)).toMatchObject(deny)
    expect(payloadIn(await agent.callHook("PreToolUse", { tool_name: "C" }))).toMatchObject(deny)
    await slow.ofType("control_cancel_request")
    await bring(failing, { hooks: { PreToolUse: [{ matcher: "B", hookCallbackIds: ["hook_1"] }] } })
    const open = agent.callHook("PreToolUse", { tool_name: "B" })
    const second = await failing.find((message) => fieldOf(message, "request")?.["callback_id"] === "hook_1")
    failing.fail(second, "broken")
    expect(payloadIn(await open)).toEqual({})
  })

  it("[RC19] a callback that the agent takes back is taken back from its owner, and not answered", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { hooks: ["Stop"] })
    const client = await openClient(stage, id)
    await bring(client, { hooks: { Stop: [{ hookCallbackIds: ["hook_0"] }] } })
    void agent.ask({ subtype: "hook_callback", callback_id: "hub-hook:Stop", input: {} }, "h-1")
    const callback = await client.request("hook_callback")
    agent.wire.send({ type: "control_cancel_request", request_id: "h-1" })
    expect(await client.ofType("control_cancel_request")).toMatchObject({ request_id: callback["request_id"] })
    client.answer(callback, {})
    await client.ask("after", { subtype: "initialize" })
    expect(agent.wire.types()).not.toContain("control_response")
  })

  it("[RC20] the agent's MCP servers are the union of what clients host and what was set by control requests", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    obey(agent)
    const [one, other] = [await openClient(stage, id), await openClient(stage, id)]
    await bring(one, { sdkMcpServers: ["a"] })
    await bring(other, { sdkMcpServers: ["b"] })
    const files = { files: { type: "stdio", command: "files" } }
    const reply = await call(stage, "POST", `/api/sessions/${id}/control`, {
      request: { subtype: "mcp_set_servers", servers: files },
    })
    expect(await reply.json()).toMatchObject({ response: { added: [], removed: [] } })
    const set = await one.ask("set", { subtype: "mcp_set_servers", servers: { c: { type: "sdk", name: "c" } } })
    expect(payloadIn(set)).toMatchObject({ added: [], errors: {} })
    other.close()
    await expect.poll(() => serversOf(agent).length).toBe(5)
    expect(serversOf(agent)).toEqual([["a"], ["a", "b"], ["a", "b", "files"], ["c", "b", "files"], ["c", "files"]])
    await call(stage, "POST", `/api/sessions/${id}/control`, { request: { subtype: "mcp_set_servers", servers: {} } })
    expect(serversOf(agent).at(-1)).toEqual(["c"])
  })

  it("[RC21] an MCP message goes to the client that hosts the server; with its owner gone it is an error at once", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    obey(agent)
    const { token } = await tokenOf(stage, "operator")
    const [one, other] = [await openClient(stage, id, token), await openClient(stage, id)]
    await bring(one, { sdkMcpServers: ["a"] })
    await bring(other, { sdkMcpServers: ["b"] })
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" }
    const answered = agent.callServer("a", message)
    const asked = await one.request("mcp_message")
    expect(fieldOf(asked, "request")).toEqual({ subtype: "mcp_message", server_name: "a", message })
    one.answer(asked, { mcp_response: { jsonrpc: "2.0", id: 1, result: { tools: [] } } })
    expect(payloadIn(await answered)).toEqual({ mcp_response: { jsonrpc: "2.0", id: 1, result: { tools: [] } } })
    expect(other.messages.filter((line) => fieldOf(line, "request")?.["subtype"] === "mcp_message")).toEqual([])
    const left = agent.callServer("a", { jsonrpc: "2.0", id: 2, method: "tools/call" })
    await one.find((line) => fieldOf(fieldOf(line, "request"), "message")?.["id"] === 2)
    one.close()
    expect(errorIn(await left)).toContain("did not answer")
    expect(errorIn(await agent.callServer("a", message))).toContain('nobody is here to host the MCP server "a"')
  })

  it("[RC22] a name that another client hosts stays that client's, and the later one is told", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    obey(agent)
    const [one, other] = [await openClient(stage, id), await openClient(stage, id)]
    await bring(one, { sdkMcpServers: ["a"] })
    await bring(other, { sdkMcpServers: ["a"] })
    expect(await other.find((message) => message["subtype"] === "servers_not_registered")).toMatchObject({
      servers: ["a"],
    })
    void agent.callServer("a", { jsonrpc: "2.0", id: 1, method: "tools/list" })
    await one.request("mcp_message")
    one.close()
    // Until the hub has seen it go, the answer is still its error.
    const isAsked = () => other.messages.some((line) => fieldOf(line, "request")?.["subtype"] === "mcp_message")
    await expect
      .poll(() => {
        void agent.callServer("a", { jsonrpc: "2.0", id: 2, method: "tools/list" })
        return isAsked()
      })
      .toBe(true)
  })

  it("[RC23] a request of the agent's that we do not know goes to all who may answer; the first that can has answered for all", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    expect(errorIn(await agent.ask({ subtype: "brand_new" }))).toContain("nobody is here")
    const [one, other] = [await openClient(stage, id), await openClient(stage, id)]
    const answered = agent.ask({ subtype: "brand_new", x: 1 })
    one.fail(await one.request("brand_new"), "unsupported")
    other.answer(await other.request("brand_new"), { y: 2 })
    expect(payloadIn(await answered)).toEqual({ y: 2 })
    const refused = agent.ask({ subtype: "newer_still" })
    one.fail(await one.request("newer_still"), "unsupported")
    other.fail(await other.request("newer_still"), "unsupported")
    expect(errorIn(await refused)).toContain("unsupported")
  })

  it("[RC24] a new process of the agent gets what the clients brought to the old one", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    obey(agent)
    const client = await openClient(stage, id)
    await bring(client, { sdkMcpServers: ["a"], hooks: onBash })
    agent.close()
    await client.find((message) => message["subtype"] === "disconnected")
    const url = `${stage.wsUrl}/ws/cli/${id}`
    const next = await ScriptedAgent.dial({ url, token: agent.token, command: "" })
    obey(next)
    await next.wire.request("mcp_set_servers")
    expect(hooksOf(next)[0]).toMatchObject({ PreToolUse: [{ hookCallbackIds: ["hub-hook:PreToolUse"] }] })
    expect(serversOf(next)).toEqual([["a"]])
    next.close()
  })
})
