import type { Ask, AuditRecord, Backtest, Session } from "@signalbox/protocol/hub-api"
import { describe, expect, it } from "vitest"
import type { AskVerdict } from "../../src/asks/answer.ts"
import { Enforcement, type EnforcementOptions, narrowed } from "../../src/clients/enforcement.ts"
import { PolicyDesk } from "../../src/policy-desk.ts"
import { readPolicy } from "../../src/policy-document.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { type FakeAgent, FakeRunner } from "../runners/fake-runner.ts"
import { launch, rest, send, WAIT } from "../runners/launching.ts"
import { setUpSessions } from "../session/session-setup.ts"
import { openClient, openStage, type Stage } from "./stage.ts"

const RULES = [
  { id: "no-cat", effect: "deny", tool: "Bash", input: { command: "cat *" }, message: "Do not read secrets here." },
  { id: "no-secrets", effect: "deny", input: { file_path: "/srv/secrets/**" } },
  { id: "ask-ls", effect: "ask", tool: "Bash", input: { command: "ls *" } },
  { id: "allow-npm", effect: "allow", tool: "Bash", input: { command: "npm ci" } },
]

interface Scene {
  readonly stage: Stage
  readonly runner: FakeRunner
  readonly agent: FakeAgent
  readonly id: string
}

async function enforced(rules: readonly unknown[] = RULES): Promise<Scene> {
  const stage = await openStage()
  expect((await rest(stage, "PUT", "/api/policy", { body: { rules, enforce: "everything" } })).status).toBe(200)
  const runner = await FakeRunner.connect(stage)
  const { id } = (await launch(stage, { cwd: "/srv" })).body
  const agent = await runner.agent()
  agent.init({ cwd: "/srv" })
  return { stage, runner, agent, id }
}

const bash = (command: string) => ({ tool_name: "Bash", tool_input: { command } })
const decided = (permissionDecision: string, more: object = {}) => ({
  hookSpecificOutput: expect.objectContaining({ hookEventName: "PreToolUse", permissionDecision, ...more }),
})
const sessionOf = async ({ stage, id }: Pick<Scene, "stage" | "id">) =>
  (await rest<Session>(stage, "GET", `/api/sessions/${id}`)).body
const DENY: AskVerdict = { effect: "deny", rule: "r", reason: "no" }
const ASK: AskVerdict = { effect: "ask", rule: "r", reason: "hm" }
const ALLOW: AskVerdict = { effect: "allow", reason: "fine" }

