import { describe, expect, expectTypeOf, it } from "vitest"
import { type AgentMessage, decode, type Envelope, encode, encodeForAgent, peerTraits } from "../src/index.ts"

const old = peerTraits({ claude_code_version: "2.1.37" })
const recent = peerTraits({ claude_code_version: "2.1.325", capabilities: ["interrupt_receipt_v1"] })

describe("decode", () => {
  it("[M1] a message we know is known, with its line as it was received", () => {
    const line = '{ "duration_ms": 1,  "type":"result" , "subtype":"success", "later_field": {"a": [1]} }'
    const decoded = decode(line)
    expect(decoded).toMatchObject({ kind: "known", line, message: { type: "result", later_field: { a: [1] } } })
  })

  it("[M2] an unknown type or subtype is carried with all its fields", () => {
    expect(decode('{"type":"brand_new","x":{"y":1}}')).toMatchObject({
      kind: "unknown",
      why: "type",
      message: { type: "brand_new", x: { y: 1 } },
    })
    expect(decode('{"type":"system","subtype":"brand_new"}')).toMatchObject({ kind: "unknown", why: "subtype" })
    const request = '{"type":"control_request","request_id":"r","request":{"subtype":"brand_new","z":1}}'
    expect(decode(request)).toMatchObject({ kind: "unknown", why: "subtype", message: { request: { z: 1 } } })
  })

  it("[M3] a known type without the fields its readers follow is unknown by its shape", () => {
    const shapeless = [
      '{"type":"assistant"}',
      '{"type":"assistant","message":{"content":"not blocks"}}',
      '{"type":"user","message":null}',
      '{"type":"stream_event","event":"content_block_delta"}',
      '{"type":"system"}',
      '{"type":"control_request","request":{"subtype":"initialize"}}',
      '{"type":"control_request","request_id":"r"}',
      '{"type":"control_response","request_id":"r","permission":{"allow":true}}',
      '{"type":"control_response","response":{"subtype":"can_use_tool_result","request_id":"r"}}',
      '{"type":"control_cancel_request"}',
    ]
    for (const line of shapeless) expect(decode(line), line).toMatchObject({ kind: "unknown", why: "shape" })
  })

  it("[M4] what is no message is malformed, and the reason says why", () => {
    const reasons = ["", "not json", "[1]", "null", "7", '"text"', "{}", '{"type":5}', '{"type":"user"'].map((line) => {
      const decoded = decode(line)
      return decoded.kind === "malformed" ? decoded.reason : decoded.kind
    })
    expect(reasons[1]).toMatch(/^not JSON: /)
    expect(reasons.slice(2, 8)).toEqual([
      "not an object but an array",
      "not an object but null",
      "not an object but a number",
      "not an object but a string",
      'no "type"',
      'no "type"',
    ])
  })

  it("[M5] names that every object inherits are no known types", () => {
    for (const type of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      expect(decode(JSON.stringify({ type }))).toMatchObject({ kind: "unknown", why: "type" })
      expect(decode(JSON.stringify({ type: "system", subtype: type }))).toMatchObject({ why: "subtype" })
    }
    expect(decode('{"__proto__":{"type":"user"}}')).toMatchObject({ kind: "malformed" })
  })

  it("[M6] nesting and size of any measure come back as a verdict, never as an exception", () => {
    const deep = `${'{"type":"x","a":'.repeat(100_000)}1${"}".repeat(100_000)}`
    expect(decode(deep).kind).toBe("unknown")
    expect(decode("[".repeat(1_000_000)).kind).toBe("malformed")
    expect(decode(`{"type":"${"x".repeat(5_000_000)}"}`).kind).toBe("unknown")
  })

  it("[M7] a side may be named: a host's request is unknown coming from an agent", () => {
    const line = '{"type":"control_request","request_id":"r","request":{"subtype":"set_model"}}'
    expect(decode(line).kind).toBe("known")
    expect(decode(line, "host").kind).toBe("known")
    expect(decode(line, "agent")).toMatchObject({ kind: "unknown", why: "subtype" })
    const decoded = decode(line, "agent")
    if (decoded.kind === "known") expectTypeOf(decoded.message).toEqualTypeOf<AgentMessage>()
  })

  it("[M8] the types tell one message from another", () => {
    const decoded = decode('{"type":"result","subtype":"success","result":"done"}', "agent")
    if (decoded.kind !== "known" || decoded.message.type !== "result" || decoded.message.subtype !== "success") {
      throw new Error("not decoded as a success")
    }
    expectTypeOf(decoded.message.result).toEqualTypeOf<string>()
    expect(decoded.message.result).toBe("done")
  })
})

