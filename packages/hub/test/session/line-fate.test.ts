import { describe, expect, it } from "vitest"
import { fateOf, questionKey } from "../../src/session/agent-intake.ts"

describe("what becomes of a line", () => {
  it.each([
    [{ type: "system", subtype: "init", uuid: "u" }],
    [{ type: "assistant", uuid: "u" }],
    [{ type: "user", uuid: "u" }],
    [{ type: "result", uuid: "u" }],
    [{ type: "rate_limit_event", uuid: "u" }],
    [{ type: "something_of_next_year", uuid: "u" }],
    [{ type: "system", subtype: "status", status: null, permissionMode: "plan", uuid: "u" }],
    [{ type: "system", subtype: "status", status: "compacting", uuid: "u" }],
  ])("[HS1] %o is an event, once per uuid", (message) => {
    expect(fateOf(message)).toEqual({ fate: "event", key: "u" })
  })

  it("[HS1] an event without a uuid is an event each time", () => {
    expect(fateOf({ type: "system", subtype: "init" })).toEqual({ fate: "event" })
  })

  it.each(["can_use_tool", "elicitation", "request_user_dialog"])("[HS1] %s is a question", (subtype) => {
    const message = { type: "control_request", request_id: "r", request: { subtype } }
    expect(fateOf(message)).toEqual({ fate: "question", requestId: "r", request: { subtype } })
    expect(questionKey("r")).not.toBe("r")
  })

  it.each([
    [{ type: "stream_event", event: {}, uuid: "u" }],
    [{ type: "tool_progress", uuid: "u" }],
    [{ type: "command_lifecycle", command_uuid: "u", state: "queued" }],
    [{ type: "system", subtype: "thinking_tokens" }],
    [{ type: "system", subtype: "status", status: "requesting" }],
    [{ type: "system", subtype: "status", status: null }],
  ])("[HS2] %o is shown live and never numbered", (message) => {
    expect(fateOf(message)).toEqual({ fate: "delta" })
  })

  it("[HS60] a sign-in status is an event when it tells of something", () => {
    const status = { type: "auth_status", isAuthenticating: false, output: [], uuid: "u", session_id: "s" }
    expect(fateOf(status)).toEqual({ fate: "absorbed" })
    for (const told of [{ isAuthenticating: true }, { output: ["Sign in at …"] }, { error: "refused" }]) {
      expect(fateOf({ ...status, ...told })).toEqual({ fate: "event", key: "u" })
    }
  })

  it.each([
    [{ type: "keep_alive" }, "absorbed"],
    [{ type: "control_response", response: { subtype: "success", request_id: "r" } }, "reply"],
    [{ type: "control_request", request_id: "r", request: { subtype: "hook_callback" } }, "call"],
    [{ type: "control_request", request_id: "r", request: { subtype: "mcp_message" } }, "call"],
    [{ type: "control_cancel_request", request_id: "r" }, "cancel"],
  ])("[HS3] %o is not an event", (message, fate) => {
    expect(fateOf(message).fate).toBe(fate)
  })
})