describe("a tool call before it runs", () => {
  it("[EN6] is denied by a deny rule, asked about by an ask rule, and otherwise left to the agent", async () => {
    const { agent } = await enforced()
    for (const [id, command] of ["cat .env", "ls -a", "npm ci", "touch x", "cat $(x"].entries())
      agent.callHook(`${id}`, bash(command))
    expect(await agent.answerTo("hook-0")).toEqual(
      decided("deny", { permissionDecisionReason: "Do not read secrets here." }),
    )
    expect(await agent.answerTo("hook-1")).toEqual(decided("ask"))
    expect(await agent.answerTo("hook-2")).toEqual({})
    expect(await agent.answerTo("hook-3")).toEqual({})
    expect(await agent.answerTo("hook-4")).not.toEqual({})
    agent.callHook("unknown", { tool_name: "NoSuchTool", tool_input: {} })
    expect(await agent.answerTo("hook-unknown")).toEqual({})
  })

  it("[EN6] asks where the rules take too much work, and never allows", async () => {
    const desk = new PolicyDesk(new MemoryDirectory())
    const rules = [{ id: "etc", effect: "deny", input: { file_path: "/etc/*" } }]
    await desk.put(await readPolicy({ rules, enforce: "everything" }), { by: "admin" })
    const paths = Array.from({ length: 10_000 }, (_, n) => `/a/b/c/${n}`)
    const verdict = desk.judgeCall({ tool: "X", input: { file_path: paths } }, { session: "s" })
    expect(verdict).toMatchObject({ effect: "ask", reason: expect.stringContaining("cannot tell") })
    for (const one of [DENY, ASK])
      expect(JSON.stringify(narrowed({ decision: "approve" }, one))).not.toMatch(/allow|approve/)
  })

  it("[EN7] has been through the hooks of programs: what they made of it is judged", async () => {
    const scene = await enforced()
    const client = await openClient(scene.stage, scene.id)
    const hooks = { PreToolUse: [{ hookCallbackIds: ["c1"] }] }
    client.send({ type: "control_request", request_id: "i1", request: { subtype: "initialize", hooks } })
    await client.ofType("control_response")
    const said = (command: string) => ({
      continue: false,
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: { command } },
    })
    const answerHook = async (nth: number, response: unknown) => {
      await expect.poll(() => client.messages.filter(isHook)[nth], WAIT).toBeDefined()
      const request_id = client.messages.filter(isHook)[nth]?.["request_id"]
      client.send({ type: "control_response", response: { subtype: "success", request_id, response } })
    }
    scene.agent.callHook("bad", bash("touch x"))
    await answerHook(0, said("cat .env"))
    expect(await scene.agent.answerTo("hook-bad")).toEqual(decided("deny"))
    scene.agent.callHook("good", bash("cat .env"))
    await answerHook(1, said("touch x"))
    expect(await scene.agent.answerTo("hook-good")).toEqual(said("touch x"))
  })

  it("[EN7] keeps what hooks said in a form that the CLI can read, and no `continue` where it is stopped", () => {
    const said = {
      continue: false,
      systemMessage: "hi",
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" },
    }
    expect(narrowed(said, ALLOW)).toEqual(said)
    expect(narrowed(said, DENY)).toEqual(decided("deny", { permissionDecisionReason: "no" }))
    expect(narrowed(said, ASK)).toEqual({ systemMessage: "hi", ...decided("ask", { permissionDecisionReason: "hm" }) })
    const denied = { continue: false, decision: "block", reason: "theirs" }
    for (const verdict of [ALLOW, ASK])
      expect(narrowed(denied, verdict)).toEqual({ decision: "block", reason: "theirs" })
  })

  it("[EN8] is denied where it cannot be judged", async () => {
    const session = setUpSessions().registry.create({ agent: "external" })
    const troubles: string[] = []
    const works: EnforcementOptions = {
      policy: { judgeCall: () => ALLOW },
      directory: new MemoryDirectory(),
      trouble: (_session, what) => troubles.push(what),
    }
    const fails = () => {
      throw new Error("broken")
    }
    const request = { subtype: "hook_callback", input: { tool_use_id: "t1", ...bash("ls") } }
    const narrow = (change: Partial<EnforcementOptions>, asked = request, outputs = async () => ({})) =>
      new Enforcement({ ...works, ...change }).narrow(session, asked, outputs)
    expect(await narrow({})).toEqual({})
    const wrong = {
      async: true,
      systemMessage: 5,
      hookSpecificOutput: { permissionDecision: "yes", updatedInput: "x", more: 1 },
    }
    expect(await narrow({}, request, async () => wrong)).toEqual({})
    const denied = decided("deny")
    expect(await narrow({ policy: { judgeCall: fails } })).toEqual(denied)
    const full = { addSeenCall: async () => fails(), getSeenCall: async () => undefined, addAudit: async () => fails() }
    expect(await narrow({ directory: full })).toEqual(denied)
    expect(await narrow({}, { ...request, input: bash("ls") as never })).toEqual(denied)
    expect(await narrow({}, request, async () => fails())).toEqual(denied)
    await expect.poll(() => troubles).toHaveLength(5)
  })

  it("[EN19] is in the audit when it could not be judged", async () => {
    const session = setUpSessions().registry.create({ agent: "external" })
    const directory = new MemoryDirectory()
    const judgeCall = () => {
      throw new Error("broken")
    }
    const enforcement = new Enforcement({ policy: { judgeCall }, directory, trouble: () => undefined })
    const request = { subtype: "hook_callback", input: { tool_use_id: "t1", ...bash("ls") } }
    await enforcement.narrow(session, request, async () => ({}))
    await expect
      .poll(() => directory.listAudit({ after: 0, limit: 9 }))
      .toMatchObject([
        {
          what: "call/denied",
          by: "hub",
          via: "hub",
          sessionId: session.id,
          details: { toolName: "Bash", toolUseId: "t1" },
        },
      ])
  })

  it("[EN8] is denied when its hook names no tool, or too many are open; a hook that the hub does not know is judged too", async () => {
    const scene = await enforced()
    scene.agent.callHook("theirs", { tool_name: 5 }, "hook_0")
    expect(await scene.agent.answerTo("hook-theirs")).toEqual(decided("deny"))
    scene.agent.callHook("unknown", bash("cat .env"), "hook_0")
    expect(await scene.agent.answerTo("hook-unknown")).toEqual(decided("deny"))
    scene.agent.callHook("no-input", { tool_name: "Bash", tool_input: "cat .env" })
    expect(await scene.agent.answerTo("hook-no-input")).toEqual(decided("deny"))
    const client = await openClient(scene.stage, scene.id)
    const hooks = { PreToolUse: [{ hookCallbackIds: ["c1"], timeout: 300 }] }
    client.send({ type: "control_request", request_id: "i1", request: { subtype: "initialize", hooks } })
    await client.ofType("control_response")
    for (let n = 0; n <= 1_000; n++) scene.agent.callHook(`n${n}`, bash("touch x"))
    expect(await scene.agent.answerTo("hook-n1000")).toEqual(decided("deny"))
  })

  it("[EN9] that a rule asks about in the agent's folder is not allowed by a rule for its session's", async () => {
    const rules = [
      { id: "ask-keys", effect: "ask", tool: "Read", input: { file_path: "/srv/keys/**" } },
      { id: "reads", effect: "allow", tool: "Read" },
    ]
    const { agent, stage } = await enforced(rules)
    const read = { tool_name: "Read", tool_input: { file_path: "one" } }
    agent.callHook("t1", { ...read, cwd: "/srv/keys" })
    expect(await agent.answerTo("hook-t1")).toEqual(decided("ask"))
    const request = { subtype: "can_use_tool", tool_name: "Read", input: read.tool_input }
    for (const id of ["t1", "t2"])
      agent.say({ type: "control_request", request_id: id, request: { ...request, tool_use_id: id } })
    expect(await agent.answerTo("t2")).toMatchObject({ behavior: "allow" })
    const { body } = await rest<{ asks: Ask[] }>(stage, "GET", "/api/asks?state=pending")
    expect(body.asks).toMatchObject([{ requestId: "t1", rule: "ask-keys" }])
  })

  it("[EN9] is judged in the folder that the agent has gone to, too, and in the mode that the hook names", async () => {
    const { agent } = await enforced([
      ...RULES,
      { id: "no-bypass", effect: "deny", tool: "Write", mode: "bypassPermissions" },
    ])
    const read = { tool_name: "Read", tool_input: { file_path: "key" } }
    agent.callHook("at-home", { ...read, cwd: "/srv" })
    agent.callHook("gone", { ...read, cwd: "/srv/secrets" })
    expect(await agent.answerTo("hook-at-home")).toEqual({})
    expect(await agent.answerTo("hook-gone")).toEqual(decided("deny"))
    const write = { tool_name: "Write", tool_input: { file_path: "x" } }
    agent.callHook("asking", write)
    agent.callHook("bypassing", { ...write, permission_mode: "bypassPermissions" })
    expect(await agent.answerTo("hook-asking")).toEqual({})
    expect(await agent.answerTo("hook-bypassing")).toEqual(decided("deny"))
  })
})

