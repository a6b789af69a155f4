import { randomUUID } from "node:crypto"
import { fieldOf, textOf } from "@signalbox/protocol"
import type { AuditRecord } from "@signalbox/protocol/hub-api"
import { describe, expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "./line-socket.ts"
import type { ScriptedAgent } from "./scripted-agent.ts"
import { call, eventsOf, openAgent, openClient, openStage, type Stage, tokenOf } from "./stage.ts"

const SECRET = "do-not-keep-me"

/** Each changes something about the agent; beside it, what is kept of it. */
const ACTS = [
  [{ subtype: "interrupt" }, {}],
  [{ subtype: "set_permission_mode", mode: "plan" }, { mode: "plan" }],
  [{ subtype: "set_model", model: "opus" }, { model: "opus" }],
  [{ subtype: "set_max_thinking_tokens", max_thinking_tokens: 0 }, { max_thinking_tokens: 0 }],
  [{ subtype: "rewind_files", user_message_id: "u-1" }, { user_message_id: "u-1" }],
  [
    { subtype: "mcp_toggle", serverName: "files", enabled: false },
    { serverName: "files", enabled: false },
  ],
  [{ subtype: "mcp_reconnect", serverName: "files" }, { serverName: "files" }],
  [
    { subtype: "mcp_set_servers", servers: { files: { type: "stdio", command: "x", env: { KEY: SECRET } } } },
    { servers: ["files"] },
  ],
  [{ subtype: "apply_flag_settings", settings: { apiKeyHelper: SECRET } }, { settings: ["apiKeyHelper"] }],
  [{ subtype: "of_tomorrow", payload: SECRET }, {}],
] as const

type Act = (typeof ACTS)[number][0]
type Door = (stage: Stage, id: string, agent: ScriptedAgent) => Promise<(act: Act) => Promise<unknown>>

const overSocket =
  (socket: LineSocket): ((act: Act) => Promise<unknown>) =>
  (act) =>
    socket.ask(randomUUID(), act)

const DOORS: Readonly<Record<string, Door>> = {
  REST: async (stage, id) => (act) => call(stage, "POST", `/api/sessions/${id}/control`, { request: act }),
  "a raw client": async (stage, id) => overSocket(await openClient(stage, id)),
  "a relay frontend": async (stage) => {
    const headers = { authorization: `Bearer ${stage.hub.admin.token}` }
    const frontend = await LineSocket.open(new WebSocket(`${stage.wsUrl}/ws`, { headers }))
    onTestFinished(() => frontend.close())
    return overSocket(frontend)
  },
  "an event stream": async (stage, id) => (act) => {
    const payload = { type: "control_request", request_id: randomUUID(), request: act, uuid: randomUUID() }
    return call(stage, "POST", `/v1/code/sessions/${id}/events`, { events: [{ payload }] })
  },
}

async function auditOf(stage: Stage, id: string): Promise<readonly AuditRecord[]> {
  const reply = (await (await call(stage, "GET", `/api/audit?session=${id}`)).json()) as { records: AuditRecord[] }
  return reply.records.filter(({ what }) => what.startsWith("control/"))
}

/** Acts in the history, with who did each. */
async function actsIn(stage: Stage, id: string): Promise<Readonly<Record<string, unknown>>[]> {
  const events = (await eventsOf(stage, id)).filter(({ from }) => from === "client")
  return events.map(({ line }) => fieldOf(JSON.parse(line), "request") ?? {})
}

/** Answers whatever the hub asks of it. */
function answerAll(agent: ScriptedAgent): void {
  const answered = new Set<unknown>()
  const timer = setInterval(() => {
    for (const message of agent.wire.messages) {
      const id = message["request_id"]
      if (message.type !== "control_request" || answered.has(id)) continue
      answered.add(id)
      agent.wire.answer(message, {})
    }
  }, 5)
  onTestFinished(() => clearInterval(timer))
}

describe("acts on an agent", () => {
  it.each(Object.entries(DOORS))("[HS46] by %s are in the history and the audit, without secrets", async (_, door) => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { version: "2.1.325" })
    answerAll(agent)
    const act = await door(stage, id, agent)
    for (const [request] of ACTS) {
      await act(request)
      await expect
        .poll(async () => (await auditOf(stage, id)).map(({ what }) => what))
        .toContain(`control/${request.subtype}`)
    }
    const kept = ACTS.map(([{ subtype }, fields]) => ({ subtype, ...fields }))
    expect(await actsIn(stage, id)).toEqual(kept)
    expect(await auditOf(stage, id)).toMatchObject(
      ACTS.map(([{ subtype }, fields]) => ({
        what: `control/${subtype}`,
        by: "admin",
        sessionId: id,
        details: { ...fields, outcome: "done" },
      })),
    )
    const everything = JSON.stringify([await auditOf(stage, id), await eventsOf(stage, id)])
    expect(everything).not.toContain(SECRET)
  })

  it("[HS46] what only reads is in neither; what is refused or not answered is, with its outcome", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { version: "2.1.325" })
    const client = await openClient(stage, id)
    const control = (request: object, timeoutMs = 60_000) =>
      call(stage, "POST", `/api/sessions/${id}/control`, { request, timeoutMs })
    const read = control({ subtype: "mcp_status" })
    await agent.take("mcp_status", {})
    await read
    const preview = control({ subtype: "rewind_files", user_message_id: "u", dry_run: true })
    await agent.take("rewind_files", {})
    await preview
    expect(await actsIn(stage, id)).toEqual([])
    const refused = client.ask("m", { subtype: "set_model", model: "none" })
    agent.wire.fail(await agent.wire.request("set_model"), "no such model")
    await refused
    expect((await control({ subtype: "stop_task", task_id: "t" }, 50)).status).toBe(504)
    expect(await auditOf(stage, id)).toMatchObject([
      { what: "control/set_model", details: { model: "none", outcome: "refused", error: "no such model" } },
      { what: "control/stop_task", details: { task_id: "t", outcome: "unanswered" } },
    ])
  })
})

