import { ApiStreamEvent, ContentBlock, ContentDelta, HostUserMessage } from "@signalbox/protocol/schemas"
import { describe, expect, expectTypeOf, test } from "vitest"
import { apiMessage } from "./examples.ts"

describe("content blocks", () => {
  test.each([
    { type: "text", text: "Hi" },
    { type: "thinking", thinking: "Hm", signature: "sig" },
    { type: "redacted_thinking", data: "xx" },
    { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls" } },
    { type: "tool_result", tool_use_id: "toolu_1" },
    { type: "tool_result", tool_use_id: "toolu_1", content: "ok", is_error: true },
    {
      type: "tool_result",
      tool_use_id: "toolu_1",
      content: [
        { type: "text", text: "ok" },
        { type: "tool_reference", tool_name: "x" },
      ],
    },
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } },
    { type: "document", source: { type: "url", url: "https://example.org/a.pdf" }, title: null },
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    { type: "hologram", beams: 3 },
  ])("of type $type validate and keep what nobody knows", (block) => {
    const extended = { ...block, cache_control: { type: "ephemeral" } }
    expect(ContentBlock.parse(extended)).toEqual(extended)
  })

  test.each([
    { type: "text" },
    { type: "text", text: 5 },
    { type: "tool_use", id: "toolu_1", name: "Bash", input: "ls" },
    { type: "tool_result", content: "ok" },
    { text: "no type" },
    "text",
    null,
  ])("of a known type and the wrong shape are refused: %j", (block) => {
    expect(ContentBlock.safeParse(block).success).toBe(false)
  })

  test("narrow by their type, and an unknown one keeps its name", () => {
    const describeBlock = (block: ContentBlock): string => {
      if (block.type === "text") {
        expectTypeOf(block.text).toEqualTypeOf<string>()
        return block.text
      }
      if (block.type === "tool_use") {
        expectTypeOf(block.input).toEqualTypeOf<Record<string, unknown>>()
        return block.name
      }
      return block.type
    }
    expect(describeBlock(ContentBlock.parse({ type: "hologram" }))).toBe("hologram")
  })
})

describe("events of the API's stream", () => {
  test.each([
    { type: "message_start", message: { ...apiMessage, content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "Bash", input: {} } },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"a' } },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "x" } },
    { type: "content_block_delta", index: 0, delta: { type: "smell_delta", smell: "coffee" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
    { type: "ping" },
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    { type: "message_rewritten", anything: true },
  ])("of type $type validate and keep what nobody knows", (event) => {
    const extended = { ...event, extra: 1 }
    expect(ApiStreamEvent.parse(extended)).toEqual(extended)
  })

  test("named by a string, as one document has it, are refused", () => {
    expect(ApiStreamEvent.safeParse("content_block_delta").success).toBe(false)
    expect(ContentDelta.safeParse({ type: "text_delta", data: "x" }).success).toBe(false)
  })

  test("narrow down to the text of a delta", () => {
    const event = ApiStreamEvent.parse({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: "a" },
    })
    if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") throw new Error("not narrowed")
    expectTypeOf(event.delta.text).toEqualTypeOf<string>()
    expect(event.delta.text).toBe("a")
  })
})

describe("a host's user message", () => {
  test.each([
    { type: "user", message: { role: "user", content: "Hi" }, parent_tool_use_id: null, session_id: "" },
    { type: "user", message: { role: "user", content: [{ type: "text", text: "Hi" }] } },
    { type: "user", message: { role: "user", content: "Hi" }, uuid: "u", priority: "now", shouldQuery: false },
  ])("needs no identity: %j", (line) => {
    expect(HostUserMessage.parse(line)).toEqual(line)
  })

  test("of another role or without content is refused", () => {
    expect(HostUserMessage.safeParse({ type: "user", message: { role: "assistant", content: "x" } }).success).toBe(
      false,
    )
    expect(HostUserMessage.safeParse({ type: "user", message: { role: "user" } }).success).toBe(false)
  })
})
