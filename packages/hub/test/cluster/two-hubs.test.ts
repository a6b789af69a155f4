import { randomUUID } from "node:crypto"
import { createServer } from "node:net"
import { describe, expect, it } from "vitest"
import type { Json } from "../../../../test/hub/hub-process.ts"
import { hasPostgres } from "../../../../test/postgres/server.ts"
import { ScriptedAgent } from "../clients/scripted-agent.ts"
import { call, openAgent, openSession, type Stage } from "../clients/stage.ts"
import { rowsIn } from "../store/postgres-database.ts"
import { openTwoHubs } from "./two-hubs.ts"

const POLL = { timeout: 30_000, interval: 20 }
const EXPIRING = { id: "hurry", effect: "ask", tool: "Bash", expiresAfterMs: 600_000 }

async function body(reply: Promise<Response>): Promise<Json> {
  const response = await reply
  return { status: response.status, ...(await response.json()) }
}

async function idOf(stage: Stage): Promise<string> {
  const { hubs } = await body(call(stage, "GET", "/api/hubs"))
  return hubs.find(({ self }: Json) => self).id
}

/** A request of an agent's, in a session that its hub gave up without a word: no hub has it. */
async function askOfNobody(at: Stage, store: string) {
  const { agent, id } = await openAgent(at)
  void agent.askPermission("asked")
  const pending = () => body(call(at, "GET", `/api/asks?state=pending&session=${id}`))
  await expect.poll(async () => (await pending()).asks.length, POLL).toBe(1)
  await rowsIn(store, `UPDATE signalbox.logs SET owner = NULL WHERE name = '${id}'`)
  const [ask] = (await pending()).asks
  return { ask, id, token: agent.token }
}

