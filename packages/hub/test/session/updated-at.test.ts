import type { Envelope } from "@signalbox/protocol"
import { expect, it } from "vitest"
import { foldEvents } from "../../src/session/kept-record.ts"
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

it("[HS14] … nor does what its agent tells of its background tasks when it is asked again, unless they are others", () => {
  const { registry } = setUpSessions()
  const { kept } = registry.create({ agent: "external" })
  const tells = (seq: number, tasks: readonly object[]) => {
    const message: Envelope = { type: "system", subtype: "background_tasks_changed", tasks }
    return { event: { seq, at: seq * 1_000, from: "agent" as const, line: JSON.stringify(message) }, message }
  }
  expect(foldEvents(kept, [tells(1, [])]).record.updatedAt).toBe(kept.record.updatedAt)
  const first = foldEvents(kept, [tells(1, [{ task_id: "a" }])])
  expect(first.record).toMatchObject({ backgroundTasks: 1, updatedAt: new Date(1_000).toISOString() })
  const again = foldEvents(first, [note(2, "connected"), tells(3, [{ task_id: "a" }])])
  expect(again.record).toMatchObject({ lastSeq: 3, updatedAt: new Date(1_000).toISOString() })
  expect(foldEvents(again, [tells(4, [])]).record.updatedAt).toBe(new Date(4_000).toISOString())
})
