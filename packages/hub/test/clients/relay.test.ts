import { fieldOf, textOf } from "@signalbox/protocol"
import { describe, expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "./line-socket.ts"
import { payloadIn } from "./scripted-agent.ts"
import { call, openAgent, openClient, openStage, type Stage, tokenOf } from "./stage.ts"

async function openFrontend(stage: Stage, headers: Record<string, string> = {}): Promise<LineSocket> {
  const frontend = await LineSocket.open(new WebSocket(`${stage.wsUrl}/ws`, { headers }))
  onTestFinished(() => frontend.close())
  return frontend
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

function statuses(frontend: LineSocket): (string | undefined)[] {
  return frontend.messages.filter((message) => message.type === "status").map((message) => textOf(message, "text"))
}

describe("the plain relay", () => {
  it("[RC25] every session's lines come as received, and status tells when an agent comes and when the last one is gone", async () => {
    const stage = await openStage({ anonymousRelay: true })
    const early = await openFrontend(stage)
    const one = await openAgent(stage)
    const two = await openAgent(stage)
    const late = await openFrontend(stage)
    one.agent.sayText("from one")
    two.agent.sayText("from two")
    for (const frontend of [early, late]) {
      await frontend.find((message) => message["session_id"] === one.agent.sessionId)
      await frontend.find((message) => message["session_id"] === two.agent.sessionId)
    }
    expect(statuses(early)).toEqual(["claude code connected", "claude code connected"])
    expect(statuses(late)).toEqual(["claude code is connected"])
    one.agent.close()
    await early.find((message) => message["subtype"] === "disconnected")
    two.agent.close()
    await early.find((message) => textOf(message, "text") === "claude code disconnected")
    expect(statuses(early)).toEqual(["claude code connected", "claude code connected", "claude code disconnected"])
  })

  it("[RC26] what is sent goes to the session it names, an answer to the question it answers, the rest to the latest session", async () => {
    const stage = await openStage({ anonymousRelay: true })
    const one = await openAgent(stage)
    const two = await openAgent(stage)
    const frontend = await openFrontend(stage)
    one.agent.sayText("here")
    two.agent.sayText("here")
    await frontend.find((message) => message["session_id"] === one.agent.sessionId)
    const user = (content: string, session_id?: string) =>
      frontend.send({ type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id })
    user("for one", one.agent.sessionId)
    user("for the latest")
    await one.agent.hears("for one")
    await two.agent.hears("for the latest")
    const answered = one.agent.askPermission("q-1")
    await frontend.request("can_use_tool")
    frontend.send({ type: "control_response", request_id: "q-1", permission: { allow: true } })
    expect(payloadIn(await answered)).toMatchObject({ behavior: "allow", updatedInput: { command: "ls" } })
    frontend.send({ type: "interrupt" })
    await two.agent.wire.request("interrupt")
    expect(one.agent.requests("interrupt")).toEqual([])
  })

  it("[RC26] what names a conversation that went on goes where it went, and to nobody when it is over", async () => {
    const stage = await openStage({ anonymousRelay: true })
    const { agent, id } = await openAgent(stage)
    agent.sayText("here")
    agent.say({ type: "assistant", session_id: "went on", message: { role: "assistant", content: [] } })
    const other = await openAgent(stage)
    other.agent.sayText("another")
    const frontend = await openFrontend(stage)
    await expect.poll(async () => (await stage.hub.core.getSession(id)).next).toBeDefined()
    const user = (content: string) =>
      frontend.send({ type: "user", message: { role: "user", content }, session_id: agent.sessionId })
    user("go on")
    await agent.hears("go on")
    await call(stage, "DELETE", `/api/sessions/${(await stage.hub.core.getSession(id)).next ?? ""}`)
    user("is anybody there")
    const refused = await frontend.find((message) => message["subtype"] === "refused")
    expect(refused).toMatchObject({ error: { code: "session/no-agent" } })
    expect(other.agent.wire.types()).not.toContain("user")
  })

  it("[RC27] a token is needed unless the hub was started for anonymous frontends on loopback", async () => {
    const stage = await openStage()
    const { agent } = await openAgent(stage)
    const without = await openFrontend(stage)
    without.send({ type: "user", message: { role: "user", content: "let me in" } })
    expect(await without.closed).toMatchObject({ code: 4001 })
    const named = await openFrontend(stage)
    named.send({ type: "auth", credential: { type: "oauth", token: stage.hub.admin.token } })
    await named.ofType("status")
    const anonymous = await openStage({ anonymousRelay: true })
    await expect(openFrontend(anonymous, { origin: "http://evil.example" })).rejects.toThrow("403")
    const forwarded = await openFrontend(anonymous, { "x-forwarded-for": "203.0.113.7" })
    forwarded.send({ type: "keep_alive" })
    expect(await forwarded.closed).toMatchObject({ code: 4001 })
    expect(agent.wire.types()).not.toContain("user")
  })

  it("[RC28] questions are approved unseen only when the policy says so, while such a frontend is here, and it is said loudly", async () => {
    const stage = await openStage({ anonymousRelay: true })
    const { agent, id } = await openAgent(stage)
    const frontend = await openFrontend(stage)
    void agent.askPermission("off")
    await frontend.request("can_use_tool")
    expect((await stage.hub.core.getSession(id)).pendingAsks).toBe(1)
    const rules = [{ id: "careful", effect: "ask", tool: "Bash", input: { command: "rm *" } }]
    const put = await call(stage, "PUT", "/api/policy", { rules, relayAutoApproval: true })
    expect(put.status, await put.text()).toBe(200)
    await frontend.find((message) => textOf(message, "text")?.startsWith("auto-approval is ON") === true)
    await call(stage, "PUT", "/api/policy", { rules })
    await frontend.find((message) => textOf(message, "text")?.startsWith("auto-approval is off") === true)
    await call(stage, "PUT", "/api/policy", { rules, relayAutoApproval: true })
    frontend.close()
    await frontend.closed
    const client = await openClient(stage, id)
    void agent.askPermission("nobody-of-that-kind")
    await client.request("can_use_tool")
    expect((await stage.hub.core.getSession(id)).pendingAsks).toBe(2)
    const { token } = await tokenOf(stage, "viewer")
    const viewer = await openFrontend(stage, bearer(token))
    await viewer.ofType("status")
    expect((await stage.hub.core.getSession(id)).pendingAsks).toBe(2)
    const next = await openFrontend(stage)
    await next.find((message) => textOf(message, "text")?.startsWith("auto-approval is ON") === true)
    await expect.poll(async () => (await stage.hub.core.getSession(id)).pendingAsks).toBe(0)
    expect(payloadIn(await agent.askPermission("on"))).toMatchObject({ behavior: "allow" })
    void agent.askPermission("ruled", { command: "rm x" })
    await next.find((message) => message["request_id"] === "ruled")
    expect((await stage.hub.core.getSession(id)).pendingAsks).toBe(1)
    const audit = (await (await call(stage, "GET", `/api/audit?session=${id}`)).json()) as { records: { by: string }[] }
    expect(audit.records.map((record) => record.by)).toContain("relay auto-approval")
    expect(viewer.messages.filter((message) => fieldOf(message, "request") !== undefined)).toEqual([])
  })
})
