import { describe, expect, it } from "vitest"
import { createAgentReader, normaliseAgentMessage, normaliseFrontendMessage, readFrontendLine } from "../src/decode.ts"
import { decode } from "../src/index.ts"

const reading = { newRequestId: () => "fresh" }

describe("dialects of an agent", () => {
  it("[L1] tool_input is read as input, and a question without tool_use_id gets its request's id", () => {
    const request = { subtype: "can_use_tool", tool_name: "Bash", tool_input: { command: "ls" } }
    expect(normaliseAgentMessage({ type: "control_request", request_id: "r", request })).toEqual({
      type: "control_request",
      request_id: "r",
      request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "r" },
    })
  })

  it("[L2] cost_usd is read as total_cost_usd, and a result without a subtype gets one", () => {
    expect(normaliseAgentMessage({ type: "result", is_error: false, result: "done", cost_usd: 0.5 })).toEqual({
      type: "result",
      subtype: "success",
      is_error: false,
      result: "done",
      total_cost_usd: 0.5,
    })
    expect(normaliseAgentMessage({ type: "result", is_error: true })).toMatchObject({
      subtype: "error_during_execution",
    })
  })

  it("[L3] a stream_event that names its event and keeps the fields under data becomes one event object", () => {
    const old = {
      type: "stream_event",
      event: "content_block_delta",
      data: { index: 0, delta: { type: "text_delta" } },
    }
    expect(normaliseAgentMessage(old)).toEqual({
      type: "stream_event",
      parent_tool_use_id: null,
      event: { type: "content_block_delta", index: 0, delta: { type: "text_delta" } },
    })
  })

  it("[L4] tool_progress with counts, suggestions that are words, and a bare list of MCP servers are read", () => {
    expect(normaliseAgentMessage({ type: "tool_progress", tool_use_id: "t", progress: 5, total: 10 })).toMatchObject({
      tool_name: "",
      elapsed_time_seconds: 0,
      progress: 5,
    })
    const request = { subtype: "can_use_tool", input: {}, tool_use_id: "t", permission_suggestions: ["deny"] }
    expect(normaliseAgentMessage({ type: "control_request", request_id: "r", request })).toMatchObject({
      request: { permission_suggestions: [] },
    })
    const list = {
      type: "control_response",
      response: { subtype: "success", request_id: "r", response: [{ name: "a", status: "connected" }] },
    }
    expect(normaliseAgentMessage(list)).toMatchObject({ response: { response: { mcpServers: [{ name: "a" }] } } })
  })

  it("[L5] a message in today's form comes back as the same object", () => {
    const messages = [
      { type: "result", subtype: "success", total_cost_usd: 1 },
      { type: "stream_event", event: { type: "ping" } },
      { type: "tool_progress", tool_name: "Bash", elapsed_time_seconds: 1 },
      { type: "control_request", request_id: "r", request: { subtype: "can_use_tool", input: {}, tool_use_id: "t" } },
      { type: "control_response", response: { subtype: "success", request_id: "r", response: { mcpServers: [] } } },
      { type: "never heard of", tool_input: 1 },
    ]
    for (const message of messages) expect(normaliseAgentMessage(message)).toBe(message)
  })
})

describe("reading a line with its dialect", () => {
  it("[L12] what was unknown by its old form is known, typed, and keeps its line", () => {
    const line =
      '{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_input":{"command":"ls"}}}'
    expect(decode(line, "agent")).toMatchObject({ kind: "unknown", why: "shape" })
    const read = createAgentReader()(line)
    expect(read).toMatchObject({ kind: "known", line })
    if (read.kind !== "known" || read.message.type !== "control_request") throw new Error("not read as a request")
    expect(read.message.request).toMatchObject({ subtype: "can_use_tool", input: { command: "ls" } })
  })

  it("[L12] a frontend's old answer is read as one that may be written", () => {
    const read = readFrontendLine('{"type":"control_response","request_id":"r","permission":{"allow":false}}', reading)
    expect(read).toMatchObject({ kind: "known", message: { response: { subtype: "success", request_id: "r" } } })
    expect(readFrontendLine("rubbish", reading)).toMatchObject({ kind: "malformed" })
  })
})

describe("dialects of a frontend", () => {
  it("[L6] the bare interrupt becomes a control request", () => {
    expect(normaliseFrontendMessage({ type: "interrupt" }, reading)).toEqual({
      type: "control_request",
      request_id: "fresh",
      request: { subtype: "interrupt" },
    })
  })

  it("[L7] an answer as {request_id, permission} becomes a success with its behaviour", () => {
    const allow = normaliseFrontendMessage(
      { type: "control_response", request_id: "r", permission: { allow: true } },
      reading,
    )
    expect(allow).toEqual({
      type: "control_response",
      response: { subtype: "success", request_id: "r", response: { behavior: "allow" } },
    })
    const deny = normaliseFrontendMessage(
      { type: "control_response", request_id: "r", permission: { allow: false } },
      reading,
    )
    expect(deny).toMatchObject({ response: { response: { behavior: "deny", message: "Denied by the user." } } })
  })

  it("[L8] an answer as can_use_tool_result becomes a success with the result nested", () => {
    const response = { subtype: "can_use_tool_result", request_id: "r", result: { behavior: "deny" } }
    expect(normaliseFrontendMessage({ type: "control_response", response }, reading)).toEqual({
      type: "control_response",
      response: { subtype: "success", request_id: "r", response: { behavior: "deny", message: "Denied by the user." } },
    })
  })

  it("[L10] what is not an old form passes untouched, also when it makes no sense", () => {
    for (const message of [
      { type: "control_response" },
      { type: "user" },
      { type: "control_response", request_id: 5 },
    ]) {
      expect(normaliseFrontendMessage(message, reading)).toBe(message)
    }
  })
})
