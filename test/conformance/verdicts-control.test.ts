import { existsSync } from "node:fs"
import { join } from "node:path"
import { composeSuccess, type Envelope, fieldOf } from "@signalbox/protocol"
import { expect } from "vitest"
import { type AgentHost, type ControlRequestLine, makeFolder, withAgent } from "./agent-host.ts"
import { allowTools, hookOutput } from "./answers.ts"
import { conformance, isNew, isOldest } from "./cells.ts"

const hello = { turns: [{ steps: [{ say: "Hello." }] }, { steps: [{ say: "Again." }] }, { steps: [{ say: "More." }] }] }
const bash = { turns: [{ steps: [{ tool: "Bash", input: { command: "touch made" } }, { say: "Done." }] }] }
const made = (agent: AgentHost) => existsSync(join(agent.folder.cwd, "made"))
const asked = (message: Envelope) => fieldOf(message, "request")?.["subtype"] === "can_use_tool"

/** Answers a permission request with this payload. */
const payload = (response: unknown) => (request: ControlRequestLine) =>
  request.subtype === "can_use_tool" ? composeSuccess(request.request_id, response) : null

conformance("[V3] an answer as can_use_tool_result does not allow the tool", (cell) => {
  const onRequest = ({ request_id }: ControlRequestLine) => ({
    type: "control_response",
    response: { subtype: "can_use_tool_result", request_id, result: { behavior: "allow" } },
  })
  return withAgent(cell, { scenario: bash, onRequest }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.turn("go")
    expect(made(agent)).toBe(false)
  })
})

conformance("[V3] an answer as {request_id, permission} ends old CLIs, and the newest drops it", (cell) => {
  const onRequest = ({ request_id }: ControlRequestLine) => ({
    type: "control_response",
    request_id,
    permission: { allow: true },
  })
  return withAgent(cell, { scenario: bash, onRequest }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.prompt("go")
    await agent.untilMatch(asked, "the permission request")
    if (!isNew(cell)) {
      expect(await agent.exited()).toMatchObject({ error: { code: "process/exit", details: { exitCode: 1 } } })
      return
    }
    // It goes on, and the question stays open: an interrupt is what cancels it.
    await agent.ask({ subtype: "interrupt" })
    await agent.until("control_cancel_request")
    expect(made(agent)).toBe(false)
  })
})

conformance("[V4] the bare interrupt ends 2.1.37, and newer ones pass it over", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.send({ type: "interrupt" })
    if (isOldest(cell)) expect(await agent.exited()).toMatchObject({ error: { code: "process/exit" } })
    else expect((await agent.turn("hi")).at(-1)).toMatchObject({ result: "Hello." })
  }),
)

conformance("[V13] initialize is optional; late, it is refused by all but the newest generation", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    expect((await agent.turn("hi")).at(-1)).toMatchObject({ result: "Hello." })
    const late = await agent.request({ subtype: "initialize" })
    if (isNew(cell)) expect(late).toMatchObject({ subtype: "success", response: { commands: expect.any(Array) } })
    else expect(late).toMatchObject({ subtype: "error", error: "Already initialized" })
  }),
)

conformance("[V13] initialize and the first message may be written back to back", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    const [reply] = await Promise.all([agent.request({ subtype: "initialize" }), agent.prompt("hi")])
    expect(reply).toMatchObject({ subtype: "success" })
    expect(await agent.until("result")).toMatchObject({ result: "Hello." })
  }),
)

conformance("[V16] resuming replays nothing; --replay-user-messages echoes what is newly sent", async (cell) => {
  const folder = await makeFolder()
  let sessionId = ""
  await withAgent(cell, { folder, scenario: hello }, async (agent) => {
    sessionId = String((await agent.turn("the first words")).at(-1)?.["session_id"])
    await agent.end()
  })
  const flags = { resume: sessionId, replayUserMessages: true }
  await withAgent(cell, { folder, scenario: hello, flags }, async (agent) => {
    await agent.turn("the second words", "0b1c2d3e-1111-4222-8333-444455556666")
    const replayed = agent.seen.filter((message) => message["isReplay"] === true)
    expect(JSON.stringify(replayed)).toContain("the second words")
    expect(JSON.stringify(agent.seen)).not.toContain("the first words")
  })
  await folder.remove()
})

conformance("[V20] [V21] mcp_status lists the servers, with states such as failed", (cell) => {
  const onRequest = ({ request_id, subtype }: ControlRequestLine) =>
    subtype === "mcp_message"
      ? { type: "control_response", response: { subtype: "error", request_id, error: "no such server" } }
      : null
  return withAgent(cell, { scenario: hello, onRequest }, async (agent) => {
    await agent.request({ subtype: "initialize", sdkMcpServers: ["broken"] })
    await agent.turn("hi")
    const { mcpServers } = await agent.ask({ subtype: "mcp_status" })
    expect(mcpServers).toMatchObject([{ name: "broken", status: "failed" }])
  })
})