describe("encode", () => {
  it("[M9] one message becomes one line, whatever text is in it", () => {
    const line = encode({ type: "user", message: { role: "user", content: "a\nb\r\u2028\u0000é😀" } })
    expect(line).not.toContain("\n")
    expect(JSON.parse(line)).toEqual({ type: "user", message: { role: "user", content: "a\nb\r\u2028\u0000é😀" } })
  })

  it("[M9] what has no JSON form is refused with a code", () => {
    const circular: Record<string, unknown> = { type: "user" }
    circular["self"] = circular
    for (const bad of [circular as Envelope, { type: "user", n: 1n }, { type: "user", toJSON: () => "text" }]) {
      expect(() => encode(bad)).toThrowError(expect.objectContaining({ code: "write/not-encodable" }))
    }
  })
})

describe("writing to an agent", () => {
  const refused = (message: Envelope, traits = recent) =>
    expect(() => encodeForAgent(message, traits)).toThrowError(expect.objectContaining({ code: "write/not-accepted" }))

  it("[E1] only types that every CLI reads are written; old forms and inventions never are", () => {
    for (const type of ["interrupt", "auth", "status", "system", "assistant", "never_heard_of"]) refused({ type })
    expect(encodeForAgent({ type: "keep_alive" }, old)).toBe('{"type":"keep_alive"}')
  })

  it("[E2] a cancellation goes only to a CLI that can take it", () => {
    const cancel = { type: "control_cancel_request", request_id: "r" }
    refused(cancel, old)
    refused(cancel, peerTraits({}))
    expect(encodeForAgent(cancel, recent)).toBe(JSON.stringify(cancel))
    expect(encodeForAgent(cancel, peerTraits({ claude_code_version: "2.1.120" }))).toBe(JSON.stringify(cancel))
  })

  it("[E3] an answer has the one form that works: success or error, with its id", () => {
    refused({ type: "control_response", request_id: "r", permission: { allow: true } })
    refused({ type: "control_response", response: { subtype: "can_use_tool_result", request_id: "r" } })
    refused({ type: "control_response", response: { subtype: "success" } })
    refused({ type: "control_response", response: { subtype: "error", request_id: "r" } })
  })

  it("[E4] an allow without updatedInput is not written: 2.1.37 would deny the tool", () => {
    const answer = (payload: unknown) => ({
      type: "control_response",
      response: { subtype: "success", request_id: "r", response: payload },
    })
    refused(answer({ behavior: "allow" }))
    expect(encodeForAgent(answer({ behavior: "allow", updatedInput: {} }), old)).toContain("updatedInput")
    expect(encodeForAgent(answer({ behavior: "deny", message: "no" }), old)).toContain("deny")
  })

  it("[E5] a version between the ones that were tried is treated as the stricter one", () => {
    expect(peerTraits({ claude_code_version: "2.1.99" }).takesCancel).toBe(false)
    expect(peerTraits({ claude_code_version: "2.1.100" }).takesCancel).toBe(true)
    expect(peerTraits({ claude_code_version: "2.1.120" }).initializesAgain).toBe(false)
    expect(peerTraits({ claude_code_version: "2.2.0" }).initializesAgain).toBe(true)
    expect(peerTraits({ claude_code_version: "rubbish" }).takesCancel).toBe(false)
    expect(peerTraits({ claude_code_version: "2.1.325" }).takesUnanswered).toBe(false)
    expect(peerTraits({ capabilities: ["ask_user_question_unanswered_v1"] }).takesUnanswered).toBe(true)
  })
})
