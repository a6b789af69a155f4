import type { Ask } from "@signalbox/protocol/hub-api"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "../clients/line-socket.ts"
import { payloadIn, ScriptedAgent } from "../clients/scripted-agent.ts"
import { call, openAgent, openClient, openStage, type Stage } from "../clients/stage.ts"
import { FakeRunner } from "../runners/fake-runner.ts"
import { launch, rest, WAIT } from "../runners/launching.ts"

const RULE = { id: "tests", effect: "allow", tool: "Bash", input: { command: "npm test" } }

it("[PO31] [PO33] a hub knows the time and the runner: a rule that has ended, or is for a runner, does not allow", async () => {
  const stage = await openStage()
  const { agent } = await openAgent(stage)
  const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "npm test" } }
  const deny = { id: "rest", effect: "deny", message: "Not now." }
  const put = (rule: Record<string, unknown>) => call(stage, "PUT", "/api/policy", { rules: [{ ...deny, ...rule }] })
  expect(
    (await call(stage, "PUT", "/api/policy", { rules: [{ ...RULE, until: "2999-01-01T00:00:00Z" }] })).status,
  ).toBe(200)
  expect(payloadIn(await agent.ask({ ...request, tool_use_id: "t-1" }, "q-1"))).toMatchObject({ behavior: "allow" })
  await put({ until: "2999-01-01T00:00:00Z" })
  expect(payloadIn(await agent.ask({ ...request, tool_use_id: "t-2" }, "q-2"))).toMatchObject({ message: "Not now." })
  const elsewhere = { rules: [{ ...deny, runner: "other" }, RULE] }
  expect((await call(stage, "PUT", "/api/policy", elsewhere)).status).toBe(200)
  expect(payloadIn(await agent.ask({ ...request, tool_use_id: "t-3" }, "q-3"))).toMatchObject({ behavior: "allow" })
})

const asked = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "npm test" } }
const putRules = async (stage: Stage, ...rules: unknown[]) =>
  expect((await call(stage, "PUT", "/api/policy", { rules })).status).toBe(200)
const pendingAsks = async (stage: Stage, id: string) => {
  const { body } = await rest<{ asks: Ask[] }>(stage, "GET", `/api/asks?session=${id}&state=pending`)
  return body.asks
}

it("[PO32] [BT8] a rule is used no more often than it may be, by requests at the same time and over a restart", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  await putRules(stage, { ...RULE, atMost: { count: 20, per: "session" } })
  const answers: unknown[] = []
  for (let n = 0; n < 25; n++) {
    void agent
      .ask({ ...asked, tool_use_id: `t-${n}` }, `q-${n}`)
      .then((reply) => answers.push(payloadIn(reply)["behavior"]))
  }
  await expect.poll(() => pendingAsks(stage, id), WAIT).toHaveLength(5)
  expect(answers).toEqual(Array(20).fill("allow"))
  const [first] = await pendingAsks(stage, id)
  expect(first).not.toHaveProperty("rule")
  const explained = async (on: Stage, session: string) => {
    const request = { tool: "Bash", input: { command: "npm test" }, session }
    return (await rest<object>(on, "POST", "/api/policy/explain", { body: { request } })).body
  }
  expect(await explained(stage, id)).toMatchObject({ effect: "ask" })
  expect(await explained(stage, (await openAgent(stage)).id)).toMatchObject({ effect: "allow" })
  expect(await explained(stage, "nope")).toMatchObject({ error: { code: "session/unknown" } })
  // What people allow uses nothing up.
  for (const ask of await pendingAsks(stage, id)) {
    expect((await call(stage, "POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" })).status).toBe(200)
  }
  const again = await stage.reopen()
  expect(await explained(again, id)).toMatchObject({ effect: "ask" })
  const back = await ScriptedAgent.dial({ url: `${again.wsUrl}/ws/cli/${id}`, token: agent.token, command: "" })
  void back.ask({ ...asked, tool_use_id: "b-1" }, "b-1")
  await expect.poll(() => pendingAsks(again, id), WAIT).toHaveLength(1)
  const other = await openAgent(again)
  await other.agent.ask({ ...asked, tool_use_id: "o-1" }, "o-1")
  await putRules(again, { ...RULE, atMost: { count: 22, per: "day" } })
  expect(payloadIn(await other.agent.ask({ ...asked, tool_use_id: "o-2" }, "o-2"))).toMatchObject({ behavior: "allow" })
  void other.agent.ask({ ...asked, tool_use_id: "o-3" }, "o-3")
  await expect.poll(() => pendingAsks(again, other.id), WAIT).toHaveLength(1)
})

it("[PO33] [RU85] a rule for a branch sees the one that the folder is on when the agent asks", async () => {
  const stage = await openStage()
  const runner = await FakeRunner.connect(stage)
  const { body: session } = await launch(stage)
  const agent = await runner.agent()
  const told = async () => (await rest<{ branch?: string }>(stage, "GET", `/api/sessions/${session.id}`)).body.branch
  await putRules(stage, { id: "main", effect: "deny", tool: "Bash", branch: "main", message: "Not on main." }, RULE)
  const ask = async (id: string) => {
    agent.say({ type: "control_request", request_id: id, request: { ...asked, tool_use_id: `t-${id}` } })
    return agent.answerTo(id)
  }
  // This runner has not told a branch yet, so nobody can tell whether the rule fits.
  agent.say({ type: "control_request", request_id: "q-0", request: { ...asked, tool_use_id: "t-0" } })
  await expect.poll(() => pendingAsks(stage, session.id), WAIT).toHaveLength(1)
  agent.note({ kind: "branch", branch: "feature/one" })
  expect(await ask("q-1")).toMatchObject({ behavior: "allow" })
  expect(await told()).toBe("feature/one")
  agent.note({ kind: "branch", branch: "main" })
  expect(await ask("q-2")).toMatchObject({ behavior: "deny", message: "Not on main." })
  agent.note({ kind: "branch", branch: "" })
  expect(await ask("q-3")).toMatchObject({ behavior: "allow" })
  agent.note({ kind: "branch", branch: null })
  await expect.poll(told, WAIT).toBeUndefined()
})

