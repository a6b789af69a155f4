import { type Envelope, fieldOf } from "@signalbox/protocol"
import { describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "./line-socket.ts"
import { errorIn, payloadIn, ScriptedAgent } from "./scripted-agent.ts"
import { call, openAgent, openClient, openSession, openStage, tokenOf } from "./stage.ts"

const user = (text: string, more: Record<string, unknown> = {}) => ({
  type: "user",
  message: { role: "user", content: [{ type: "text", text }] },
  parent_tool_use_id: null,
  session_id: "",
  ...more,
})

describe("a raw client on one session", () => {
  it("[RC1] initialize is answered from the agent's reply to the hub, with the open asks beside it", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    void agent.askPermission("ask-1")
    await expect.poll(async () => (await stage.hub.core.getSession(id)).pendingAsks).toBe(1)
    const client = await openClient(stage, id)
    const reply = await client.ask("mine", { subtype: "initialize" })
    expect(payloadIn(reply)["commands"]).toEqual([{ name: "help" }])
    const input = { command: "ls" }
    const request = { subtype: "can_use_tool", tool_name: "Bash", input, tool_use_id: "toolu-ask-1" }
    expect(reply["pending_permission_requests"]).toEqual([{ type: "control_request", request_id: "ask-1", request }])
    expect(agent.requests("initialize")).toHaveLength(1)
  })

  it("[RC1] a client that comes before the agent is answered when the agent is there", async () => {
    const stage = await openStage()
    const session = await openSession(stage)
    const client = await openClient(stage, session.id)
    const reply = client.ask("early", { subtype: "initialize" })
    const agent = await ScriptedAgent.dial(session.ingress)
    expect(payloadIn(await reply)["commands"]).toEqual([{ name: "help" }])
    agent.close()
  })

  it("[RC2] control requests get ids of the hub's own, and the reply goes only to the asker with its id restored", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const [one, other] = [await openClient(stage, id), await openClient(stage, id)]
    one.send({ type: "control_request", request_id: "same", request: { subtype: "get_status", from: "one" } })
    const first = await agent.wire.find((message) => fieldOf(message, "request")?.["from"] === "one")
    other.send({ type: "control_request", request_id: "same", request: { subtype: "get_status", from: "other" } })
    const second = await agent.wire.find((message) => fieldOf(message, "request")?.["from"] === "other")
    expect(first["request_id"]).not.toBe(second["request_id"])
    agent.wire.answer(second, { for: "other" })
    agent.wire.fail(first, "no such thing")
    expect(payloadIn(await other.reply("same"))).toEqual({ for: "other" })
    expect(await one.reply("same")).toEqual({ subtype: "error", request_id: "same", error: "no such thing" })
    expect(other.messages.filter((message) => message.type === "control_response")).toHaveLength(1)
  })

  it("[RC3] a client's message is seen by the others with isReplay and not by itself, and keeps its fields", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const [one, other] = [await openClient(stage, id), await openClient(stage, id)]
    one.send(user("hello", { priority: "now" }))
    const heard = await agent.hears("hello")
    expect(heard).toMatchObject({ priority: "now", uuid: expect.any(String) })
    const seen = await other.ofType("user")
    expect(seen).toMatchObject({ uuid: heard["uuid"], isReplay: true, priority: "now" })
    agent.sayText("good day")
    await one.ofType("assistant")
    expect(one.types()).not.toContain("user")
  })

  it("[RC3] a client's lines keep their order on the agent's wire", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const client = await openClient(stage, id)
    client.send(user("first"))
    client.send({ type: "control_request", request_id: "i", request: { subtype: "interrupt" } })
    client.send(user("second"))
    await agent.hears("second")
    const order = agent.wire.messages.flatMap((message) => {
      if (message.type === "user") return JSON.stringify(message).includes("first") ? "first" : "second"
      return fieldOf(message, "request")?.["subtype"] === "interrupt" ? "interrupt" : []
    })
    expect(order).toEqual(["first", "interrupt", "second"])
  })

  it("[RC4] everybody is asked, the first answer wins, the others get a control_cancel_request and late answers are dropped", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const [winner, loser] = [await openClient(stage, id), await openClient(stage, id)]
    const third = await openClient(stage, id)
    const answered = agent.askPermission("ask-1")
    const question = await loser.request("can_use_tool")
    await third.request("can_use_tool")
    winner.answer(await winner.request("can_use_tool"), { behavior: "allow", updatedInput: { command: "ls -l" } })
    expect(payloadIn(await answered)).toMatchObject({ behavior: "allow", updatedInput: { command: "ls -l" } })
    expect(await loser.ofType("control_cancel_request")).toMatchObject({ request_id: "ask-1" })
    await third.ofType("control_cancel_request")
    loser.answer(question, { behavior: "deny", message: "late" })
    agent.sayText("done")
    await Promise.all([winner.ofType("assistant"), loser.ofType("assistant")])
    expect(winner.types()).not.toContain("control_cancel_request")
    expect(agent.wire.messages.filter((message) => message.type === "control_response")).toHaveLength(1)
  })

  it("[RC4] an error answer never settles an ask", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const [without, able] = [await openClient(stage, id), await openClient(stage, id)]
    const answered = agent.askPermission("ask-1")
    without.fail(await without.request("can_use_tool"), "canUseTool callback is not provided.")
    const question = await able.request("can_use_tool")
    // The error has certainly been read when what was sent after it on the same socket has its reply.
    await without.ask("after", { subtype: "initialize" })
    expect((await stage.hub.core.getSession(id)).pendingAsks).toBe(1)
    able.answer(question, { behavior: "deny", message: "no" })
    expect(payloadIn(await answered)).toMatchObject({ behavior: "deny", message: "no" })
  })

  it("[RC4] a decline of one client among several does not settle an elicitation; an answer does", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const [without, able] = [await openClient(stage, id), await openClient(stage, id)]
    const request = { subtype: "elicitation", mcp_server_name: "s", message: "Which?", mode: "form" }
    const answered = agent.ask(request, "e-1")
    without.answer(await without.request("elicitation"), { action: "decline" })
    const reply = await without.ask("after", { subtype: "initialize" })
    expect(reply["pending_elicitation_requests"]).toMatchObject([{ request_id: "e-1" }])
    able.answer(await able.request("elicitation"), { action: "accept", content: { which: "this" } })
    expect(payloadIn(await answered)).toEqual({ action: "accept", content: { which: "this" } })
    able.close()
    await able.closed
    await expect.poll(async () => (await stage.hub.core.getSession(id)).viewers).toBe(1)
    const alone = agent.ask(request, "e-2")
    without.answer(await without.find((message) => message["request_id"] === "e-2"), { action: "decline" })
    expect(payloadIn(await alone)).toEqual({ action: "decline" })
  })

  it("[RC5] what the agent takes back is taken back from the clients", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const client = await openClient(stage, id)
    void agent.askPermission("ask-1")
    await client.request("can_use_tool")
    agent.wire.send({ type: "control_cancel_request", request_id: "ask-1" })
    expect(await client.ofType("control_cancel_request")).toMatchObject({ request_id: "ask-1" })
  })

  it("[RC6] events and deltas come as they were received, in order, with the hub's notes, and no control traffic of others", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const [client, other] = [await openClient(stage, id), await openClient(stage, id)]
    const line = { type: "assistant", message: { content: [] }, later: { unknown: [1, 2.5e3] } }
    agent.say({ type: "stream_event", event: { type: "message_start", message: {} } })
    agent.say(line)
    void agent.wire.ask("h", { subtype: "hook_callback", callback_id: "hub-hook:Stop", input: {} })
    other.send({ type: "control_request", request_id: "o", request: { subtype: "interrupt" } })
    await agent.take("interrupt", undefined)
    agent.say({ type: "from_the_future", x: 1 })
    await client.ofType("from_the_future")
    expect(client.types()).toEqual(["stream_event", "assistant", "from_the_future"])
    expect(client.messages[1]).toMatchObject(line)
    agent.close()
    expect(await client.find((message) => message.type === "hub")).toMatchObject({ subtype: "disconnected" })
  })

  it("[RC6] who comes in mid-sentence gets the sentence so far", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const first = await openClient(stage, id)
    const delta = (text: string) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })
    agent.say({ type: "stream_event", event: { type: "message_start", message: {} } })
    agent.say({ type: "stream_event", event: delta("Once ") })
    agent.say({ type: "stream_event", event: delta("upon ") })
    await first.find((message) => JSON.stringify(message).includes("upon "))
    const late = await openClient(stage, id)
    agent.say({ type: "stream_event", event: delta("a time") })
    await late.find((message) => JSON.stringify(message).includes("a time"))
    const texts = late.messages.map((message) => fieldOf(fieldOf(message, "event"), "delta")?.["text"])
    expect(texts).toEqual([undefined, "Once upon ", "a time"])
  })

  it("[RC7] what a role may not is an error reply, and an operator may not bypass permissions by any word", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const { token } = await tokenOf(stage, "operator")
    const client = await openClient(stage, id, token)
    const bypass = await client.ask("a", { subtype: "set_permission_mode", mode: "bypassPermissions" })
    expect(errorIn(bypass)).toContain("the role operator may not send set_permission_mode")
    const servers = { evil: { type: "stdio", command: "sh" } }
    expect(errorIn(await client.ask("b", { subtype: "mcp_set_servers", servers }))).toContain("may not")
    const answered = agent.askPermission("ask-1")
    const question = await client.request("can_use_tool")
    const updatedPermissions = [{ type: "setMode", mode: "bypassPermissions", destination: "session" }]
    client.answer(question, { behavior: "allow", updatedInput: {}, updatedPermissions })
    expect(await client.find((message) => message["subtype"] === "refused")).toMatchObject({ request_id: "ask-1" })
    client.send({ type: "update_environment_variables", variables: { PATH: "/evil" } })
    await client.find((message) => message["subtype"] === "refused" && message["request_id"] === undefined)
    client.answer(question, { behavior: "allow", updatedInput: {} })
    await answered
    expect(agent.requests("set_permission_mode")).toEqual([])
    expect(agent.requests("mcp_set_servers")).toEqual([])
    expect(agent.wire.types()).not.toContain("update_environment_variables")
  })

  it("[RC7] nor does the reply to a hook carry a mode without questions: it counts as a hook that failed", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { hooks: ["PermissionRequest"] })
    const hooks = { PermissionRequest: [{ hookCallbackIds: ["mine"] }] }
    const reply = (mode: string) => {
      const decision = { behavior: "allow", updatedPermissions: [{ type: "setMode", mode, destination: "session" }] }
      return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } }
    }
    const operator = await openClient(stage, id, (await tokenOf(stage, "operator")).token)
    await operator.ask("i", { subtype: "initialize", hooks })
    for (const mode of ["bypassPermissions", "auto"]) {
      const answered = agent.callHook("PermissionRequest", { tool_name: mode })
      const isThis = (message: Envelope) => fieldOf(fieldOf(message, "request"), "input")?.["tool_name"] === mode
      const call = await operator.find(isThis)
      operator.answer(call, reply(mode))
      expect(payloadIn(await answered)).toEqual({})
      const { request_id } = call
      await operator.find((message) => message["subtype"] === "refused" && message["request_id"] === request_id)
    }
    operator.close()
    await operator.closed
    const admin = await openClient(stage, id)
    await admin.ask("i", { subtype: "initialize", hooks })
    const answered = agent.callHook("PermissionRequest", {})
    admin.answer(await admin.request("hook_callback"), reply("bypassPermissions"))
    expect(payloadIn(await answered)).toEqual(reply("bypassPermissions"))
  })

  it("[RC7] [HA8] nor does an operator's program have more remembered than was suggested, by an answer or by a hook", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { hooks: ["PermissionRequest"] })
    const operator = await openClient(stage, id, (await tokenOf(stage, "operator")).token)
    await operator.ask("i", { subtype: "initialize", hooks: { PermissionRequest: [{ hookCallbackIds: ["mine"] }] } })
    const allowing = (ruleContent?: string) => {
      const rules = [{ toolName: "Bash", ...(ruleContent === undefined ? {} : { ruleContent }) }]
      const update = { type: "addRules", rules, behavior: "allow", destination: "localSettings" }
      return { behavior: "allow", updatedPermissions: [update] }
    }
    const { updatedPermissions: suggestions } = allowing("ls")
    const says = (decision: object) => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } })
    const hooked = async (tool: string, decision: object) => {
      const answered = agent.callHook("PermissionRequest", { tool_name: tool, permission_suggestions: suggestions })
      const isThis = (message: Envelope) => fieldOf(fieldOf(message, "request"), "input")?.["tool_name"] === tool
      operator.answer(await operator.find(isThis), says(decision))
      return payloadIn(await answered)
    }
    expect(await hooked("one", allowing())).toEqual({})
    expect(await hooked("two", allowing("ls"))).toEqual(says(allowing("ls")))
    const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t" }
    const answered = agent.ask({ ...request, permission_suggestions: suggestions }, "ask-1")
    const question = await operator.request("can_use_tool")
    operator.answer(question, allowing())
    await operator.find((message) => message["subtype"] === "refused" && message["request_id"] === "ask-1")
    operator.answer(question, allowing("ls"))
    expect(payloadIn(await answered)).toMatchObject(allowing("ls"))
  })

  it("[RC8] a viewer gets no asks, and what it sends is answered with an error", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const { token } = await tokenOf(stage, "viewer")
    const viewer = await openClient(stage, id, token)
    const operator = await openClient(stage, id)
    const answered = agent.askPermission("ask-1")
    const question = await operator.request("can_use_tool")
    viewer.answer(question, { behavior: "allow", updatedInput: {} })
    const notAllowed = await viewer.find((message) => message["request_id"] === "ask-1")
    expect(notAllowed).toMatchObject({ subtype: "refused", error: { code: "auth/forbidden" } })
    expect(errorIn(await viewer.ask("i", { subtype: "initialize" }))).toContain("the role viewer may not")
    viewer.send(user("let me in", { uuid: "6b0d2cf8-0000-4000-8000-000000000001" }))
    const refused = await viewer.find((message) => message["uuid"] === "6b0d2cf8-0000-4000-8000-000000000001")
    expect(refused).toMatchObject({ subtype: "refused", error: { code: "auth/forbidden" } })
    operator.answer(question, { behavior: "deny", message: "no" })
    await answered
    agent.sayText("seen by all")
    await viewer.ofType("assistant")
    expect(viewer.types()).not.toContain("control_request")
    expect(viewer.types()).not.toContain("control_cancel_request")
    expect(agent.wire.types()).not.toContain("user")
  })

  it("[RC42] a request that a client takes back is taken back from the agent, where that does not end it", async () => {
    const stage = await openStage()
    for (const version of ["2.1.325", undefined]) {
      const { agent, id } = await openAgent(stage, version === undefined ? {} : { version })
      const client = await openClient(stage, id)
      await client.ask("i", { subtype: "initialize" })
      client.send({ type: "control_request", request_id: "slow", request: { subtype: "side_question", question: "?" } })
      const { request_id } = await agent.wire.request("side_question")
      client.send({ type: "control_cancel_request", request_id: "slow" })
      const next = client.ask("next", { subtype: "mcp_status" })
      await agent.take("mcp_status", {})
      await next
      const taken = agent.wire.messages.filter(({ type }) => type === "control_cancel_request")
      expect(taken.map((message) => message["request_id"])).toEqual(version === undefined ? [] : [request_id])
      expect(client.messages.filter((message) => fieldOf(message, "response")?.["request_id"] === "slow")).toEqual([])
    }
  })

  it("[HS42] a request that was not answered in time is taken back from an agent that can take it", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage, { version: "2.1.325" })
    const body = { request: { subtype: "of_tomorrow" }, timeoutMs: 50 }
    expect((await call(stage, "POST", `/api/sessions/${id}/control`, body)).status).toBe(504)
    const { request_id } = await agent.wire.request("of_tomorrow")
    expect(await agent.wire.ofType("control_cancel_request")).toMatchObject({ request_id })
  })

  it("[RC9] rubbish, keep_alive and auth reach no agent and harm nobody; old dialects are understood", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const client = await openClient(stage, id)
    const rubbish = [
      "null",
      "[]",
      "{",
      "42",
      '"x"',
      "{}",
      '{"type":7}',
      '{"type":"user"}',
      '{"type":"control_response"}',
    ]
    for (const line of [...rubbish, '{"type":"control_request"}', '{"type":"made_up"}']) client.sendRaw(`${line}\n`)
    client.send({ type: "control_request", request_id: "bare" })
    client.send({ type: "keep_alive" })
    client.send({ type: "auth", credential: { type: "oauth", token: "x" } })
    expect(errorIn(await client.reply("bare"))).toContain("subtype")
    const answered = agent.askPermission("ask-1")
    await client.request("can_use_tool")
    client.send({ type: "control_response", request_id: "ask-1", permission: { allow: true } })
    expect(payloadIn(await answered)).toMatchObject({ behavior: "allow", updatedInput: { command: "ls" } })
    // Without its newline, and cut in two.
    client.sendRaw('{"type":"inter')
    client.sendRaw('rupt"}')
    await agent.wire.request("interrupt")
    expect(new Set(agent.wire.types())).toEqual(new Set(["control_request", "control_response"]))
  })

  it("[RC10] the door takes a header, or an auth line first and soon; nothing else gets in", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const open = (path: string, headers: Record<string, string> = {}) =>
      LineSocket.open(new WebSocket(`${stage.wsUrl}${path}`, { headers }))
    const client = await open(`/ws/session/${id}`)
    client.send({ type: "auth", credential: { type: "oauth", token: stage.hub.admin.token } })
    expect(payloadIn(await client.ask("i", { subtype: "initialize" }))["commands"]).toHaveLength(1)
    client.close()
    const wrong = await open(`/ws/session/${id}`)
    wrong.send({ type: "auth", credential: { type: "oauth", token: "sbx_wrong" } })
    wrong.send({ type: "control_request", request_id: "i", request: { subtype: "initialize" } })
    expect(await wrong.closed).toMatchObject({ code: 4001 })
    const impatient = await open(`/ws/session/${id}`)
    impatient.send(user("let me in"))
    expect(await impatient.closed).toMatchObject({ code: 4001 })
    const unknown = await open("/ws/session/nowhere")
    unknown.send({ type: "auth", credential: { type: "oauth", token: stage.hub.admin.token } })
    expect(await unknown.closed).toMatchObject({ code: 4001, reason: "Session nowhere not found." })
    const bearer = { authorization: `Bearer ${stage.hub.admin.token}` }
    await expect(open("/ws/session/nowhere", bearer)).rejects.toThrow("404")
    await expect(open(`/ws/session/${id}`, { authorization: "Bearer wrong" })).rejects.toThrow("401")
    await expect(open(`/ws/session/${id}`, { ...bearer, origin: "http://evil.example" })).rejects.toThrow("403")
    expect(agent.wire.types()).not.toContain("user")
  })

  it("[RC11] 1000 when the session is over, 1012 when the hub restarts, 4001 when the token is revoked", async () => {
    const stage = await openStage()
    const [one, two] = [await openAgent(stage), await openAgent(stage)]
    const { token, id } = await tokenOf(stage, "operator")
    const [ended, revoked, restarted] = [
      await openClient(stage, one.id),
      await openClient(stage, two.id, token),
      await openClient(stage, two.id),
    ]
    const stopped = call(stage, "DELETE", `/api/sessions/${one.id}`)
    await one.agent.take("end_session", undefined)
    await stopped
    expect(await ended.closed).toMatchObject({ code: 1000 })
    expect(ended.messages.at(-1)).toMatchObject({ type: "hub", subtype: "ended" })
    expect(await (await openClient(stage, one.id)).closed).toMatchObject({ code: 1000 })
    await call(stage, "DELETE", `/api/tokens/${id}`)
    expect(await revoked.closed).toMatchObject({ code: 4001 })
    await stage.hub.close()
    expect(await restarted.closed).toMatchObject({ code: 1012 })
  })

  it("[RC12] a client goes along when the conversation goes on in another session", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    const client = await openClient(stage, id)
    agent.sayText("before")
    await client.ofType("assistant")
    agent.say({ type: "system", subtype: "init", session_id: "another-session" })
    expect(await client.find((message) => message["subtype"] === "rotated")).toMatchObject({ type: "hub" })
    await client.find((message) => message["session_id"] === "another-session")
    client.send(user("still here?"))
    await agent.hears("still here?")
    const answered = agent.askPermission("ask-2")
    client.answer(await client.request("can_use_tool"), { behavior: "allow", updatedInput: {} })
    expect(payloadIn(await answered)).toMatchObject({ behavior: "allow" })
  })
})