describe.runIf(hasPostgres)("two hubs on one database", () => {
  it("[CT20] a request of a session that no hub has is answered, and given more time, by the hub that is asked", async () => {
    const [at, beside, store] = await openTwoHubs()
    await call(at, "PUT", "/api/policy", { rules: [EXPIRING] })
    const one = await askOfNobody(at, store)
    expect(await body(call(beside, "POST", `/api/asks/${one.ask.id}/answer`, { behavior: "allow" }))).toMatchObject({
      status: 200,
      state: "allowed",
    })
    const ingress = { url: `${beside.wsUrl}/v1/ws/${one.id}`, token: one.token, command: "" }
    const agent = await ScriptedAgent.dial(ingress, undefined, randomUUID())
    expect(await agent.wire.reply("asked")).toMatchObject({ response: { behavior: "allow" } })
    agent.close()
    const other = await askOfNobody(at, store)
    const longer = await body(call(beside, "POST", `/api/asks/${other.ask.id}/extend`, {}))
    expect([longer.status, Date.parse(longer.expiresAt)]).toEqual([200, Date.parse(other.ask.expiresAt) + 600_000])
  })

  it("[CT20] a grant is revoked where its session is, and in the session's memory", async () => {
    const [at, beside, store] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const answered = agent.askPermission("asked")
    const pending = () => body(call(at, "GET", `/api/asks?state=pending&session=${id}`))
    await expect.poll(async () => (await pending()).asks.length, POLL).toBe(1)
    const [ask] = (await pending()).asks
    const rule = { type: "addRules", rules: [{ toolName: "Bash" }], behavior: "allow", destination: "session" }
    await call(at, "POST", `/api/asks/${ask.id}/answer`, { behavior: "allow", updatedPermissions: [rule] })
    await answered
    const grants = async () => (await body(call(at, "GET", `/api/grants?session=${id}`))).grants
    await expect.poll(async () => (await grants()).length, POLL).toBe(1)
    const [grant] = await grants()
    await rowsIn(store, `UPDATE signalbox.logs SET owner = NULL WHERE name = '${id}'`)
    const revoke = () => body(call(beside, "DELETE", `/api/grants/${grant.id}`))
    expect(await revoke()).toMatchObject({ status: 200, gone: true })
    expect((await body(call(beside, "GET", `/api/sessions/${id}`))).owner).toBe(await idOf(beside))
  })

  it("[CT22] a session whose key another hub is starting is not started a second time", async () => {
    const [at, beside, store] = await openTwoHubs()
    const make = () => beside.hub.core.createSession({ agent: "external", requestKey: "once" }, ADMIN)
    await rowsIn(store, `INSERT INTO signalbox.request_keys (key, hub) VALUES ('once', '${await idOf(at)}')`)
    await expect(make()).rejects.toMatchObject({ code: "hub/moved" })
    await rowsIn(store, "DELETE FROM signalbox.request_keys")
    const [{ id }, again] = await Promise.all([make(), make()])
    expect(again.id).toBe(id)
    await expect(at.hub.core.createSession({ agent: "external", requestKey: "once" }, ADMIN)).rejects.toMatchObject({
      code: "hub/moved",
    })
    expect(await rowsIn(store, "SELECT key FROM signalbox.request_keys")).toEqual([])
  })

  it("[CT23] a session of a dead hub is listed in the state in which it is shown", async () => {
    const [at, beside, store] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    agent.sayText("here")
    const listed = async (state: string) =>
      (await body(call(beside, "GET", `/api/sessions?state=${state}`))).sessions.map((one: Json) => one.id)
    await expect.poll(() => listed("idle"), POLL).toEqual([id])
    await rowsIn(store, `UPDATE signalbox.logs SET owner = gen_random_uuid() WHERE name = '${id}'`)
    expect((await body(call(beside, "GET", `/api/sessions/${id}`))).state).toBe("disconnected")
    expect([await listed("idle"), await listed("disconnected"), await listed("ended")]).toEqual([[], [id], []])
  })

  it("[CT24] an agent that dialled in is told to come back when what it says cannot be taken", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    agent.sayText("here")
    const known = async () => (await body(call(beside, "GET", `/api/sessions/${id}`))).agentSessionId
    await expect.poll(known, POLL).toBe(agent.sessionId)
    const { agent: other } = await openAgent(beside)
    // The other hub has the session that this names.
    other.wire.send({ type: "assistant", session_id: agent.sessionId, message: { role: "assistant", content: [] } })
    expect((await other.wire.closed).code).toBe(1012)
  })

  it("[CT40] an agent's token that is revoked on one hub is not good on the other, and its connection there is closed", async () => {
    const [at, beside] = await openTwoHubs()
    const { agent, id } = await openAgent(at)
    const { tokens } = await body(call(beside, "GET", "/api/tokens"))
    const own = tokens.find(({ sessionId }: Json) => sessionId === id)
    expect((await call(beside, "DELETE", `/api/tokens/${own.id}`)).headers.get("x-signalbox-unconfirmed")).toBeNull()
    expect((await agent.wire.closed).code).toBe(4001)
    const ingress = { url: `${at.wsUrl}/v1/ws/${id}`, token: agent.token, command: "" }
    await expect(ScriptedAgent.dial(ingress)).rejects.toThrow("401")
  })

  it("[CT40] a change waits for a hub that joined a moment ago, or names it", async () => {
    const [at, , store] = await openTwoHubs()
    await openSession(at)
    const server = createServer(() => undefined)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    server.close()
    await rowsIn(
      store,
      `INSERT INTO signalbox.hubs (id, url, version, wire, sessions, runners, viewers)
       VALUES (gen_random_uuid(), '${url}', '1', 1, 0, 0, 0)`,
    )
    const reply = await call(at, "PUT", "/api/settings", { operatorsMayUseAuto: false, retention: null })
    expect([reply.status, reply.headers.get("x-signalbox-unconfirmed")]).toEqual([200, url])
  })
})

const ADMIN = { role: "admin", name: "admin", tokenId: "t", sessionId: null } as const