async function fourEyesStage() {
  const stage = await openStage()
  const tokenFor = async (name: string) =>
    (await rest<{ token: string }>(stage, "POST", "/api/tokens", { body: { role: "operator", name } })).body.token
  const [ann, ben, annToo] = [await tokenFor("Ann"), await tokenFor("Ben"), await tokenFor("Ann")]
  await putRules(stage, { id: "two", effect: "ask", tool: "Bash", input: { command: "npm publish*" }, fourEyes: true })
  const runner = await FakeRunner.connect(stage)
  const { body: session } = await launch(stage, {}, ann)
  const agent = await runner.agent()
  const publish = { ...asked, input: { command: "npm publish" } }
  const request = (id: string, what: object = publish) =>
    agent.say({ type: "control_request", request_id: id, request: { ...what, tool_use_id: `t-${id}` } })
  const opened = async () => {
    await expect.poll(() => pendingAsks(stage, session.id), WAIT).toHaveLength(1)
    const [ask] = await pendingAsks(stage, session.id)
    if (ask === undefined) throw new Error("no ask is open")
    return ask
  }
  const answer = (id: string, body: unknown, token: string) =>
    rest<Ask>(stage, "POST", `/api/asks/${id}/answer`, { body, token })
  return { stage, session, agent, request, opened, answer, ann, ben, annToo }
}

it("[PO34] with four eyes, whoever started the session may deny and not allow; somebody else may", async () => {
  const { session, agent, request, opened, answer, ann, ben, annToo } = await fourEyesStage()
  expect(session).toMatchObject({ startedBy: "Ann" })
  request("q-1")
  const first = await opened()
  expect(first).toMatchObject({ fourEyes: true, rule: "two" })
  for (const token of [ann, annToo]) {
    const { status, body } = await answer(first.id, { behavior: "allow" }, token)
    expect({ status, body }).toMatchObject({ status: 403, body: { error: { code: "ask/four-eyes" } } })
    expect(body.error?.message).toContain("Ann started this session, so someone else must allow")
  }
  expect((await answer(first.id, { behavior: "allow" }, ben)).status).toBe(200)
  expect(await agent.answerTo("q-1")).toMatchObject({ behavior: "allow" })
  request("q-2")
  expect((await answer((await opened()).id, { behavior: "deny" }, ann)).body).toMatchObject({
    settledBy: "Ann",
    state: "denied",
  })
})

it("[PO34] four eyes hold for a changed input and for programs on the wire", async () => {
  const { stage, session, agent, request, opened, answer, ann, ben } = await fourEyesStage()
  request("q-1", asked)
  const plain = await opened()
  expect(plain).not.toHaveProperty("fourEyes")
  const changed = { behavior: "allow", updatedInput: { command: "npm publish --tag next" } }
  expect((await answer(plain.id, changed, ann)).body).toMatchObject({ error: { code: "ask/four-eyes" } })
  expect((await answer(plain.id, { behavior: "allow" }, ann)).status).toBe(200)
  const client = await openClient(stage, session.id, ann)
  await client.ask("hello", { subtype: "initialize" })
  request("q-2")
  const open = await opened()
  const wire = await client.find((message) => message["request_id"] === "q-2", "the question")
  client.answer(wire, { behavior: "allow", updatedInput: open.input })
  await client.find((message) => JSON.stringify(message).includes("ask/four-eyes"), "the refusal")
  expect(await pendingAsks(stage, session.id)).toHaveLength(1)
  expect((await answer(open.id, { behavior: "allow" }, ben)).status).toBe(200)
  expect(await agent.answerTo("q-2")).toMatchObject({ behavior: "allow" })
})

it("[PO34] nobody may allow it where nobody knows who started the session", async () => {
  const stage = await openStage({ anonymousAgents: true })
  await putRules(stage, { id: "two", effect: "ask", tool: "Bash", fourEyes: true })
  const agent = await LineSocket.open(new WebSocket(stage.wsUrl))
  agent.answer(await agent.request("initialize"), { commands: [] })
  const denied = agent.ask("q-1", { ...asked, tool_use_id: "t-1" })
  const all = async () => (await rest<{ asks: Ask[] }>(stage, "GET", "/api/asks?state=pending")).body.asks
  await expect.poll(all, WAIT).toHaveLength(1)
  const [ask] = await all()
  const answer = (behavior: string) => call(stage, "POST", `/api/asks/${ask?.id}/answer`, { behavior })
  expect((await answer("allow")).status).toBe(403)
  expect((await answer("deny")).status).toBe(200)
  expect(payloadIn(await denied)).toMatchObject({ behavior: "deny" })
  agent.close()
})
