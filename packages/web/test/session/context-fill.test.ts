import { Transcript, type TranscriptEvent } from "@signalbox/transcript"
import { describe, expect, it } from "vitest"
import { contextFillOf } from "../../src/session/meters.tsx"

const at = "2031-01-01T10:00:00Z"
const said = (seq: number, usage: object, model = "opus"): TranscriptEvent => ({
  seq,
  at,
  from: "agent",
  message: {
    type: "assistant",
    parent_tool_use_id: null,
    message: { id: `m${seq}`, model, usage, content: [{ type: "text", text: `word ${seq}` }] },
  },
})
const result = (seq: number, modelUsage: object): TranscriptEvent => ({
  seq,
  at,
  from: "agent",
  message: { type: "result", subtype: "success", is_error: false, modelUsage },
})

function fill(...events: readonly TranscriptEvent[]) {
  const transcript = new Transcript()
  transcript.fold(events)
  return contextFillOf(transcript.rows(), (seq) => events.find((event) => event.seq === seq)?.message)
}

const room = { haiku: { contextWindow: 200_000 }, opus: { contextWindow: 1_000_000 } }

describe("how full the context is", () => {
  it("is what the last request took, of what its model has room for", () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 300, cache_creation_input_tokens: 80, output_tokens: 10 }
    expect(fill(said(1, { input_tokens: 5 }), said(2, usage), result(3, room))).toEqual({ used: 400, max: 1_000_000 })
    expect(fill(result(1, room), said(2, usage, "haiku"))).toEqual({ used: 400, max: 200_000 })
  })

  it("is not guessed before both were told", () => {
    expect(fill()).toBeUndefined()
    expect(fill(said(1, { input_tokens: 5 }))).toBeUndefined()
    expect(fill(result(1, room))).toBeUndefined()
    expect(fill(said(1, { input_tokens: "many" }), result(2, { opus: "wide" }))).toBeUndefined()
  })

  it("is what is left after a compaction, where that is told", () => {
    const compacted = (tokens?: number): TranscriptEvent => ({
      seq: 3,
      at,
      from: "agent",
      message: {
        type: "system",
        subtype: "compact_boundary",
        compact_metadata: {
          trigger: "auto",
          pre_tokens: 900,
          ...(tokens === undefined ? {} : { post_tokens: tokens }),
        },
      },
    })
    const before = [said(1, { input_tokens: 900 }), result(2, room)]
    expect(fill(...before, compacted(70))).toEqual({ used: 70, max: 1_000_000 })
    expect(fill(...before, compacted())).toBeUndefined()
  })
})
