import { type Row, Transcript, type TranscriptEvent } from "@signalbox/transcript"
import { describe, expect, it } from "vitest"
import { placeOf } from "../../src/transcript/rows/row-place.ts"

let nextSeq = 0
function event(message: Readonly<Record<string, unknown>> & { type: string }): TranscriptEvent {
  return { seq: ++nextSeq, at: "2031-01-01T00:00:00Z", from: "agent", message }
}
const call = (id: string, name: string, parent: string | null = null) =>
  event({
    type: "assistant",
    parent_tool_use_id: parent,
    message: {
      id: `m-${id}`,
      role: "assistant",
      content: [{ type: "tool_use", id, name, input: { file_path: "/a" } }],
    },
  })
const result = (id: string, text: string, parent: string | null = null) =>
  event({
    type: "user",
    parent_tool_use_id: parent,
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] },
  })

function transcriptOf(events: readonly TranscriptEvent[]): {
  rows: readonly Row[]
  laneRows: (id: string) => readonly Row[]
} {
  const transcript = new Transcript({ firstSeq: events[0]?.seq ?? 1 })
  transcript.fold(events)
  return { rows: transcript.rows(null), laneRows: (id) => transcript.rows(id) }
}

describe("where an event is shown", () => {
  it("is the group of calls that has it, opened, and the call too when words are looked for", () => {
    const events = ["a", "b", "c", "d"].flatMap((id) => [call(id, "Read"), result(id, `text of ${id}`)])
    const { rows, laneRows } = transcriptOf(events)
    const seq = events[5]?.seq ?? 0
    const [group] = rows
    expect(group?.kind).toBe("activity")
    expect(placeOf(rows, { seq, laneRows })).toEqual({ index: 0, opens: [group?.key], lane: undefined, isExact: true })
    expect(placeOf(rows, { seq, laneRows, words: "text" }).opens).toEqual([group?.key, "t:c"])
  })

  it("is the call of a sub-agent that has it in its lane, or the lane itself when it is far up in it", () => {
    const inner = Array.from({ length: 30 }, (_, n) => [call(`i${n}`, "Bash", "task"), result(`i${n}`, "x", "task")])
    const events = [call("task", "Task"), ...inner.flat(), result("task", "done")]
    const { rows, laneRows } = transcriptOf(events)
    const [task] = rows
    const last = inner.at(-1)?.[1]?.seq ?? 0
    expect(placeOf(rows, { seq: last, laneRows, words: "x" })).toEqual({
      index: 0,
      opens: [task?.key, "t:i29"],
      lane: undefined,
      isExact: true,
    })
    expect(placeOf(rows, { seq: inner[0]?.[1]?.seq ?? 0, laneRows }).lane).toBe("task")
  })

  it("is the nearest row before, for what has none", () => {
    const events = [call("one", "Bash"), result("one", "x"), event({ type: "keep_alive" }), call("two", "Bash")]
    const { rows, laneRows } = transcriptOf(events)
    expect(placeOf(rows, { seq: events[2]?.seq ?? 0, laneRows })).toEqual({
      index: 0,
      opens: [],
      lane: undefined,
      isExact: false,
    })
  })
})
