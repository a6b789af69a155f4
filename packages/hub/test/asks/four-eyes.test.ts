import type { Ask, AuditRecord, Session } from "@signalbox/protocol/hub-api"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "../clients/line-socket.ts"
import { openClient, openStage, type Stage } from "../clients/stage.ts"
import { FakeRunner } from "../runners/fake-runner.ts"
import { launch, rest, WAIT } from "../runners/launching.ts"

const TWO = { id: "two", effect: "ask", tool: "Bash", input: { command: "npm publish*" }, fourEyes: true }
const PROD = {
  id: "prod",
  effect: "ask",
  tool: "Bash",
  input: { command: "deploy*" },
  cwd: "/srv/prod/**",
  fourEyes: true,
}
const bash = (command: string, id: string) => ({
  subtype: "can_use_tool",
  tool_name: "Bash",
  input: { command },
  tool_use_id: id,
})

async function opened(policy: object, options: Parameters<typeof openStage>[0] = {}) {
  const stage = await openStage(options)
  const put = await rest(stage, "PUT", "/api/policy", { body: policy })
  expect(put.status).toBe(200)
  const tokenFor = async (name: string) =>
    (await rest<{ token: string }>(stage, "POST", "/api/tokens", { body: { role: "operator", name } })).body.token
  const [ann, ben] = [await tokenFor("Ann"), await tokenFor("Ben")]
  const runner = await FakeRunner.connect(stage)
  const { body: session } = await launch(stage, {}, ann)
  const agent = await runner.agent()
  agent.init({ cwd: "/srv/app" })
  return { stage, tokenFor, ann, ben, runner, session, agent }
}

async function openAsk(stage: Stage): Promise<Ask> {
  const open = async () => (await rest<{ asks: Ask[] }>(stage, "GET", "/api/asks?state=pending")).body.asks
  await expect.poll(open, WAIT).toHaveLength(1)
  const [ask] = await open()
  if (ask === undefined) throw new Error("no ask is open")
  return ask
}

const answer = (stage: Stage, { id }: Ask, token: string, updatedInput?: object) =>
  rest<Ask>(stage, "POST", `/api/asks/${id}/answer`, {
    body: { behavior: "allow", ...(updatedInput === undefined ? {} : { updatedInput }) },
    token,
  })

const remember = (stage: Stage, { id }: Ask, update: object, token = stage.hub.admin.token) =>
  rest<Ask>(stage, "POST", `/api/asks/${id}/answer`, {
    body: { behavior: "allow", updatedPermissions: [update] },
    token,
  })

it("[PO34] who comes without a token, or with a name that looks the same, is no other person", async () => {
  const { stage, tokenFor, ben, agent } = await opened({ rules: [TWO] }, { anonymousRelay: true })
  const relay = await LineSocket.open(new WebSocket(`${stage.wsUrl}/ws`))
  agent.say({ type: "control_request", request_id: "q-1", request: bash("npm publish", "t-1") })
  const ask = await openAsk(stage)
  const response = { subtype: "success", request_id: "q-1", response: { behavior: "allow", updatedInput: ask.input } }
  relay.send({ type: "control_response", response })
  await relay.find((message) => JSON.stringify(message).includes("four-eyes"), "the refusal")
  for (const name of ["ann", "\uff21nn"]) {
    expect((await answer(stage, ask, await tokenFor(name))).body).toMatchObject({ error: { code: "ask/four-eyes" } })
  }
  expect((await answer(stage, ask, ben)).status).toBe(200)
  relay.close()
})

it("[PO34] who resumes a session has started it", async () => {
  const { stage, ann, ben, runner, session, agent } = await opened({ rules: [TWO] })
  agent.sayText("hi")
  agent.result()
  agent.exit({ reason: "over", code: 0 })
  const state = async () => (await rest<Session>(stage, "GET", `/api/sessions/${session.id}`)).body.state
  await expect.poll(state, WAIT).toBe("ended")
  const { body: again } = await launch(stage, { resume: session.id, prompt: "publish it" }, ben)
  expect(again).toMatchObject({ id: session.id, startedBy: "Ben" })
  const second = await runner.agent(1)
  second.say({ type: "control_request", request_id: "q-1", request: bash("npm publish", "t-1") })
  const ask = await openAsk(stage)
  expect((await answer(stage, ask, ben)).body).toMatchObject({ error: { code: "ask/four-eyes" } })
  const { body } = await rest<{ records: object[] }>(stage, "GET", "/api/audit?what=answer/refused")
  const details = { code: "ask/four-eyes", rule: "two", toolName: "Bash" }
  expect(body.records).toMatchObject([{ by: "Ben", via: "person", sessionId: session.id, askId: ask.id, details }])
  expect((await answer(stage, ask, ann)).status).toBe(200)
})