describe("an answer to a request", () => {
  const question = (more: object = {}) => ({
    subtype: "can_use_tool",
    tool_name: "Bash",
    input: { command: "touch x" },
    tool_use_id: "t1",
    ...more,
  })

  async function asked(scene: Scene, request: object): Promise<Ask> {
    scene.agent.say({ type: "control_request", request_id: "ask-1", request })
    const open = async () => (await rest<{ asks: Ask[] }>(scene.stage, "GET", "/api/asks?state=pending")).body.asks
    await expect.poll(open, WAIT).toHaveLength(1)
    const [ask] = await open()
    if (ask === undefined) throw new Error("nothing was asked")
    return ask
  }

  it("[EN10] that puts a denied input in the place of the agent's is refused, and the request stays open", async () => {
    const scene = await enforced()
    const { id } = await asked(scene, question())
    const answer = (command: string) =>
      rest(scene.stage, "POST", `/api/asks/${id}/answer`, { body: { behavior: "allow", updatedInput: { command } } })
    expect(await answer("cat .env")).toMatchObject({
      status: 409,
      body: { error: { code: "policy/denies", message: expect.stringContaining("Do not read secrets here.") } },
    })
    expect(await answer("ls -a")).toMatchObject({ status: 200, body: { state: "allowed" } })
    expect(await scene.agent.answerTo("ask-1")).toMatchObject({ updatedInput: { command: "ls -a" } })
  })

  it("[EN10] of a program that does so denies the call", async () => {
    const scene = await enforced()
    const client = await openClient(scene.stage, scene.id)
    client.send({ type: "control_request", request_id: "i1", request: { subtype: "initialize" } })
    await asked(scene, question())
    await client.find(({ request_id }) => request_id === "ask-1")
    const response = { behavior: "allow", updatedInput: { command: "cat .env" } }
    client.send({ type: "control_response", response: { subtype: "success", request_id: "ask-1", response } })
    expect(await scene.agent.answerTo("ask-1")).toMatchObject({
      behavior: "deny",
      message: expect.stringContaining("Do not read secrets here."),
    })
  })

  it.each([
    [{}, undefined],
    [{ decision_reason_type: "hook" }, { toolName: "Bash", ruleContent: "touch x" }],
    [{ decision_reason_type: "hook", input: { command: "ls -a" } }, undefined],
    [{ decision_reason_type: "hook", input: { command: "a\nb" } }, undefined],
    [
      { decision_reason_type: "hook", tool_name: "Write", input: { file_path: "/srv/a" } },
      { toolName: "Write", ruleContent: "//srv/a" },
    ],
    [{ decision_reason_type: "hook", tool_name: "mcp__x__y", input: {} }, { toolName: "mcp__x__y" }],
    [{ decision_reason_type: "hook", tool_name: "AskUserQuestion", input: {} }, undefined],
    // A suggestion that no rule can express would not keep the hub from asking again.
    [{ decision_reason_type: "hook", input: { command: "touch x && touch y" } }, undefined],
    [{ decision_reason_type: "hook", input: { command: "touch x", dangerouslyDisableSandbox: true } }, undefined],
    [
      { decision_reason_type: "hook", tool_name: "WebFetch", input: { url: "https://example.com/a" } },
      { toolName: "WebFetch", ruleContent: "domain:example.com" },
    ],
    [{ decision_reason_type: "hook", tool_name: "WebFetch", input: { url: "https://example.com:8443/a" } }, undefined],
  ])("[EN11] %j: the hub suggests %j", async (request, rule) => {
    const { suggestions } = await asked(await enforced(), question(request))
    expect(suggestions).toEqual(
      rule && [{ type: "addRules", rules: [rule], behavior: "allow", destination: "session" }],
    )
  })
})

