import { describe, expect, it } from "vitest"
import { ScriptedAgent } from "../clients/scripted-agent.ts"
import { call, openClient, openSession, openStage, type Stage, tokenOf } from "../clients/stage.ts"
import { FakeRunner } from "./fake-runner.ts"
import { launch, rest, send, WAIT } from "./launching.ts"

const IN_INITIALIZE = {
  systemPrompt: "You are X.",
  appendSystemPrompt: "And more.",
  agents: { helper: { description: "helps", prompt: "Help." } },
}
const SCHEMA = { type: "object", properties: { a: { type: "string" } } }
const IN_FLAGS = {
  maxTurns: 3,
  maxBudgetUsd: 1.5,
  allowedTools: ["Read"],
  disallowedTools: ["Write"],
  additionalDirectories: ["/elsewhere"],
  settingSources: ["user"],
  mcpServers: { web: { type: "http", url: "http://127.0.0.1:1" } },
  effort: "low",
  thinking: { type: "enabled", budgetTokens: 2000 },
  betas: ["x"],
}
const OUTPUT = { outputFormat: { type: "json_schema", schema: SCHEMA } }
const ALL = { ...IN_INITIALIZE, ...IN_FLAGS, ...OUTPUT }
const GREETING = { ...IN_INITIALIZE, jsonSchema: SCHEMA }

async function end(stage: Stage, id: string, agent: { exit(exit: { reason: string; code: number }): void }) {
  agent.exit({ reason: "over", code: 0 })
  await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("ended")
}

describe("the options of a launch", () => {
  it("[HA62] become flags or the hub's first initialize, and come back with the session, also after a restart", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { status, body } = await launch(stage, ALL)
    expect(status).toBe(201)
    const spec = await runner.spec()
    expect(spec.options).toEqual({ ...IN_FLAGS, ...OUTPUT })
    expect(spec.initializes).toEqual(["systemPrompt", "appendSystemPrompt", "agents", "outputFormat"])
    const agent = await runner.agent()
    expect(agent.heard[0]).toMatchObject({ type: "control_request", request: { subtype: "initialize", ...GREETING } })
    agent.init({ cwd: "/srv" })
    agent.result()
    await expect.poll(async () => (await stage.hub.core.getSession(body.id)).turns, WAIT).toBe(1)
    await end(stage, body.id, agent)
    runner.leave()
    const again = await stage.reopen()
    const later = await FakeRunner.connect(again, { token: runner.token })
    await send(again, body.id, "Go on.")
    expect((await later.spec()).options).toEqual({ ...IN_FLAGS, ...OUTPUT })
    expect((await later.agent()).heard[0]).toMatchObject({ request: GREETING })
    const fork = await launch(again, { resume: body.id, fork: true, maxTurns: 9 })
    expect(fork.status).toBe(201)
    expect((await later.spec(1)).options).toEqual({ ...IN_FLAGS, ...OUTPUT, maxTurns: 9 })
    expect((await later.agent(1)).heard[0]).toMatchObject({ request: GREETING })
  })

  it("[HA62] are flags of the pasted command, and greet whoever runs it", async () => {
    const stage = await openStage()
    const { id, ingress } = await openSession(stage, ALL)
    for (const words of [
      "--max-turns 3",
      "--allowedTools Read",
      "--add-dir /elsewhere",
      "--max-thinking-tokens 2000",
    ]) {
      expect(ingress.command).toContain(words)
    }
    expect(ingress.command).not.toContain("You are X.")
    const agent = await ScriptedAgent.dial(ingress)
    expect(agent.requests("initialize")[0]).toMatchObject({ request: GREETING })
    agent.close()
    expect((await stage.hub.core.getSession(id)).id).toBe(id)
  })

  it("[HA63] an operator sets those that start no process and permit nothing; each other is refused by name", async () => {
    const stage = await openStage()
    await FakeRunner.connect(stage)
    const { token } = await tokenOf(stage, "operator")
    const { allowedTools: _a, additionalDirectories: _d, settingSources: _s, ...plain } = ALL
    expect((await launch(stage, plain, token)).status).toBe(201)
    const agent = (fields: object) => ({ agents: { helper: { description: "d", prompt: "p", ...fields } } })
    for (const [name, body] of [
      ["allowedTools", { allowedTools: [] }],
      ["additionalDirectories", { additionalDirectories: ["/"] }],
      ["settingSources", { settingSources: [] }],
      ["mcpServers.x", { mcpServers: { x: { command: "sh" } } }],
      ["mcpServers.x", { mcpServers: { x: { type: "stdio", command: "sh" } } }],
      ["mcpServers.x", { mcpServers: { x: { type: "http", url: "http://x", headersHelper: "sh" } } }],
      ["agents.helper.mcpServers", agent({ mcpServers: [{ x: { command: "sh" } }] })],
      ["agents.helper.mcpServers", agent({ mcpServers: { x: { command: "sh" } } })],
      ["agents.helper.hooks", agent({ hooks: { Stop: [] } })],
      ["agents.helper.permissionMode", agent({ permissionMode: "bypassPermissions" })],
    ] as const) {
      const refused = await launch(stage, body, token)
      expect([refused.status, refused.body.error?.message], name).toEqual([403, expect.stringContaining(`\`${name}\``)])
      expect((await launch(stage, body)).status, name).toBe(201)
    }
    const remote = agent({ mcpServers: ["web", { x: { type: "sse", url: "http://x" } }], permissionMode: "plan" })
    expect((await launch(stage, remote, token)).status).toBe(201)
  })

  it("[HA62] are bounded and checked by name; a server of a program is none of a launch's", async () => {
    const stage = await openStage()
    await FakeRunner.connect(stage)
    for (const [body, said] of [
      [{ systemPrompt: "x".repeat(300_000) }, "characters together"],
      [{ maxTurns: 0 }, "maxTurns"],
      [{ maxBudgetUsd: -1 }, "maxBudgetUsd"],
      [{ thinking: { type: "adaptive", budgetTokens: 5 } }, "thinking.budgetTokens"],
      [{ outputFormat: { type: "xml" } }, "outputFormat"],
      [{ mcpServers: { x: { type: "sdk", name: "x" } } }, "a program that attaches"],
      [{ additionalDirectories: ["a\0b"] }, "NUL"],
    ] as const) {
      const reply = await launch(stage, body)
      expect([reply.status, reply.body.error?.message]).toEqual([400, expect.stringContaining(said)])
    }
  })

  it("[HA64] a runner older than the hub is not asked to pass on what it would leave out", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage, { facts: { takesOptions: false } })
    const refused = await launch(stage, { maxTurns: 3 })
    expect(refused.body.error).toMatchObject({ code: "runner/invalid", message: expect.stringContaining("maxTurns") })
    expect(runner.asked).toEqual([])
    expect((await launch(stage, { systemPrompt: "X" })).status).toBe(201)
  })
})

