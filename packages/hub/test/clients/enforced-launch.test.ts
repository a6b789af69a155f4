import type { Session } from "@signalbox/protocol/hub-api"
import { describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { FakeRunner } from "../runners/fake-runner.ts"
import { eventsOf, launch, rest, send, WAIT } from "../runners/launching.ts"
import { openClient, openSession, openStage, type Stage, tokenOf } from "./stage.ts"

const RULES = [{ id: "no-cat", effect: "deny", tool: "Bash", input: { command: "cat *" } }]

async function openEnforced(): Promise<Stage> {
  const stage = await openStage()
  const body = { rules: RULES, enforce: "everything" }
  expect((await rest(stage, "PUT", "/api/policy", { body })).status).toBe(200)
  return stage
}

const session = async (stage: Stage, id: string) => (await rest<Session>(stage, "GET", `/api/sessions/${id}`)).body
const HOOK = { PreToolUse: [{ hookCallbackIds: ["hub-hook:PreToolUse"], timeout: 600 }] }

describe("a launch where the policy sees everything", () => {
  it("[EN1] tells the runner and the session, and is audited", async () => {
    const stage = await openEnforced()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage)
    expect(await runner.spec()).toMatchObject({ enforce: true })
    expect(body.enforce).toBe("everything")
    const { body: audit } = await rest<{ records: { what: string; details: unknown }[] }>(stage, "GET", "/api/audit")
    expect(audit.records.find(({ what }) => what === "session/launched")?.details).toMatchObject({
      enforce: "everything",
    })
  })

  it("[EN1] an admin may launch one session otherwise, an operator may not, and without the policy's word nothing is enforced", async () => {
    const stage = await openEnforced()
    const runner = await FakeRunner.connect(stage)
    expect((await launch(stage, { enforce: "asked" })).body.enforce).toBeUndefined()
    expect(await runner.spec()).not.toHaveProperty("enforce")
    const { token } = await tokenOf(stage, "operator")
    expect(await launch(stage, { enforce: "asked" }, token)).toMatchObject({
      status: 403,
      body: { error: { code: "auth/forbidden" } },
    })
    expect((await launch(stage, {}, token)).body.enforce).toBe("everything")
    await rest(stage, "PUT", "/api/policy", { body: { rules: [] } })
    expect((await launch(stage, { enforce: "everything" })).body.enforce).toBe("everything")
    expect((await launch(stage)).body.enforce).toBeUndefined()
  })

  it("[EN1] holds for a session that is resumed, forked, or goes on in another", async () => {
    const stage = await openEnforced()
    const runner = await FakeRunner.connect(stage)
    const { id } = (await launch(stage)).body
    const agent = await runner.agent()
    agent.init({ cwd: "/srv" })
    agent.result()
    // As after a /clear: another conversation in the same process.
    agent.say({ type: "system", subtype: "init", session_id: "after-clear", uuid: "clear-1" })
    await expect.poll(async () => (await session(stage, id)).next, WAIT).toBeDefined()
    const next = (await session(stage, id)).next ?? ""
    expect(await session(stage, next)).toMatchObject({ enforce: "everything" })
    agent.callHook("cleared", { tool_name: "Bash", tool_input: { command: "cat .env" } })
    expect(await agent.answerTo("hook-cleared")).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } })
    await launch(stage, { resume: next, fork: true })
    expect(await runner.spec(1)).toMatchObject({ enforce: true })
    agent.exit({ reason: "over", code: 0 })
    await expect.poll(async () => (await session(stage, next)).state, WAIT).toBe("ended")
    await send(stage, next, "Go on.")
    expect(await runner.spec(2)).toMatchObject({ enforce: true })
  })

  it("[EN2] registers the hook before any message, and again for a process that is not known to have it", async () => {
    const stage = await openEnforced()
    const runner = await FakeRunner.connect(stage)
    const { id } = (await launch(stage, { prompt: "Begin." })).body
    const agent = await runner.agent()
    await agent.hears("Begin.")
    expect(agent.heard[0]).toMatchObject({ request: { subtype: "initialize", hooks: HOOK } })
    // One that is known to have it is greeted without: a call that waits would be cut off.
    await agent.allAcked()
    agent.leave()
    const before = agent.heard.length
    await agent.dial()
    await expect.poll(() => agent.heard[before], WAIT).toBeDefined()
    expect(agent.heard[before]).toEqual(expect.objectContaining({ request: { subtype: "initialize" } }))
    // A client's own hooks do not shorten its time, and do not take its place.
    const client = await openClient(stage, id)
    const hooks = { PreToolUse: [{ hookCallbackIds: ["c1"], timeout: 1 }], Stop: [{ hookCallbackIds: ["c2"] }] }
    client.send({ type: "control_request", request_id: "i1", request: { subtype: "initialize", hooks } })
    const later = () => agent.heard.slice(before + 1).find((message) => JSON.stringify(message).includes("Stop"))
    await expect.poll(later, WAIT).toBeDefined()
    expect(later()).toMatchObject({ request: { hooks: HOOK } })
  })

  it.each([{ hooks_applied: false }])(
    "[EN2] stops a process that answers %j, and gives it no message",
    async (reply) => {
      const stage = await openEnforced()
      const runner = await FakeRunner.connect(stage, { initializeReply: reply })
      const { id } = (await launch(stage)).body
      const agent = await runner.agent()
      await expect.poll(async () => (await session(stage, id)).state, WAIT).toBe("ended")
      expect(await session(stage, id)).toMatchObject({ enforce: "lost" })
      expect(agent.prompts).toEqual([])
    },
  )

  it("[EN3] is refused on a runner that is older than the hub, and by a runner whose claude is", async () => {
    const stage = await openEnforced()
    const refused = { status: 409, body: { error: { code: "policy/cannot-enforce" } } }
    const old = await FakeRunner.connect(stage, { facts: { enforces: false } })
    expect(await launch(stage)).toMatchObject(refused)
    expect(old.kinds).toEqual([])
    old.leave()
    const runner = await FakeRunner.connect(stage, {
      facts: { id: "runner-2", name: "new" },
      token: (await tokenOf(stage, "runner")).token,
    })
    runner.refusal = { code: "policy/cannot-enforce", message: "it needs claude 2.1.200" }
    expect(await launch(stage, { runner: "new" })).toMatchObject(refused)
  })

  it("[EN4] refuses agents that dial in by themselves, unless an admin makes their session so", async () => {
    const stage = await openStage({ anonymousAgents: true })
    const made = await openSession(stage)
    await rest(stage, "PUT", "/api/policy", { body: { rules: [], enforce: "everything" } })
    expect(await launch(stage, { agent: "external" })).toMatchObject({
      status: 409,
      body: { error: { code: "policy/cannot-enforce", message: expect.stringContaining("dials in by itself") } },
    })
    expect(await dialled(made.ingress.url, made.ingress.token)).toBe(4001)
    expect(await dialled(stage.wsUrl)).toBe(4001)
    const { body } = await rest<{ sessions: unknown[] }>(stage, "GET", "/api/sessions")
    expect(body.sessions).toHaveLength(1)
    const asked = await openSession(stage, { enforce: "asked" })
    expect(await dialled(asked.ingress.url, asked.ingress.token)).toBe("open")
  })

  it("[EN5] the policy says what it judges then, and takes no other word", async () => {
    const stage = await openStage()
    const { body: before } = await rest<{ sees: { judged: string } }>(stage, "GET", "/api/policy")
    expect(before).toMatchObject({
      enforce: "asked",
      sees: { judged: expect.stringMatching(/^Only what an agent asks/) },
    })
    const { body } = await rest(stage, "PUT", "/api/policy", { body: { ...before, enforce: "everything" } })
    expect(body).toMatchObject({ enforce: "everything", sees: { judged: expect.stringMatching(/^Every tool call/) } })
    expect(JSON.stringify(body)).toContain("with @")
    expect(JSON.stringify(body)).toContain("behind !")
    const again = await stage.reopen()
    expect((await rest(again, "GET", "/api/policy")).body).toEqual(body)
    expect(await rest(again, "PUT", "/api/policy", { body: { rules: [], enforce: "all" } })).toMatchObject({
      status: 400,
      body: { error: { code: "policy/invalid", message: 'enforce: expected "asked" or "everything"' } },
    })
  })

  it("[EN13] a call that was held is judged by the hub that comes back", async () => {
    const stage = await openEnforced()
    const runner = await FakeRunner.connect(stage)
    const { id } = (await launch(stage)).body
    const agent = await runner.agent()
    await agent.allAcked()
    runner.cut()
    const again = await stage.reopen()
    await agent.dial(again)
    agent.callHook("held", { tool_name: "Bash", tool_input: { command: "cat .env" } })
    expect(await agent.answerTo("hook-held")).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } })
    expect((await eventsOf(again, id)).length).toBeGreaterThan(0)
  })
})

/** The close code that a WebSocket gets at once, or "open". */
async function dialled(url: string, token?: string): Promise<unknown> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const socket = new WebSocket(url, { headers })
  const outcome = await new Promise((resolve) => {
    socket.on("close", (code) => resolve(code))
    socket.on("message", () => resolve("open"))
    socket.on("error", (error) => resolve(error.message))
  })
  socket.terminate()
  return outcome
}
