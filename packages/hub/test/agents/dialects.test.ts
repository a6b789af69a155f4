import { fieldOf } from "@signalbox/protocol"
import type { Session } from "@signalbox/protocol/hub-api"
import { expect, it } from "vitest"
import { payloadIn, type ScriptedAgent } from "../clients/scripted-agent.ts"
import { call, eventsOf, openAgent, openClient, openStage, type Stage } from "../clients/stage.ts"

const POLL = { timeout: 30_000, interval: 20 }

/** As older documents describe a question: the input under another name, no tool use, suggestions that are words. */
function askInOldForm(agent: ScriptedAgent, requestId: string, command: string) {
  const request = { subtype: "can_use_tool", tool_name: "Bash", tool_input: { command } }
  return agent.ask({ ...request, permission_suggestions: ["always allow"] }, requestId)
}

async function viewOf(stage: Stage, id: string): Promise<Session> {
  return (await (await call(stage, "GET", `/api/sessions/${id}`)).json()) as Session
}

it("[L13] [L1] rules judge an old question by its input, and an answer carries it", async () => {
  const stage = await openStage()
  const rules = [{ id: "no-rm", effect: "deny", tool: "Bash", input: { command: "rm *" }, reason: "keep the files" }]
  const put = await call(stage, "PUT", "/api/policy", { rules })
  expect(put.status, await put.text()).toBe(200)
  const { agent, id } = await openAgent(stage)
  expect(payloadIn(await askInOldForm(agent, "q-1", "rm -r x"))).toMatchObject({ behavior: "deny" })
  const client = await openClient(stage, id)
  const answered = askInOldForm(agent, "q-2", "ls")
  const question = await client.request("can_use_tool")
  expect(fieldOf(question, "request")).toMatchObject({ input: { command: "ls" }, tool_use_id: "q-2" })
  const { asks } = (await (await call(stage, "GET", `/api/asks?session=${id}&state=pending`)).json()) as {
    asks: { id: string; input: unknown }[]
  }
  expect(asks).toMatchObject([{ input: { command: "ls" }, suggestions: [] }])
  await call(stage, "POST", `/api/asks/${asks[0]?.id}/answer`, { behavior: "allow" })
  expect(payloadIn(await answered)).toMatchObject({ behavior: "allow", updatedInput: { command: "ls" } })
  const kept = (await eventsOf(stage, id)).find(({ line }) => line.includes('"q-2"'))
  expect(kept?.line).toContain('"tool_input":{"command":"ls"}')
})

it("[L13] [L2] [L3] the cost of an old result counts, after a restart too, and old pieces are a message in progress", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const first = await openClient(stage, id)
  agent.say({ type: "system", subtype: "init" })
  agent.say({ type: "stream_event", event: "message_start", data: { message: { id: "m" } } })
  const delta = (text: string) => ({ index: 0, delta: { type: "text_delta", text } })
  agent.say({ type: "stream_event", event: "content_block_delta", data: delta("Once ") })
  agent.say({ type: "stream_event", event: "content_block_delta", data: delta("upon") })
  await first.find((message) => JSON.stringify(message).includes("upon"))
  const late = await openClient(stage, id)
  await late.find((message) => JSON.stringify(message).includes("Once upon"))
  agent.say({ type: "result", is_error: false, result: "done", cost_usd: 0.25 })
  await expect.poll(async () => (await viewOf(stage, id)).costUsd, POLL).toBe(0.25)
  expect((await viewOf(stage, id)).lastResult).toMatchObject({ subtype: "success" })
  const outline = (await (await call(stage, "GET", `/api/sessions/${id}/outline`)).json()) as { marks: unknown[] }
  expect(outline.marks).toMatchObject([{ kind: "result", label: "done" }])
  const again = await stage.reopen()
  expect(await viewOf(again, id)).toMatchObject({ costUsd: 0.25, turns: 1 })
})

it("[L13] [L4] a bare list of servers is told as today's reply", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const reply = call(stage, "POST", `/api/sessions/${id}/control`, { request: { subtype: "mcp_status" } })
  await agent.take("mcp_status", [{ name: "files", status: "connected" }])
  expect(await (await reply).json()).toEqual({
    response: { mcpServers: [{ name: "files", status: "connected" }] },
  })
})