describe("an initialize on a session that was launched", () => {
  it("[HA65] is refused by the name of what this agent was not started with; the same, and nothing, are fine", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { ...IN_INITIALIZE, ...OUTPUT })
    await runner.agent()
    const client = await openClient(stage, body.id)
    const say = (id: string, fields: object) => client.ask(id, { subtype: "initialize", ...fields })
    expect(await say("1", GREETING)).toMatchObject({ subtype: "success" })
    expect(await say("2", { systemPrompt: [""], agents: {} })).toMatchObject({ subtype: "success" })
    expect(await say("3", { systemPrompt: ["You are X."] })).toMatchObject({ subtype: "success" })
    for (const [field, value] of Object.entries({
      systemPrompt: "You are Y.",
      appendSystemPrompt: "Less.",
      agents: { helper: { description: "helps", prompt: "Hinder." } },
      jsonSchema: { type: "string" },
      planModeInstructions: "Plan.",
      fromTheFuture: true,
    })) {
      const error = expect.stringContaining(`initialize: ${field}: `)
      expect(await say(field, { [field]: value })).toMatchObject({ subtype: "error", error })
      const request = { subtype: "initialize", [field]: value }
      const path = `/api/sessions/${body.id}/control`
      expect(await rest(stage, "POST", path, { body: { request } })).toMatchObject({
        status: 400,
        body: { error: { message: error } },
      })
    }
    const hooks = { request: { subtype: "initialize", hooks: {} } }
    expect((await call(stage, "POST", `/api/sessions/${body.id}/control`, hooks)).status).toBe(400)
  })

  it("[HA65] a resume of a session that lives is told what only another process could have", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { systemPrompt: "X", maxTurns: 3 })
    await runner.agent()
    const live = await rest<{ differs: string[] }>(stage, "POST", "/api/sessions", {
      body: { resume: body.id, systemPrompt: "X", maxTurns: 4, effort: "low" },
    })
    expect([live.body.error?.code, live.body.differs]).toEqual(["session/live", ["maxTurns", "effort"]])
  })
})