it("[EN10] [PO34] a changed input is judged where the agent has gone to", async () => {
  const never = { id: "never", effect: "deny", tool: "Write", input: { file_path: "/srv/prod/**" } }
  const rules = [PROD, never, { id: "writes", effect: "ask", tool: "Write" }]
  const { stage, ann, agent } = await opened({ enforce: "everything", rules })
  const call = async (id: string, tool: string, input: object) => {
    agent.callHook(id, { tool_name: tool, tool_input: input, cwd: "/srv/prod" })
    await agent.answerTo(`hook-${id}`)
    const request = { subtype: "can_use_tool", tool_name: tool, input, tool_use_id: id }
    agent.say({ type: "control_request", request_id: id, request })
    return openAsk(stage)
  }
  const test = await call("h-1", "Bash", { command: "npm test" })
  const changed = await answer(stage, test, ann, { command: "deploy now" })
  expect(changed.body).toMatchObject({ error: { code: "ask/four-eyes" } })
  expect((await answer(stage, test, ann)).status).toBe(200)
  const write = await call("h-2", "Write", { file_path: "/tmp/x", content: "" })
  const elsewhere = await answer(stage, write, ann, { file_path: "x", content: "" })
  expect(elsewhere.body).toMatchObject({ error: { code: "policy/denies" } })
})

it("[EN9] [PO34] a hub that was started again still asks about a call that was to be asked about", async () => {
  const app = { id: "app", effect: "allow", tool: "Bash", input: { command: "deploy*" } }
  const { stage, ann, ben, agent } = await opened({ enforce: "everything", rules: [PROD, app] })
  agent.callHook("h-1", { tool_name: "Bash", tool_input: { command: "deploy now" }, cwd: "/srv/prod" })
  await agent.answerTo("hook-h-1")
  await agent.allAcked()
  const again = await stage.reopen()
  await agent.dial(again)
  agent.say({ type: "control_request", request_id: "q-1", request: bash("deploy now", "h-1") })
  const ask = await openAsk(again)
  expect(ask).toMatchObject({ fourEyes: true, rule: "prod" })
  expect((await answer(again, ask, ann)).status).toBe(403)
  expect((await answer(again, ask, ben)).status).toBe(200)
})

it.each(["everything", "asked"])(
  "[EN7] a client's hook allows nothing that a rule stops (enforce: %s)",
  async (enforce) => {
    const { stage, ann, session, agent } = await opened({ enforce, rules: [TWO] })
    const client = await openClient(stage, session.id, ann)
    void client.ask("hello", { subtype: "initialize", hooks: { PermissionRequest: [{ hookCallbackIds: ["mine"] }] } })
    const says = (command: string) => ({
      hookSpecificOutput: {
        hookEventName: "PermissionRequest",
        decision: { behavior: "allow", updatedInput: { command } },
      },
    })
    const hooked = async (id: string, asked: string, allowed: string) => {
      const input = {
        tool_name: "Bash",
        tool_input: { command: asked },
        tool_use_id: id,
        hook_event_name: "PermissionRequest",
      }
      const request = { subtype: "hook_callback", callback_id: "hub-hook:PermissionRequest", input }
      agent.say({ type: "control_request", request_id: `hook-${id}`, request })
      const call = await client.find(
        (message) => message.type === "control_request" && JSON.stringify(message).includes(`"${id}"`),
        "the hook",
      )
      client.answer(call, says(allowed))
      return agent.answerTo(`hook-${id}`)
    }
    expect(await hooked("t-1", "npm publish", "npm publish")).toEqual({})
    expect(await hooked("t-2", "ls", "npm publish --tag x")).toEqual({})
    expect(await hooked("t-3", "ls", "ls -a")).toEqual(says("ls -a"))
  },
)

it("[AK15] a permission that is given for longer is in the audit", async () => {
  const { stage, ben, session, agent } = await opened({ rules: [] })
  const rules = [{ toolName: "Bash", ruleContent: "make" }]
  const update = { type: "addRules", rules, behavior: "allow", destination: "session" }
  const request = { ...bash("make", "t-1"), permission_suggestions: [update] }
  agent.say({ type: "control_request", request_id: "q-1", request })
  const ask = await openAsk(stage)
  expect((await remember(stage, ask, update, ben)).status).toBe(200)
  const path = `/api/audit?session=${session.id}&what=grant/given`
  const records = async () => (await rest<{ records: AuditRecord[] }>(stage, "GET", path)).body.records
  await expect.poll(records, WAIT).toMatchObject([{ by: "Ben", askId: ask.id, details: { where: "hub" } }])
})

