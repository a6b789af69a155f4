import { describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "./line-socket.ts"
import { payloadIn } from "./scripted-agent.ts"
import { call, openAgent, openStage, tokenOf } from "./stage.ts"

describe("DirectConnect", () => {
  it("[RC35] POST /sessions attaches to the session that session_key names, and its ws_url is a raw client's door", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const reply = await call(stage, "POST", "/sessions", { session_key: id, cwd: "/tmp" })
    expect(reply.status).toBe(200)
    const connect = (await reply.json()) as Record<string, string>
    expect(connect).toMatchObject({ session_id: id, session_key: id, ws_url: `${stage.wsUrl}/ws/session/${id}` })
    const headers = { authorization: `Bearer ${stage.hub.admin.token}` }
    const client = await LineSocket.open(new WebSocket(connect["ws_url"] ?? "", { headers }))
    expect(payloadIn(await client.ask("i", { subtype: "initialize" }))["commands"]).toHaveLength(1)
    client.close()
    agent.sayText("named by the CLI's own id")
    await expect.poll(() => stage.hub.core.getSession(id).agentSessionId).toBe(agent.sessionId)
    const byAgent = await call(stage, "POST", "/sessions", { session_key: agent.sessionId })
    expect(await byAgent.json()).toMatchObject({ session_id: id })
  })

  it("[RC36] without a session to attach to it is a launch, refused while there is no runner and to those who may not", async () => {
    const stage = await openStage()
    const none = await call(stage, "POST", "/sessions", { cwd: "/tmp" })
    expect(none.status).toBe(409)
    expect(await none.json()).toMatchObject({ error: { code: "runner/none" } })
    const [viewer, operator] = [await tokenOf(stage, "viewer"), await tokenOf(stage, "operator")]
    expect((await call(stage, "POST", "/sessions", {}, viewer.token)).status).toBe(403)
    const bypass = { permission_mode: "bypassPermissions" }
    expect((await call(stage, "POST", "/sessions", bypass, operator.token)).status).toBe(403)
    expect((await call(stage, "POST", "/sessions", {}, "wrong")).status).toBe(401)
  })

  it("[RC37] DELETE /sessions/:id stops the agent and keeps the history", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const deleted = call(stage, "DELETE", `/sessions/${id}`)
    await agent.take("end_session", undefined)
    expect((await deleted).status).toBe(200)
    expect(stage.hub.core.getSession(id).state).toBe("ended")
    expect((await call(stage, "DELETE", "/sessions/nowhere")).status).toBe(404)
  })
})