describe("environment variables", () => {
  const variables = { TOKEN: SECRET, PATH: "/evil" }

  it("[HS47] are sent with an id, and what the agent took and refused is told", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { version: "2.1.325" })
    const reply = call(stage, "POST", `/api/sessions/${id}/env`, { variables })
    const sent = await agent.wire.ofType("update_environment_variables")
    expect(sent).toMatchObject({ variables, request_id: expect.any(String) })
    agent.wire.answer(sent, { applied: ["TOKEN"] })
    expect(await (await reply).json()).toEqual({ applied: ["TOKEN"], refused: ["PATH"] })
    expect(await actsIn(stage, id)).toEqual([{ subtype: "update_environment_variables", variables: ["TOKEN", "PATH"] }])
    const audit = await auditOf(stage, id)
    expect(audit).toMatchObject([
      { what: "control/update_environment_variables", details: { variables: ["TOKEN", "PATH"], applied: ["TOKEN"] } },
    ])
    expect(JSON.stringify([audit, await eventsOf(stage, id)])).not.toContain(SECRET)
  })

  it("[HS47] an agent that does not answer is told of as such; none is refused", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const reply = await call(stage, "POST", `/api/sessions/${id}/env`, { variables })
    expect([reply.status, await reply.json()]).toEqual([200, { applied: null, refused: null }])
    expect(await auditOf(stage, id)).toMatchObject([{ details: { outcome: "done", applied: null } }])
    agent.close()
    await expect.poll(async () => (await stage.hub.core.getSession(id)).state).toBe("disconnected")
    expect((await call(stage, "POST", `/api/sessions/${id}/env`, { variables })).status).toBe(409)
    expect(await auditOf(stage, id)).toHaveLength(1)
  })

  it("[HS47] a raw client gets the agent's answer under its own id, and an operator none of it", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { version: "2.1.325" })
    const client = await openClient(stage, id)
    client.send({ type: "update_environment_variables", variables, request_id: "mine" })
    agent.wire.answer(await agent.wire.ofType("update_environment_variables"), { applied: [] })
    expect(await client.reply("mine")).toMatchObject({ subtype: "success", response: { applied: [] } })
    client.send({ type: "update_environment_variables", variables: { A: 1 } })
    expect(await client.find((message) => message["subtype"] === "refused")).toMatchObject({
      error: { code: "request/invalid" },
    })
    const operator = await openClient(stage, id, (await tokenOf(stage, "operator")).token)
    operator.send({ type: "update_environment_variables", variables })
    expect(textOf(fieldOf(await operator.ofType("hub"), "error"), "code")).toBe("auth/forbidden")
    expect(await auditOf(stage, id)).toHaveLength(1)
  })
})