conformance("[V22] an answer knows only allow and deny: ask runs nothing", (cell) =>
  withAgent(
    cell,
    { scenario: bash, onRequest: payload({ behavior: "ask", updatedInput: { command: "touch made" } }) },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      await agent.turn("go")
      expect(made(agent)).toBe(false)
    },
  ),
)

conformance("[V23] an allow without updatedInput is a denial, and means unchanged only on the newest", (cell) =>
  withAgent(cell, { scenario: bash, onRequest: payload({ behavior: "allow" }) }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.turn("go")
    expect(made(agent)).toBe(isNew(cell))
  }),
)

conformance("[V37] an allow needs no toolUseID", (cell) =>
  withAgent(
    cell,
    { scenario: bash, onRequest: payload({ behavior: "allow", updatedInput: { command: "touch made" } }) },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      await agent.turn("go")
      expect(made(agent)).toBe(true)
    },
  ),
)

const preToolUse = (timeout: number) => ({ PreToolUse: [{ hookCallbackIds: ["hook_0"], timeout }] })

conformance("[V25] decision_reason is free text", (cell) => {
  const output = {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "ask",
      permissionDecisionReason: "Better ask first.",
    },
  }
  return withAgent(cell, { scenario: bash, onRequest: hookOutput(output) }, async (agent) => {
    await agent.request({ subtype: "initialize", hooks: preToolUse(30) })
    await agent.prompt("go")
    const request = fieldOf(await agent.until("control_request", "can_use_tool"), "request")
    // 2.1.37 keeps the hook's reason to itself.
    if (isOldest(cell)) expect(request).not.toHaveProperty("decision_reason")
    else expect(request?.["decision_reason"]).toContain("Better ask first.")
    if (isNew(cell)) expect(request).toMatchObject({ decision_reason_type: "hook" })
    await agent.until("result")
  })
})

conformance("[V26] a hook's timeout is in seconds, and its end cancels the callback", (cell) => {
  // Nobody answers the hook; permission requests are allowed.
  return withAgent(cell, { scenario: bash, onRequest: allowTools }, async (agent) => {
    await agent.request({ subtype: "initialize", hooks: preToolUse(1) })
    await agent.prompt("go")
    await agent.until("control_request", "hook_callback")
    await agent.until("control_cancel_request")
    await agent.until("result")
    expect(made(agent)).toBe(!isNew(cell))
  })
})

conformance("[V28] set_model takes default as the way back", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const modelOf = async (text: string) =>
      (await agent.turn(text)).find((message) => message["subtype"] === "init")?.["model"]
    const before = await modelOf("one")
    await agent.ask({ subtype: "set_model", model: "claude-haiku-4-5" })
    expect(await modelOf("two")).not.toBe(before)
    await agent.ask({ subtype: "set_model", model: "default" })
    expect(await modelOf("three")).toBe(before)
  }),
)

conformance("[V29] the mode delegate is gone from the newest generation", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const answer = await agent.request({ subtype: "set_permission_mode", mode: "delegate" })
    if (isNew(cell)) expect(answer).toMatchObject({ subtype: "error", error_code: "invalid_mode" })
    else expect(answer).toMatchObject({ subtype: "success" })
  }),
)

conformance("[V33] an interrupt makes the agent cancel its own open question", (cell) =>
  withAgent(cell, { scenario: bash, onRequest: () => null }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.prompt("go")
    const question = await agent.until("control_request", "can_use_tool")
    const [, cancelled] = await Promise.all([
      agent.ask({ subtype: "interrupt" }),
      agent.until("control_cancel_request"),
    ])
    expect(cancelled["request_id"]).toBe(question["request_id"])
    expect(made(agent)).toBe(false)
  }),
)

conformance("[V33] a cancellation from the host ends 2.1.37, and newer ones take it", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.send({ type: "control_cancel_request", request_id: "nothing" })
    if (isOldest(cell))
      expect(await agent.exited()).toMatchObject({ error: { code: "process/exit", details: { exitCode: 1 } } })
    else expect((await agent.turn("hi")).at(-1)).toMatchObject({ result: "Hello." })
  }),
)

conformance("[V36] bypassPermissions at run time: 2.1.37 takes it, newer ones want it at launch", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const answer = await agent.request({ subtype: "set_permission_mode", mode: "bypassPermissions" })
    if (isNew(cell)) expect(answer).toMatchObject({ subtype: "error", error_code: "bypass_not_launched" })
    expect(answer).toMatchObject({ subtype: isOldest(cell) ? "success" : "error" })
  }),
)

conformance(
  "[V39] set_permission_mode is answered twice by 2.1.37 and once by the newest",
  (cell) =>
    withAgent(cell, { scenario: hello }, async (agent) => {
      await agent.request({ subtype: "initialize" })
      await agent.ask({ subtype: "set_permission_mode", mode: "plan" })
      await agent.ask({ subtype: "mcp_status" })
      const answers = agent.seen.filter((message) => fieldOf(message, "response")?.["request_id"] === "host-2")
      expect(answers).toHaveLength(isOldest(cell) ? 2 : 1)
    }),
  { versions: ["2.1.37", "2.1.325"] },
)
