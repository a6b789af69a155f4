import { expect, it } from "vitest"
import { call, openAgent, openStage } from "../clients/stage.ts"

it("[HS67] [X-125] an agent's refusal is an error, unless the caller asks to be told of it", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const request = { subtype: "read_file", path: "/none" }
  const answered = new Set<string>()
  for (const mayRefuse of [false, true]) {
    const asked = call(stage, "POST", `/api/sessions/${id}/control`, { request, mayRefuse })
    const heard = await agent.wire.find(
      (message) => JSON.stringify(message).includes("read_file") && !answered.has(String(message["request_id"])),
    )
    answered.add(String(heard["request_id"]))
    const response = { subtype: "error", request_id: heard["request_id"], error: "no such file" }
    agent.say({ type: "control_response", response })
    const reply = await asked
    expect(reply.status).toBe(mayRefuse ? 200 : 502)
    const told = { response: null, refused: expect.stringContaining("no such file") }
    expect(await reply.json()).toMatchObject(mayRefuse ? told : { error: { code: "control/refused" } })
  }
  agent.close()
})