it("[HA8] an operator has remembered what the request suggests or a part of it, wherever it is kept; an admin anything", async () => {
  const { stage, ben, agent } = await opened({ rules: [] })
  const rules = ["npm test:*", "npm ci"].map((ruleContent) => ({ toolName: "Bash", ruleContent }))
  const suggested = { type: "addRules", rules, behavior: "allow", destination: "localSettings" }
  const asks = (id: string) => {
    const request = { ...bash("npm test", `t-${id}`), permission_suggestions: [suggested] }
    agent.say({ type: "control_request", request_id: id, request })
    return openAsk(stage)
  }
  const tool = { ...suggested, rules: [{ toolName: "Bash" }], destination: "userSettings" }
  const mode = { type: "setMode", mode: "acceptEdits", destination: "session" }
  const first = await asks("q-1")
  for (const update of [
    tool,
    { ...suggested, rules: [...rules, { toolName: "Bash" }] },
    { ...suggested, type: "replaceRules" },
    { ...suggested, behavior: "deny" },
    { type: "addDirectories", directories: ["/"], destination: "session" },
    { ...mode, destination: "userSettings" },
  ]) {
    const { status, body } = await remember(stage, first, update, ben)
    expect({ status, body }, JSON.stringify(update)).toMatchObject({
      status: 403,
      body: { error: { code: "auth/forbidden", message: expect.stringContaining("choose from its `suggestions`") } },
    })
  }
  const { destination: _left, ...part } = { ...suggested, rules: rules.slice(1) }
  expect((await remember(stage, first, { destination: "userSettings", ...part }, ben)).status).toBe(200)
  expect((await remember(stage, await asks("q-2"), mode, ben)).status).toBe(200)
  expect((await remember(stage, await asks("q-3"), tool)).status).toBe(200)
})

it("[PO34] a request for a second person suggests nothing, and Claude Code is not told to remember it", async () => {
  const { stage, ben, agent } = await opened({ rules: [TWO] })
  const rules = [{ toolName: "Bash", ruleContent: "npm publish" }]
  const update = { type: "addRules", rules, behavior: "allow", destination: "localSettings" }
  const request = { ...bash("npm publish", "t-1"), permission_suggestions: [update] }
  agent.say({ type: "control_request", request_id: "q-1", request })
  const ask = await openAsk(stage)
  expect(ask).not.toHaveProperty("suggestions")
  expect(ask.request).not.toHaveProperty("permission_suggestions")
  for (const token of [ben, stage.hub.admin.token]) {
    const { status, body } = await remember(stage, ask, update, token)
    expect({ status, body }).toMatchObject({ status: 403, body: { error: { code: "ask/four-eyes" } } })
    expect(body.error?.message).toContain("Claude Code must not remember it")
  }
  // A rule of the hub does not keep the rule for two from asking again.
  expect((await remember(stage, ask, { ...update, destination: "session" })).status).toBe(200)
  agent.say({ type: "control_request", request_id: "q-2", request: { ...request, tool_use_id: "t-2" } })
  expect(await openAsk(stage)).toMatchObject({ fourEyes: true })
})

it("[EN10] [PO34] an allow is judged by the rules that are in force when it is given", async () => {
  const { stage, ann, ben, agent } = await opened({ rules: [] })
  agent.say({ type: "control_request", request_id: "q-1", request: bash("npm publish", "t-1") })
  const ask = await openAsk(stage)
  const put = (...rules: object[]) => rest(stage, "PUT", "/api/policy", { body: { rules } })
  await put({ id: "never", effect: "deny", tool: "Bash", input: { command: "npm publish*" }, message: "Not here." })
  expect(await answer(stage, ask, ben)).toMatchObject({
    status: 409,
    body: { error: { code: "policy/denies", message: "a rule denies this request now: Not here." }, rule: "never" },
  })
  const { body } = await rest<{ records: object[] }>(stage, "GET", "/api/audit?what=answer/refused&rule=never")
  expect(body.records).toMatchObject([{ by: "Ben", details: { code: "policy/denies" } }])
  await put(TWO)
  expect((await answer(stage, ask, ann)).body).toMatchObject({ error: { code: "ask/four-eyes" } })
  expect((await answer(stage, ask, ben)).status).toBe(200)
})
