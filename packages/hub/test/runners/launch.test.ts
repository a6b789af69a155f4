import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { fieldOf, textOf } from "@signalbox/protocol"
import type { AuditRecord } from "@signalbox/protocol/hub-api"
import { describe, expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "../clients/line-socket.ts"
import { call, eventsOf, openSession, openStage, tokenOf } from "../clients/stage.ts"
import { FakeRunner } from "./fake-runner.ts"
import { launch, rest, send, WAIT } from "./launching.ts"

describe("launching on a runner", () => {
  it("[HR10] a session is launched with what was asked for, and its prompt reaches the agent", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const plain = { cwd: "/srv", model: "opus", permissionMode: "plan" }
    const { status, body } = await launch(stage, { ...plain, prompt: "Hello.", hooks: ["PreToolUse"] })
    expect(status).toBe(201)
    expect(body).toMatchObject({ ...plain, runner: "runner-1", cliVersion: "2.1.325", title: "Hello." })
    const spec = await runner.spec()
    expect(spec).toEqual({ ...plain, agent: "claude", session: body.id, spawn: spec.spawn })
    const agent = await runner.agent()
    await agent.hears("Hello.")
    agent.init({ cwd: "/srv", model: "opus" })
    agent.result()
    await expect
      .poll(() => stage.hub.core.getSession(body.id), WAIT)
      .toMatchObject({
        state: "idle",
        transport: "runner",
        turns: 1,
        agentSessionId: agent.sessionId,
      })
    expect(await fetch(`${stage.url}/metrics`).then((reply) => reply.text())).toContain(
      'signalbox_agents{transport="runner"} 1',
    )
  })

  it("[HR10] an agent that is here before the runner's answer waits for it", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage, { isSlow: true })
    const launching = launch(stage, { agent: "simulator", prompt: "Hello." })
    const agent = await runner.start()
    expect((await launching).body).toMatchObject({ cwd: "/home/agent" })
    await agent.hears("Hello.")
  })

  it("[HR10] with a first message it goes from starting to running, and is never told to be idle before", async () => {
    const stage = await openStage()
    const headers = { authorization: `Bearer ${stage.hub.admin.token}` }
    const viewer = await LineSocket.open(new WebSocket(`${stage.wsUrl}/api/stream`, { headers }))
    onTestFinished(() => viewer.close())
    viewer.send({ op: "subscribe", session: "*" })
    await viewer.find((message) => message["ev"] === "subscribed")
    const states = () => viewer.messages.flatMap((message) => textOf(fieldOf(message, "record"), "state") ?? [])
    const runner = await FakeRunner.connect(stage, { isSlow: true })
    const launching = launch(stage, { agent: "simulator", prompt: "Hello.", requestKey: "one" })
    const agent = await runner.start()
    const { body } = await launching
    await agent.hears("Hello.")
    expect((await stage.hub.core.getSession(body.id)).state).toBe("running")
    agent.init({})
    agent.result()
    await expect.poll(states, WAIT).toContain("idle")
    expect(states().filter((state, index) => state !== states()[index - 1])).toEqual(["starting", "running", "idle"])
  })

  it("[HR42] a launch waits for the runner that is started with the hub, also when it is started again", async () => {
    const stage = await openStage({ expectRunnerForMs: 60_000 })
    const first = launch(stage)
    const runner = await FakeRunner.connect(stage)
    expect((await first).status).toBe(201)
    runner.cut()
    await expect.poll(() => stage.hub.core.runners.list()[0]?.connected, WAIT).toBe(false)
    const second = launch(stage)
    await FakeRunner.connect(stage)
    expect((await second).status).toBe(201)
  })

  it("[HR42] but not for ever, and not where nobody starts one", async () => {
    const stage = await openStage({ expectRunnerForMs: 50 })
    expect((await launch(stage)).body.error).toMatchObject({ code: "runner/none" })
    const other = await openStage()
    const runner = await FakeRunner.connect(other)
    runner.cut()
    await expect.poll(() => other.hub.core.runners.list()[0]?.connected, WAIT).toBe(false)
    expect((await launch(other)).status).toBe(409)
  })

  it("[HR11] the runner is the one that is named, or else the one with most to spare", async () => {
    const stage = await openStage()
    const none = await launch(stage)
    expect(none).toMatchObject({ status: 409, body: { error: { code: "runner/none" } } })
    const box = await FakeRunner.connect(stage, { facts: { id: "a", name: "box", maxAgents: 1, labels: [] } })
    const mac = await FakeRunner.connect(stage, {
      facts: { id: "b", name: "mac", labels: ["gpu"], hasSimulator: false },
    })
    const chosen = async (body: Record<string, unknown>) => (await launch(stage, body)).body.runner
    expect(await chosen({ runner: "mac" })).toBe("b")
    expect(await chosen({ runner: "gpu" })).toBe("b")
    expect(await chosen({ runner: "a" })).toBe("a")
    const usage = (spawn: string) => ({ spawn, session: "s", pid: 1, memoryBytes: 0, cpuPercent: 0 })
    const machine = { op: "stats", memoryBytes: 0, freeMemoryBytes: 0, loadAverage: 0 } as const
    box.say({ ...machine, agents: [usage("1")] })
    mac.say({ ...machine, agents: [usage("1"), usage("2")] })
    await expect.poll(() => stage.hub.core.runners.list().map(({ agents }) => agents), WAIT).toEqual([1, 2])
    expect(await chosen({})).toBe("b")
    expect(await chosen({ agent: "simulator" })).toBe("a")
    expect(await launch(stage, { runner: "nobody" })).toMatchObject({ status: 404 })
    mac.leave()
    await expect
      .poll(() => stage.hub.core.runners.list().map(({ connected }) => connected), WAIT)
      .toEqual([true, false])
    const away = await launch(stage, { runner: "mac" })
    expect(away).toMatchObject({ status: 409, body: { error: { code: "runner/away" } } })
  })

  it("[HR12] a refusal of the runner's is told in its words, and nothing is left of the session", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    for (const [code, status] of [
      ["runner/full", 409],
      ["runner/no-claude", 409],
      ["runner/no-folder", 422],
      ["runner/of-a-newer-one", 422],
    ] as const) {
      runner.refusal = { code, message: "stop one first" }
      const refused = await launch(stage, { prompt: "Hello.", requestKey: "k" })
      expect(refused).toMatchObject({ status, body: { error: { message: "stop one first" } } })
    }
    const listed = await rest<{ sessions: unknown[] }>(stage, "GET", "/api/sessions")
    expect(listed.body.sessions).toEqual([])
    const again = await stage.reopen()
    expect((await again.hub.core.listSessions({ limit: 10 })).sessions).toEqual([])
  })

  it("[HR13] the same key is the same session and one prompt, also at the same time and after a restart", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const request = { requestKey: "key", prompt: "Once." }
    const both = await Promise.all([launch(stage, request), launch(stage, request)])
    const ids = [...both, await launch(stage, request)].map(({ body }) => body.id)
    expect(new Set(ids).size).toBe(1)
    expect(runner.asked).toHaveLength(1)
    const agent = await runner.agent()
    await agent.hears("Once.")
    runner.leave()
    const again = await stage.reopen()
    expect((await launch(again, request)).body.id).toBe(ids[0])
    await FakeRunner.connect(again, { token: runner.token, agents: [agent] })
    await agent.dial(again)
    await expect.poll(async () => (await again.hub.core.getSession(ids[0] ?? "")).transport, WAIT).toBe("runner")
    expect(new Set(agent.heard.filter(({ type }) => type === "user").map(({ uuid }) => uuid)).size).toBe(1)
  })

  it("[HR13] so it is with an agent that is started by hand", async () => {
    const stage = await openStage()
    const request = { agent: "external", requestKey: "by hand", prompt: "Once." }
    const all = await Promise.all([1, 2, 3].map(() => launch(stage, request)))
    const ids = [...all, await launch(stage, request)].map(({ body }) => body.id)
    expect(new Set(ids).size).toBe(1)
    const events = await eventsOf(stage, ids[0] ?? "")
    expect(events.map(({ line }) => textOf(JSON.parse(line), "type"))).toEqual(["user"])
  })

  it("[HR14] a launch leaves a record of who, what and where; variables are passed on and never told", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const env = { API_KEY: "a-secret" }
    const { body } = await launch(stage, { agent: { command: ["mine", "--x"] }, args: ["--y"], env, cwd: "/w" })
    expect(await runner.spec()).toMatchObject({ agent: { command: ["mine", "--x"] }, args: ["--y"], env })
    const audit = await rest<{ records: AuditRecord[] }>(stage, "GET", `/api/audit?session=${body.id}`)
    expect(audit.body.records).toMatchObject([
      {
        what: "session/launched",
        by: "admin",
        details: {
          runner: "runner-1",
          cwd: "/w",
          args: ["--y"],
          env: ["API_KEY"],
          agent: { command: ["mine", "--x"] },
        },
      },
    ])
    const told = [
      body,
      audit,
      await rest(stage, "GET", `/api/sessions/${body.id}`),
      await rest(stage, "GET", "/api/runners"),
    ]
    expect(JSON.stringify(told)).not.toContain("a-secret")
    const agent = await runner.agent()
    agent.exit({ reason: "it ended", code: 0 })
    await expect.poll(async () => (await stage.hub.core.getSession(body.id)).state, WAIT).toBe("ended")
    await call(stage, "POST", `/api/sessions/${body.id}/messages`, { content: "Go on." })
    expect(await runner.spec(1)).toMatchObject({ agent: { command: ["mine", "--x"] }, args: ["--y"], env, cwd: "/w" })
  })

  it("[HR15] a session that is over goes on as itself; one that lives is not resumed", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { cwd: "/srv", prompt: "One." })
    const agent = await runner.agent()
    agent.init({ cwd: "/srv", model: "opus", permissionMode: "plan" })
    agent.result()
    await agent.allAcked()
    const live = await launch(stage, { resume: body.id })
    expect(live).toMatchObject({ status: 409, body: { error: { code: "session/live" } } })
    agent.exit({ reason: "it ended", code: 0 })
    await expect.poll(async () => (await stage.hub.core.getSession(body.id)).state, WAIT).toBe("ended")
    const request = { resume: agent.sessionId, prompt: "Two.", title: "Again", requestKey: "again" }
    const resumed = await launch(stage, request)
    expect(resumed).toMatchObject({ status: 201, body: { id: body.id, title: "Again", cwd: "/srv" } })
    expect(resumed.body.exit).toBeUndefined()
    expect(await runner.spec(1)).toMatchObject({
      resume: agent.sessionId,
      cwd: "/srv",
      model: "opus",
      permissionMode: "plan",
    })
    await (await runner.agent(1)).hears("Two.")
    expect((await launch(stage, request)).body.id).toBe(body.id)
    expect(runner.asked.filter((asked) => asked.request.kind === "launch")).toHaveLength(2)
  })

  it("[HR15] a conversation that the CLI recorded begins a session", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { status, body } = await launch(stage, { resume: "recorded-elsewhere", prompt: "Go on." })
    expect(status).toBe(201)
    expect(await runner.spec()).toMatchObject({ resume: "recorded-elsewhere" })
    const agent = await runner.agent()
    agent.init()
    await expect
      .poll(async () => (await stage.hub.core.getSession(body.id)).agentSessionId, WAIT)
      .toBe("recorded-elsewhere")
  })

  it("[HR15] a conversation that went on under another id is not resumed behind its back, but it is forked", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage)
    const agent = await runner.agent()
    agent.init()
    agent.init({ session_id: "after-clear" })
    await expect.poll(async () => (await stage.hub.core.getSession(body.id)).next, WAIT).toBeDefined()
    const { next } = await stage.hub.core.getSession(body.id)
    const refused = await launch(stage, { resume: agent.sessionId })
    expect(refused).toMatchObject({ status: 409, body: { error: { code: "session/rotated" }, next } })
    expect(await launch(stage, { resume: body.id })).toMatchObject({ status: 409, body: { session: next } })
    const forked = await launch(stage, { resume: agent.sessionId, fork: true })
    expect(forked.body).toMatchObject({ parent: body.id })
    expect(await runner.spec(1)).toMatchObject({ resume: agent.sessionId, fork: true })
  })

  it("[PG21] a session whose conversation went on can be purged when that has ended: its process went along", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage)
    const agent = await runner.agent()
    agent.init()
    agent.init({ session_id: "after-clear" })
    await expect.poll(async () => (await stage.hub.core.getSession(body.id)).next, WAIT).toBeDefined()
    const { next } = await stage.hub.core.getSession(body.id)
    const purge = () => call(stage, "DELETE", `/api/sessions/${body.id}?purge=true`)
    expect((await purge()).status).toBe(409)
    expect((await rest(stage, "DELETE", `/api/sessions/${next}`)).status).toBe(200)
    expect((await purge()).status).toBe(204)
    expect((await rest(stage, "GET", `/api/sessions/${next}`)).status).toBe(200)
  })

  it("[HR16] a fork is a session of its own that names its parent, with what the parent had", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { cwd: "/srv", prompt: "One." })
    const nothing = await launch(stage, { resume: body.id, fork: true })
    expect(nothing).toMatchObject({ status: 400, body: { error: { code: "request/invalid" } } })
    const agent = await runner.agent()
    agent.init({ cwd: "/srv", model: "opus" })
    await agent.allAcked()
    const forked = await launch(stage, { resume: body.id, fork: true, prompt: "Another way." })
    const { lastSeq } = await stage.hub.core.getSession(body.id)
    const origin = { parent: body.id, parentSeq: lastSeq }
    expect(forked.body).toMatchObject({ ...origin, cwd: "/srv", model: "opus", agentSessionId: null })
    expect(await runner.spec(1)).toMatchObject({ resume: agent.sessionId, fork: true, cwd: "/srv" })
    const other = await runner.agent(1)
    other.init()
    await expect
      .poll(async () => (await stage.hub.core.getSession(forked.body.id)).agentSessionId, WAIT)
      .toBe(other.sessionId)
    expect((await stage.hub.core.getSession(body.id)).state).not.toBe("ended")
  })

  it("[HR43] a fork begins after a message of the parent's that is named, and then goes on from its own end", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { cwd: "/srv", prompt: "One." })
    const agent = await runner.agent()
    agent.init({ cwd: "/srv" })
    await agent.allAcked()
    for (const request of [{ resumeAt: "m" }, { resume: body.id, resumeAt: "m" }, { fork: true, resumeAt: "m" }]) {
      const refused = await launch(stage, request)
      expect(refused).toMatchObject({ status: 400, body: { error: { code: "request/invalid" } } })
      expect(JSON.stringify(refused.body)).toContain("resumeAt")
    }
    const forked = await launch(stage, { resume: body.id, fork: true, resumeAt: "m" })
    expect(forked.body).toMatchObject({ parent: body.id })
    expect(await runner.spec(1)).toMatchObject({ resume: agent.sessionId, fork: true, resumeAt: "m" })
    const audit = await rest<{ records: AuditRecord[] }>(stage, "GET", `/api/audit?session=${forked.body.id}`)
    expect(audit.body.records).toMatchObject([{ details: { fork: true, resumeAt: "m" } }])
    const other = await runner.agent(1)
    other.init()
    await other.allAcked()
    other.exit({ reason: "it ended", code: 0 })
    await expect.poll(async () => (await stage.hub.core.getSession(forked.body.id)).state, WAIT).toBe("ended")
    await call(stage, "POST", `/api/sessions/${forked.body.id}/messages`, { content: "Go on." })
    const again = await runner.spec(2)
    expect(again).toMatchObject({ resume: other.sessionId })
    expect([again.fork, again.resumeAt]).toEqual([undefined, undefined])
  })

  it("[HR43] a fork whose process died before it said anything begins again where it was to begin", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { cwd: "/srv", prompt: "One." })
    const agent = await runner.agent()
    agent.init({ cwd: "/srv" })
    await agent.allAcked()
    const { id } = (await launch(stage, { resume: body.id, fork: true, resumeAt: "m" })).body
    const beginning = { resume: agent.sessionId, fork: true, resumeAt: "m" }
    const dies = async (count: number) => {
      ;(await runner.agent(count)).exit({ reason: "it died", code: 1 })
      await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("ended")
    }
    await dies(1)
    expect((await send(stage, id, "Go on.")).status).toBe(202)
    expect(await runner.spec(2)).toMatchObject(beginning)
    await dies(2)
    expect(await launch(stage, { resume: id })).toMatchObject({ status: 201, body: { id } })
    expect(await runner.spec(3)).toMatchObject(beginning)
    // It says who it is, but nothing of it was recorded yet.
    const other = await runner.agent(3)
    other.init()
    await other.allAcked()
    await dies(3)
    runner.refusal = { code: "runner/no-transcript", message: "there is no record" }
    runner.refusesResumesOnly = true
    const refused = await send(stage, id, "Go on.")
    expect(refused).toMatchObject({ status: 409, body: { reason: "runner/no-transcript" } })
    expect(await runner.spec(4)).toMatchObject({ resume: other.sessionId })
    expect(await runner.spec(5)).toMatchObject(beginning)
    expect((await send(stage, id, "Go on.")).status).toBe(409)
    expect(await runner.spec(6)).toMatchObject(beginning)
    runner.refusal = undefined
    expect((await send(stage, id, "Go on.")).status).toBe(202)
    expect(await runner.spec(7)).toMatchObject(beginning)
  })

  it("[HR16] what only an admin may launch with, nobody else gets by a fork", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const operator = await tokenOf(stage, "operator")
    const { body } = await launch(stage, { env: { A: "b" } })
    const agent = await runner.agent()
    agent.init()
    await agent.allAcked()
    const forked = await launch(stage, { resume: body.id, fork: true }, operator.token)
    expect(forked).toMatchObject({ status: 403, body: { error: { code: "auth/forbidden" } } })
    agent.exit({ reason: "over", code: 0 })
    await expect.poll(async () => (await stage.hub.core.getSession(body.id)).state, WAIT).toBe("ended")
    const elsewhere = await launch(stage, { resume: body.id, cwd: "/elsewhere" }, operator.token)
    expect(elsewhere).toMatchObject({ status: 403, body: { error: { code: "auth/forbidden" } } })
    expect(await launch(stage, { resume: body.id }, operator.token)).toMatchObject({ status: 201 })
    expect(await launch(stage, { env: {} }, operator.token)).toMatchObject({ status: 403 })
    expect(await launch(stage, { permissionMode: "bypassPermissions" }, operator.token)).toMatchObject({ status: 403 })
    expect(await launch(stage, { cwd: "/w", model: "m" }, operator.token)).toMatchObject({ status: 201 })
  })

  it("[HR17] a worktree is made with the session and removed on request, not while its agent works in it", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { cwd: "/repo", worktree: { branch: "one" } })
    expect(await runner.spec()).toMatchObject({ cwd: "/repo", worktree: { branch: "one" } })
    expect(body.worktree).toEqual({ path: "/trees/one", branch: "signalbox/one" })
    await runner.agent()
    const path = `/api/sessions/${body.id}/worktree`
    expect(await rest(stage, "DELETE", path)).toMatchObject({ status: 409, body: { error: { code: "session/live" } } })
    await call(stage, "DELETE", `/api/sessions/${body.id}`)
    const kept = rest(stage, "DELETE", path)
    const { id } = await runner.request("remove-worktree")
    runner.say({ op: "refused", id, code: "runner/worktree", message: "two files are not committed" })
    expect(await kept).toMatchObject({ status: 409, body: { error: { code: "runner/worktree" } } })
    const removed = rest(stage, "DELETE", path)
    const again = await runner.request("remove-worktree", 1)
    expect(again.request).toEqual({ kind: "remove-worktree", path: "/trees/one" })
    runner.reply(again.id, {})
    expect((await removed).body).not.toHaveProperty("worktree")
    expect(await rest(stage, "DELETE", path)).toMatchObject({ status: 400 })
  })

  it("[HR18] a session whose agent was started by hand is resumed on a runner when it is asked for", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { id } = await openSession(stage)
    await call(stage, "DELETE", `/api/sessions/${id}`)
    expect(await launch(stage, { resume: id })).toMatchObject({ status: 201, body: { id, runner: "runner-1" } })
    expect(await runner.spec()).toMatchObject({ session: id, agent: "claude" })
  })

  it("[HR19] an agent that dials in does not take the place of one on a runner", async () => {
    const stage = await openStage({ anonymousAgents: true })
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage)
    await runner.agent()
    const stranger = new WebSocket(`${stage.wsUrl}/ws/cli/${body.id}`)
    const [, { statusCode }] = (await once(stranger, "unexpected-response")) as [unknown, IncomingMessage]
    expect(statusCode).toBe(401)
    expect((await stage.hub.core.getSession(body.id)).transport).toBe("runner")
  })

  it("[HR19] nor by naming its conversation, also when that has ended: a message still brings it back there", async () => {
    const stage = await openStage({ anonymousAgents: true })
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage)
    const agent = await runner.agent()
    agent.init({ session_id: "of the runner" })
    await expect.poll(async () => (await stage.hub.core.getSession(body.id)).agentSessionId, WAIT).toBe("of the runner")
    await call(stage, "DELETE", `/api/sessions/${body.id}`)
    const stranger = await LineSocket.open(new WebSocket(stage.wsUrl))
    onTestFinished(() => stranger.close())
    stranger.answer(await stranger.request("initialize"), {})
    stranger.send({
      type: "system",
      subtype: "init",
      uuid: "6b0d2cf8-0000-4000-8000-000000000009",
      session_id: "of the runner",
    })
    const all = async () => (await stage.hub.core.listSessions({ limit: 10 })).sessions
    await expect.poll(async () => (await all()).map(({ transport }) => transport), WAIT).toEqual(["websocket", null])
    expect(await stage.hub.core.getSession(body.id)).toMatchObject({ state: "ended", runner: "runner-1" })
    await rest(stage, "POST", `/api/sessions/${body.id}/messages`, { body: { content: "Go on." } })
    await (await runner.agent(1)).hears("Go on.")
  })

  it("[RC36] DirectConnect launches where there is a runner", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const body = { cwd: "/srv", permission_mode: "plan", session_key: "mine" }
    const reply = await rest<Record<string, string>>(stage, "POST", "/sessions", { body })
    const { session, ...spec } = await runner.spec()
    expect(spec).toMatchObject({ agent: "claude", cwd: "/srv", permissionMode: "plan" })
    expect(reply).toMatchObject({ status: 200, body: { session_id: session, work_dir: "/srv", session_key: "mine" } })
    expect(reply.body["ws_url"]).toBe(`${stage.wsUrl}/ws/session/${session}`)
    const again = await rest<Record<string, string>>(stage, "POST", "/sessions", { body })
    expect(again.body["session_id"]).toBe(session)
  })
})
