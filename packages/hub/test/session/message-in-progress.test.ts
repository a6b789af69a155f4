import type { Envelope } from "@signalbox/protocol"
import { describe, expect, it } from "vitest"
import { MessageInProgress } from "../../src/session/history.ts"

function say(progress: MessageInProgress, event: Record<string, unknown>, parent: string | null = null): void {
  const message: Envelope = { type: "stream_event", event, parent_tool_use_id: parent }
  progress.take(message, JSON.stringify(message))
}

function text(index: number, words: string) {
  return { type: "content_block_delta", index, delta: { type: "text_delta", text: words } }
}

function events(progress: MessageInProgress): Record<string, unknown>[] {
  return progress.lines().map((line) => JSON.parse(line).event as Record<string, unknown>)
}

describe("the sentence so far", () => {
  it("[HS7] is all that was said of the message, deltas of one block joined", () => {
    const progress = new MessageInProgress()
    say(progress, { type: "message_start", message: { id: "m" } })
    say(progress, { type: "content_block_start", index: 0 })
    for (const word of ["one ", "two ", "three"]) say(progress, text(0, word))
    say(progress, { type: "content_block_stop", index: 0 })
    say(progress, text(1, "next"))
    expect(events(progress)).toEqual([
      { type: "message_start", message: { id: "m" } },
      { type: "content_block_start", index: 0 },
      text(0, "one two three"),
      { type: "content_block_stop", index: 0 },
      text(1, "next"),
    ])
  })

  it("[HS7] thinking and tool input are joined too, and kinds are not mixed", () => {
    const progress = new MessageInProgress()
    const delta = (type: string, field: string, value: string) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type, [field]: value },
    })
    say(progress, { type: "message_start" })
    say(progress, delta("thinking_delta", "thinking", "a"))
    say(progress, delta("thinking_delta", "thinking", "b"))
    say(progress, delta("input_json_delta", "partial_json", "{"))
    say(progress, delta("input_json_delta", "partial_json", "}"))
    expect(events(progress).slice(1)).toEqual([
      delta("thinking_delta", "thinking", "ab"),
      delta("input_json_delta", "partial_json", "{}"),
    ])
  })

  it("[HS7] ends with the message, and each sub-agent has its own", () => {
    const progress = new MessageInProgress()
    say(progress, { type: "message_start" })
    say(progress, { type: "message_start" }, "toolu_1")
    say(progress, text(0, "from below"), "toolu_1")
    say(progress, { type: "message_stop" })
    expect(events(progress)).toEqual([{ type: "message_start" }, text(0, "from below")])
    progress.clear()
    expect(progress.lines()).toEqual([])
  })

  it("[HS7] nobody is quoted from the middle", () => {
    const progress = new MessageInProgress()
    say(progress, text(0, "…and so it ended"))
    expect(progress.lines()).toEqual([])
  })

  it("[HS7] a message without end is not kept without end", () => {
    const progress = new MessageInProgress()
    say(progress, { type: "message_start" })
    for (let index = 0; index < 100; index += 1) say(progress, text(0, "x".repeat(100_000)))
    expect(progress.lines().join("").length).toBeLessThan(8_000_000)
  })
})