describe("what was judged", () => {
  it("[EN12] is kept with its verdict and the number of its event, before it is answered", async () => {
    const { stage, agent, id } = await enforced()
    agent.callTool("t1", { command: "cat .env" })
    agent.callTool("t2", { command: "touch x" })
    for (const call of ["t1", "t2"]) await agent.answerTo(`hook-${call}`)
    agent.callHook("t3", bash("touch y"))
    await agent.answerTo("hook-t3")
    const { body } = await rest<{ events: { seq: number; message: object }[] }>(
      stage,
      "GET",
      `/api/sessions/${id}/events`,
    )
    const seqOf = (call: string) =>
      body.events.find(({ message }) => JSON.stringify(message).includes(`"${call}"`))?.seq
    await stage.hub.close()
    const store = await stage.openStore()
    const seen = await store.directory.listSeenCalls({ session: id, after: 0, limit: 10 })
    await store.close()
    const about = { sessionId: id, tool: "Bash", mode: "default" }
    expect(seen).toMatchObject([
      { ...about, toolUseId: "t1", effect: "deny", rule: "no-cat", seq: seqOf("t1") },
      { ...about, toolUseId: "t2", effect: "allow", seq: seqOf("t2") },
      { ...about, toolUseId: "t3", effect: "allow", seq: null, input: { command: "touch y" } },
    ])
    expect(seen[0]).not.toHaveProperty("input")
  })

  it("[BT16] is tested by another policy with the requests, each call once", async () => {
    const scene = await enforced()
    const { stage, agent, id } = scene
    agent.callTool("t1", { command: "touch x" })
    agent.callTool("t2", { command: "ls -a" })
    for (const call of ["t1", "t2"]) await agent.answerTo(`hook-${call}`)
    const request = { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: "t2", input: { command: "ls -a" } }
    agent.say({ type: "control_request", request_id: "ask-1", request })
    const open = async () => (await rest<{ asks: Ask[] }>(stage, "GET", "/api/asks?state=pending")).body.asks
    await expect.poll(open, WAIT).toHaveLength(1)
    const [ask] = await open()
    const policy = { rules: [...RULES, { id: "nothing", effect: "deny", tool: "Bash" }] }
    const { body } = await rest<Backtest>(stage, "POST", "/api/policy/test", { body: { policy } })
    expect(body).toMatchObject({ requests: 2, notTestable: 0, newlyDenied: { count: 2 } })
    const [asked, seen] = body.newlyDenied.examples
    expect(asked).toMatchObject({ ask: ask?.id, text: "ls -a", was: "ask" })
    expect(seen).toMatchObject({ session: id, text: "touch x", was: "allow", would: "deny", rule: "nothing" })
    expect(seen).not.toHaveProperty("ask")
    const { body: history } = await rest<{ events: { seq: number; message: object }[] }>(
      stage,
      "GET",
      `/api/sessions/${id}/events`,
    )
    expect(JSON.stringify(history.events.find(({ seq }) => seq === seen?.seq))).toContain('"t1"')
  })
})

