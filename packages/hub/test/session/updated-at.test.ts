import type { Envelope } from "@signalbox/protocol"
import { expect, it } from "vitest"
import { foldEvents } from "../../src/session/session-fold.ts"
import { setUpSessions } from "./session-setup.ts"

const note = (seq: number, subtype: string) => {
  const message: Envelope = { type: "hub", subtype }
  return { event: { seq, at: seq * 1_000, from: "hub" as const, line: JSON.stringify(message) }, message }
}

it("[HS14] an agent that comes and goes does not make its session one in which something just happened", () => {
  const { registry } = setUpSessions()
  const { kept } = registry.create({ agent: "external" })
  const back = foldEvents(kept, [note(1, "disconnected"), note(2, "connected")])
  expect(back.record).toMatchObject({ lastSeq: 2, updatedAt: kept.record.updatedAt })
  const ended = foldEvents(back, [note(3, "ended"), note(4, "connected")])
  expect(ended.record).toMatchObject({ lastSeq: 4, updatedAt: new Date(3_000).toISOString() })
})
