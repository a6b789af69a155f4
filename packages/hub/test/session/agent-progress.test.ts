import type { Envelope } from "@signalbox/protocol"
import { expect, it } from "vitest"
import { AgentProgress } from "../../src/session/life.ts"
import { setUpSessions } from "./session-setup.ts"

it("[HS62] after a thousand answered questions and a result the agent is idle, and none of them is kept", () => {
  const { registry, asks } = setUpSessions()
  const { messages } = registry.create({ agent: "external" })
  const progress = new AgentProgress(messages, asks)
  const follow = (from: "agent" | "client", message: Envelope) =>
    progress.follow({ kind: "event", event: { seq: 1, at: 0, from, line: "" }, message }, undefined)
  follow("client", { type: "user", message: { content: "go" } })
  follow("agent", { type: "system", subtype: "init" })
  for (let index = 0; index < 1_000; index++) {
    const request = { subtype: "can_use_tool", tool_name: "Bash", input: {}, tool_use_id: `t${index}` }
    follow("agent", { type: "control_request", request_id: `q${index}`, request })
    follow("client", { type: "control_response", response: { subtype: "success", request_id: `q${index}` } })
  }
  follow("agent", { type: "result", subtype: "success" })
  expect(progress.state.phase).toBe("idle")
  expect(JSON.stringify(progress.state, mapsToo)).not.toContain("q1")
})

function mapsToo(_: string, value: unknown): unknown {
  return value instanceof Map || value instanceof Set ? [...value] : value
}