describe("a call that a rule denied", () => {
  it("[EN19] is in the audit once, with the rule, its place, the part that decided and what would have to change", async () => {
    const { stage, agent, id } = await enforced()
    agent.callTool("t1", { command: "true && cat .env" })
    await agent.answerTo("hook-t1")
    agent.callHook("again", { ...bash("true && cat .env"), tool_use_id: "t1" })
    agent.callHook("t2", { tool_name: "Read", tool_input: { file_path: "/srv/secrets/key" } })
    agent.callHook("t3", bash("ls -a"))
    agent.callHook("t4", bash("touch x"))
    for (const call of ["again", "t2", "t3", "t4"]) await agent.answerTo(`hook-${call}`)
    const { body } = await rest<{ records: AuditRecord[] }>(stage, "GET", `/api/audit?session=${id}&what=call/denied`)
    expect(body.records).toMatchObject([
      {
        by: "rule no-cat",
        via: "policy",
        askId: null,
        details: {
          toolName: "Bash",
          toolUseId: "t1",
          seq: expect.any(Number),
          rule: "no-cat",
          reason: 'Rule "no-cat" forbids this.',
          why: {
            rules: [{ id: "no-cat", place: 1 }],
            field: "command",
            span: { start: 8, end: 16 },
            text: "cat .env",
            change: 'To allow it, change or remove rule "no-cat" (number 1).',
          },
        },
      },
      { details: { toolUseId: "t2", rule: "no-secrets", why: { field: "file_path", text: "/srv/secrets/key" } } },
    ])
    const byRule = await rest<{ records: AuditRecord[] }>(stage, "GET", "/api/audit?rule=no-secrets&tool=Read")
    expect(byRule.body.records).toHaveLength(1)
  })

  it("[EN19] that a rule asks about says so in its request, also where the rule fits only in the agent's folder", async () => {
    const rules = [...RULES, { id: "ask-keys", effect: "ask", tool: "Read", input: { file_path: "/srv/keys/**" } }]
    const { agent, stage } = await enforced(rules)
    const read = { tool_name: "Read", tool_input: { file_path: "one" } }
    agent.callHook("t1", { ...read, cwd: "/srv/keys" })
    expect(await agent.answerTo("hook-t1")).toEqual(decided("ask"))
    const request = { subtype: "can_use_tool", tool_name: "Read", input: read.tool_input, tool_use_id: "t1" }
    agent.say({ type: "control_request", request_id: "t1", request })
    const open = async () => (await rest<{ asks: Ask[] }>(stage, "GET", "/api/asks?state=pending")).body.asks
    await expect.poll(open, WAIT).toMatchObject([
      {
        rule: "ask-keys",
        reason: 'Rule "ask-keys" wants a person to decide this.',
        why: { rules: [{ id: "ask-keys", place: 5 }], field: "file_path", text: "one" },
      },
    ])
  })
})

