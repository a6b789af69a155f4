import { describe, expect, it } from "vitest"
import { Transcript } from "../src/index.ts"
import { SessionLog } from "./session-log.ts"

const stream = (event: Record<string, unknown>, lane: string | null = null) => ({
  type: "stream_event",
  parent_tool_use_id: lane,
  event,
})
const starts = (id: string, lane?: string) => stream({ type: "message_start", message: { id } }, lane ?? null)
const opens = (index: number, content_block: Record<string, unknown>) =>
  stream({ type: "content_block_start", index, content_block })
const grows = (index: number, delta: Record<string, unknown>) => stream({ type: "content_block_delta", index, delta })

function live(): Transcript {
  const transcript = new Transcript()
  transcript.delta(starts("m1"))
  transcript.delta(opens(0, { type: "text", text: "" }))
  return transcript
}

describe("the transcript: what is being said", () => {
  it("[TR13] a text grows under the key that it has when it is said, and is there once", () => {
    const transcript = live()
    for (const text of ["Hel", "lo"]) transcript.delta(grows(0, { type: "text_delta", text }))
    expect(transcript.rows()).toMatchObject([{ key: "b:m1:0", state: "live", text: "Hello" }])
    transcript.fold(new SessionLog().text("m1", "Hello").events)
    expect(transcript.rows()).toMatchObject([{ key: "b:m1:0", state: "done", text: "Hello" }])
    transcript.delta(grows(0, { type: "text_delta", text: "late" }))
    expect(transcript.rows()).toHaveLength(1)
  })

  it("[TR13] whoever comes in mid-sentence, and is told it from its beginning, sees what was said of it once", () => {
    const transcript = new Transcript()
    transcript.fold(new SessionLog().text("m1", "Whole").events)
    transcript.delta(starts("m1"))
    for (const [index, text] of ["Whole", "Half"].entries()) {
      transcript.delta(opens(index, { type: "text", text: "" }))
      transcript.delta(grows(index, { type: "text_delta", text }))
    }
    expect(transcript.rows()).toMatchObject([
      { key: "b:m1:0", state: "done", text: "Whole" },
      { key: "b:m1:1", state: "live", text: "Half" },
    ])
  })

  it("[TR13] a tool's input shows its first field when that is whole, and thinking its count", () => {
    const transcript = live()
    transcript.delta(opens(1, { type: "tool_use", id: "t1", name: "Write", input: {} }))
    transcript.delta(grows(1, { type: "input_json_delta", partial_json: '{"file_path": "a' }))
    expect(transcript.rows()).toMatchObject([{ key: "t:t1", state: "live", name: "Write", input: {} }])
    transcript.delta(grows(1, { type: "input_json_delta", partial_json: '.ts", "content": "x' }))
    expect(transcript.rows()).toMatchObject([{ key: "t:t1", input: { file_path: "a.ts" } }])
    transcript.delta(opens(2, { type: "thinking", thinking: "" }))
    transcript.delta({ type: "system", subtype: "thinking_tokens", estimated_tokens: 120 })
    expect(transcript.rows()[1]).toMatchObject({ kind: "thinking", state: "live", tokens: 120 })
  })

  it("[TR13] the end of the turn and of the process end what was being said", () => {
    for (const log of [new SessionLog().ends(), new SessionLog().hub("ended")]) {
      const transcript = live()
      transcript.delta(grows(0, { type: "text_delta", text: "half" }))
      transcript.fold(log.events)
      expect(transcript.rows().filter((row) => row.kind === "text")).toEqual([])
    }
  })

  it("[TR13] [X-121] what was being said when the agent or the hub was lost stays until something takes its place", () => {
    for (const lost of ["agent", "hub"] as const) {
      const transcript = live()
      transcript.delta(grows(0, { type: "text_delta", text: "half" }))
      if (lost === "hub") transcript.interruptLive()
      else transcript.fold(new SessionLog().hub("disconnected").events)
      const stale = { key: "b:m1:0", kind: "text", state: "stale", text: "half" }
      expect(transcript.rows().at(-1)).toMatchObject(stale)
      // Some of it may have been missed: what comes from the middle is not added.
      transcript.delta(grows(0, { type: "text_delta", text: "later" }))
      expect(transcript.rows().at(-1)).toMatchObject(stale)
      transcript.delta(starts("m1"))
      transcript.delta(opens(0, { type: "text", text: "" }))
      transcript.delta(grows(0, { type: "text_delta", text: "half and more" }))
      expect(transcript.rows().at(-1)).toMatchObject({ state: "live", text: "half and more" })
    }
  })

  it("[TR13] a page from before does not end it", () => {
    const log = new SessionLog().text("m0", "old").ends().text("m0b", "new")
    const transcript = new Transcript()
    transcript.fold(log.events.slice(2))
    transcript.delta(starts("m1"))
    transcript.delta(opens(0, { type: "text", text: "now" }))
    transcript.fold(log.events.slice(0, 2))
    expect(transcript.rows().map(({ key }) => key)).toEqual(["b:m0:0", "e:u2", "b:m0b:0", "b:m1:0"])
  })

  it("[TR13] a sub-agent speaks in its own lane", () => {
    const transcript = new Transcript()
    transcript.fold(new SessionLog().call("m0", { id: "A", name: "Task" }).events)
    transcript.delta(starts("m1", "A"))
    transcript.delta(
      stream({ type: "content_block_start", index: 0, content_block: { type: "text", text: "hi" } }, "A"),
    )
    expect(transcript.rows("A")).toMatchObject([{ text: "hi", lane: "A" }])
    expect(transcript.rows()).toMatchObject([{ key: "t:A" }])
  })

  it("[TR14] a row that did not change is the same object", () => {
    const log = new SessionLog().prompt("x").text("m0", "a").call("m1", { id: "r", name: "Read" }).result("r", "")
    const transcript = new Transcript()
    transcript.fold(log.events)
    const before = transcript.rows()
    expect(transcript.rows()).toBe(before)
    transcript.fold(log.text("m2", "b").events)
    const after = transcript.rows()
    expect(after).toHaveLength(before.length + 1)
    for (const [index, row] of before.entries()) expect(after[index]).toBe(row)
  })
})
