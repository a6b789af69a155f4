import type { Envelope } from "@signalbox/protocol"
import { expect, it } from "vitest"
import type { StoredEvent } from "../../src/model/event.ts"
import { foldEvents } from "../../src/session/kept-record.ts"
import { FakeAgent, setUpSessions } from "./session-setup.ts"

const event = (seq: number, from: StoredEvent["from"], message: Envelope, by?: string) => ({
  event: { seq, at: seq, from, line: JSON.stringify(message), ...(by === undefined ? {} : { by }) },
  message,
})
const interrupt = { type: "control_request", request_id: "r", request: { subtype: "interrupt" } }
const failed = { type: "result", subtype: "error_during_execution", is_error: true }

it("[HS40] the result of a turn that somebody interrupted says who, and the next one's does not", async () => {
  const { registry } = setUpSessions()
  const session = registry.create({ agent: "external" })
  await new FakeAgent().attach(session)
  const kept = { record: { ...session.record, turnStartedAt: "2031-01-01T00:00:00.000Z" }, own: session.kept.own }
  const cut = foldEvents(kept, [event(1, "client", interrupt, "ops-phone"), event(2, "agent", failed)])
  expect(cut.record.lastResult).toMatchObject({ isError: true, interruptedBy: "ops-phone" })
  expect(cut.record).not.toHaveProperty("interruptedBy")
  // Nothing goes on: there is nothing that it could have ended.
  const idle = foldEvents(cut, [event(3, "client", interrupt, "ops-phone"), event(4, "agent", failed)])
  expect(idle.record.lastResult).not.toHaveProperty("interruptedBy")
})

it("[HS40] a denial that ends the turn too is an interruption by whoever gave it, and a plain denial is none", async () => {
  const { registry } = setUpSessions()
  const session = registry.create({ agent: "external" })
  await new FakeAgent().attach(session)
  const kept = { record: { ...session.record, turnStartedAt: "2031-01-01T00:00:00.000Z" }, own: session.kept.own }
  const denial = (more: object): Envelope => ({
    type: "control_response",
    response: { subtype: "success", request_id: "r", response: { behavior: "deny", message: "No", ...more } },
  })
  const after = (answer: Envelope) =>
    foldEvents(kept, [event(1, "client", answer, "ops-phone"), event(2, "agent", failed)]).record.lastResult
  expect(after(denial({ interrupt: true }))).toMatchObject({ isError: true, interruptedBy: "ops-phone" })
  expect(after(denial({}))).not.toHaveProperty("interruptedBy")
  expect(after(denial({ interrupt: false }))).not.toHaveProperty("interruptedBy")
})
