import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { ensureOfficialSdk } from "../../../../scripts/official-sdk.mjs"
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
    await expect.poll(async () => (await stage.hub.core.getSession(id)).agentSessionId).toBe(agent.sessionId)
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
    expect((await stage.hub.core.getSession(id)).state).toBe("ended")
    expect((await call(stage, "DELETE", "/sessions/nowhere")).status).toBe(404)
  })

  it("[RC35] the official transport attaches, has a turn, answers a question, and ends the session when it is told to", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const { entry } = await ensureOfficialSdk("0.3.325")
    const orders = { entry, url: stage.url, token: stage.hub.admin.token, session: id }
    const program = fileURLToPath(new URL("official-direct-connect.mjs", import.meta.url))
    const env = { PATH: process.env["PATH"], ORDERS: JSON.stringify(orders) }
    const run = promisify(execFile)(process.execPath, [program], { env })
    await agent.hears("Hello.")
    agent.say({ type: "system", subtype: "init", cwd: "/somewhere" })
    expect(payloadIn(await agent.askPermission("q-1"))).toMatchObject({ behavior: "allow" })
    agent.say({ type: "result", subtype: "success", is_error: false, result: "Hi." })
    await agent.take("end_session", undefined)
    const told = JSON.parse((await run).stdout) as { session: string; seen: string[] }
    expect(told.session).toBe(id)
    expect(told.seen).toEqual(expect.arrayContaining(["control_request", "result"]))
    expect((await stage.hub.core.getSession(id)).state).toBe("ended")
  })
})