/** As 2.1.200 to 2.1.325 say it. */
const DID_NOT_RUN = [
  "<tool_use_error>InputValidationError: Bash failed</tool_use_error>",
  "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
  "PreToolUse hook did not respond before its timeout (host client may be unreachable). The tool call was not executed; other configured hooks may not have completed.",
  "The SDK host reconnected before its PreToolUse hook answered, so this tool call was not executed. No one denied it; retry the same tool call.",
  "The user doesn't want to proceed with this tool use. The tool use was rejected.",
  "[Request interrupted by user for tool use]",
  "[Tool call did not complete: the turn was ended to deliver the message that follows.]",
  "[Tool result missing due to internal error]",
  "Permission to use Bash with command x has been denied.",
  "Tool permission request failed: AbortError",
  "The policy decides about every tool call, and its hub did not answer in time. Try again later.",
  "The hub could not judge this tool call, so it is denied. Try again.",
]

describe("a tool that ran", () => {
  const losses = async ({ stage, id }: Scene) => {
    const path = `/api/audit?session=${id}&what=session/not-enforced`
    const { body } = await rest<{ records: AuditRecord[] }>(stage, "GET", path)
    return body.records.map(({ by, details }) => ({ by, ...details }))
  }
  const interrupts = ({ agent }: Scene) =>
    agent.heard.filter((message) => JSON.stringify(message).includes('"interrupt"')).length

  it("[EN15] without a hook makes the session lost, and each is interrupted and audited once", async () => {
    const scene = await enforced()
    scene.agent.toolResult("unseen-1", "done")
    await expect.poll(async () => (await sessionOf(scene)).enforce, WAIT).toBe("lost")
    await expect.poll(() => interrupts(scene), WAIT).toBe(1)
    scene.agent.toolResult("unseen-2", "Exit code 3", true)
    scene.agent.toolResult("unseen-1", "done")
    await expect.poll(() => interrupts(scene), WAIT).toBe(3)
    const told = (toolUseId: string) => ({ by: "hub", toolUseId, seq: expect.any(Number) })
    await expect.poll(() => losses(scene), WAIT).toEqual([told("unseen-1"), told("unseen-2")])
  })

  it("[EN15] in a process that turns out to be older than 2.1.200 is not awaited: it is lost at its init", async () => {
    const scene = await enforced()
    scene.agent.init({ claude_code_version: "2.1.325" })
    await scene.agent.allAcked()
    expect((await sessionOf(scene)).enforce).toBe("everything")
    scene.agent.init({ claude_code_version: "2.1.199" })
    scene.agent.init({ claude_code_version: "2.1.199" })
    await expect.poll(async () => (await sessionOf(scene)).enforce, WAIT).toBe("lost")
    await expect.poll(() => interrupts(scene), WAIT).toBe(2)
    await expect
      .poll(() => losses(scene), WAIT)
      .toEqual([{ by: "hub", cliVersion: "2.1.199", seq: expect.any(Number) }])
  })

  it("[EN20] in a lost session gets no more messages; once it is stopped the next one starts a process that is judged", async () => {
    const scene = await enforced()
    const { agent, stage, id } = scene
    const uuid = "11111111-1111-4111-8111-111111111111"
    await send(stage, id, "Begin.", uuid)
    agent.toolResult("unseen", "done")
    await expect.poll(async () => (await sessionOf(scene)).enforce, WAIT).toBe("lost")
    expect(await send(stage, id, "Go on.")).toMatchObject({
      status: 409,
      body: { error: { code: "policy/cannot-enforce", message: expect.stringContaining("stop it") } },
    })
    // One that was taken before is not sent again, and not refused.
    expect((await send(stage, id, "Begin.", uuid)).status).toBeLessThan(300)
    expect(agent.prompts).toEqual(["Begin."])
    await rest(stage, "DELETE", `/api/sessions/${id}`)
    await expect.poll(async () => (await sessionOf(scene)).state, WAIT).toBe("ended")
    expect((await send(stage, id, "Go on.")).status).toBeLessThan(300)
    const next = await scene.runner.agent(1)
    await next.hears("Go on.")
    expect((await sessionOf(scene)).enforce).toBe("everything")
    next.callHook("t1", bash("cat .env"))
    expect(await next.answerTo("hook-t1")).toEqual(decided("deny"))
  })

  it.each([
    ["SECRET", false],
    ["cat: .env: Permission denied", true],
  ])("[EN15] though it was denied counts as unseen: %j", async (content, isError) => {
    const scene = await enforced()
    scene.agent.callTool("t1", { command: "cat .env" })
    await scene.agent.answerTo("hook-t1")
    scene.agent.toolResult("t1", content, isError)
    await expect.poll(async () => (await sessionOf(scene)).enforce, WAIT).toBe("lost")
  })

  it.each([
    ["of an MCP tool", "MCP error -32000: the issue was made, and its reply was lost"],
    ["with parts", [{ type: "text", text: "the issue was made, and its reply was lost" }]],
    ["that looks like a refusal", "Permission denied: /srv/x"],
    ["that the CLI could not explain", "<tool_use_error>Error calling tool (Write): no space</tool_use_error>"],
  ])("[EN15] and failed, with an error %s, counts as run", async (_which, content) => {
    const scene = await enforced()
    scene.agent.toolResult("unseen", content, true)
    await expect.poll(async () => (await sessionOf(scene)).enforce, WAIT).toBe("lost")
  })

  it("[EN15] in a process that another has replaced is audited and told once; nobody is interrupted", async () => {
    const scene = await enforced()
    const { agent, runner, stage, id } = scene
    await agent.allAcked()
    agent.leave()
    runner.leave()
    await expect.poll(async () => (await sessionOf(scene)).state, WAIT).toBe("disconnected")
    const cut = [{ spawn: agent.spawn, session: id, reason: "the runner was killed" }]
    const back = await FakeRunner.connect(stage, { token: runner.token, cut })
    await expect.poll(async () => (await sessionOf(scene)).state, WAIT).toBe("ended")
    await send(stage, id, "Go on.")
    const next = await back.agent()
    await next.hears("Go on.")
    agent.isOver = true
    for (const text of ["done", "done again"]) agent.toolResult("unseen", text)
    agent.exit({ reason: "the runner was killed" })
    await agent.dial()
    await expect.poll(() => losses(scene), WAIT).toEqual([{ by: "hub", toolUseId: "unseen", seq: expect.any(Number) }])
    await expect.poll(() => agent.unacked, WAIT).toBe(0)
    expect([(await sessionOf(scene)).enforce, interrupts({ ...scene, agent: next })]).toEqual(["everything", 0])
  })

  it("[EN15] [EN9] is looked up in the conversation that went on in this one, and a store that fails tells of no hook", async () => {
    const { registry } = setUpSessions()
    const directory = new MemoryDirectory()
    const session = registry.create({ agent: "external" })
    session.change({ parent: "before" })
    const seen = { at: "now", tool: "Bash", cwd: "/srv", mode: "default", seq: null }
    await directory.addSeenCall({ ...seen, sessionId: "before", toolUseId: "asked", effect: "ask", rule: "ask-ls" })
    const result = (id: string) => ({
      type: "user",
      message: { content: [{ type: "tool_result", tool_use_id: id, content: "done" }] },
    })
    const troubles: string[] = []
    const trouble = (_session: unknown, what: string) => troubles.push(what)
    const works = new Enforcement({ policy: { judgeCall: () => ALLOW }, directory, trouble })
    const stored = Promise.resolve(undefined)
    await works.recall(session, "asked")
    const ask = { toolUseId: "asked", toolName: "Bash", input: { command: "ls" } }
    // Nothing else of an ask is looked at.
    expect(works.atMostAsked(session, ask as never, ALLOW)).toMatchObject({ effect: "ask", rule: "ask-ls" })
    works.heard(session, { message: result("asked"), stored, isLeftover: false })
    const fails: EnforcementOptions["directory"] = {
      addSeenCall: async () => undefined,
      getSeenCall: () => Promise.reject(new Error("broken")),
      addAudit: (record) => directory.addAudit(record),
    }
    const broken = new Enforcement({ policy: { judgeCall: () => ALLOW }, directory: fails, trouble })
    broken.heard(session, { message: result("unknown"), stored, isLeftover: false })
    await expect
      .poll(async () => (await directory.listAudit({ after: 0, limit: 9 })).map(({ details }) => details["toolUseId"]))
      .toEqual(["unknown"])
    expect(session.record.enforce).toBe("lost")
    expect(troubles).toHaveLength(1)
  })

  it("[EN15] after its hook, or not at all, changes nothing", async () => {
    const scene = await enforced()
    const { agent } = scene
    agent.callTool("seen", { command: "touch x" })
    await agent.answerTo("hook-seen")
    agent.toolResult("seen", "")
    agent.toolResult("no-tool", "<tool_use_error>Error: No such tool available: X</tool_use_error>", true)
    agent.toolResult("denied", "The user doesn't want to take this action right now.", true)
    agent.callTool("forbidden", { command: "cat .env" })
    await agent.answerTo("hook-forbidden")
    agent.toolResult("forbidden", "PreToolUse:Bash hook error: Do not read secrets here.", true)
    // As 2.1.200 says it.
    agent.callTool("forbidden-plainly", { command: "cat .env" })
    await agent.answerTo("hook-forbidden-plainly")
    agent.toolResult("forbidden-plainly", "Do not read secrets here.", true)
    for (const [which, text] of DID_NOT_RUN.entries()) agent.toolResult(`not-run-${which}`, text, true)
    const meta = [{ id: "told", non_execution_kind: "cancelled" }]
    agent.toolResult("told", "Words of tomorrow", true, { tool_result_meta: meta })
    agent.say({
      type: "user",
      isReplay: true,
      message: { content: [{ type: "tool_result", tool_use_id: "echo" }] },
      uuid: "echo",
    })
    agent.callTool("after", { command: "touch y" })
    await agent.answerTo("hook-after")
    await agent.allAcked()
    expect((await sessionOf(scene)).enforce).toBe("everything")
  })
})

describe("a request to a judged process", () => {
  it.each([
    ["control", { request: { subtype: "apply_flag_settings", settings: { disableAllHooks: false } } }],
    ["env", { variables: { CLAUDE_CODE_SIMPLE: "1" } }],
  ])("[EN21] that could leave the hub's hook out is refused: %s", async (door, body) => {
    const { agent, stage, id } = await enforced()
    await agent.allAcked()
    const before = agent.heard.length
    expect(await rest(stage, "POST", `/api/sessions/${id}/${door}`, { body })).toMatchObject({
      status: 409,
      body: { error: { code: "policy/cannot-enforce" } },
    })
    expect(agent.heard).toHaveLength(before)
    const { id: asked } = (await launch(stage, { enforce: "asked" })).body
    await expect.poll(async () => (await sessionOf({ stage, id: asked })).state, WAIT).toBe("idle")
    expect((await rest(stage, "POST", `/api/sessions/${asked}/${door}`, { body })).status).toBeLessThan(300)
  })
})

function isHook(message: Readonly<Record<string, unknown>>): boolean {
  return JSON.stringify(message).includes("hook_callback")
}
