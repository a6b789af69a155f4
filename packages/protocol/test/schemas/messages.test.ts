import { AssistantMessage, messages, ResultMessage, schemaFor, systemMessages } from "@signalbox/protocol/schemas"
import { describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import { agentLines, apiMessage, init37 } from "./examples.ts"

describe("every message of an agent", () => {
  test.each(Object.entries(agentLines))("%s validates and keeps the fields nobody knows", (_name, line) => {
    const extended = { ...line, field_of_tomorrow: { deep: [1] } }
    expect(schemaFor(extended, "agent")?.parse(extended)).toEqual(extended)
  })

  test("has an example, so that no schema goes untried", () => {
    const named = Object.entries(messages.agent).flatMap(([type, entry]) => {
      if (entry instanceof z.ZodType) return [type]
      // Requests have examples of their own, in control.test.ts.
      return type === "control_request" ? [] : Object.keys(entry.schemas).map((subtype) => `${type}/${subtype}`)
    })
    expect(named.filter((name) => !(name in agentLines))).toEqual([])
  })

  // Nobody published these, so nobody promised their identity.
  const unpublished = new Set(["command_lifecycle", "autocompact_state"])
  test.each(Object.entries(agentLines).filter(([, line]) => "uuid" in line && !unpublished.has(line.type)))(
    "%s without its session is refused",
    (_name, { session_id: _left, ...line }) => {
      expect(schemaFor(line, "agent")?.safeParse(line).success).toBe(false)
    },
  )
})

describe("system/init", () => {
  test("of 2.1.37, which knows neither capabilities nor fast mode states, validates", () => {
    expect(systemMessages.init.parse(init37)).toEqual(init37)
  })

  test("with a mode, a key source and a server state of tomorrow validates", () => {
    const line = {
      ...init37,
      permissionMode: "zen",
      apiKeySource: "vault",
      mcp_servers: [{ name: "x", status: "odd" }],
    }
    expect(systemMessages.init.safeParse(line).success).toBe(true)
  })

  test("whose tools are no list of names is refused", () => {
    expect(systemMessages.init.safeParse({ ...init37, tools: "Bash" }).success).toBe(false)
  })
})

describe("assistant", () => {
  const line = { type: "assistant", uuid: "u", session_id: "s", message: apiMessage, parent_tool_use_id: null }

  test("needs a message with a list of blocks", () => {
    expect(AssistantMessage.safeParse(line).success).toBe(true)
    expect(AssistantMessage.safeParse({ ...line, message: "Hi" }).success).toBe(false)
    expect(AssistantMessage.safeParse({ ...line, message: { ...apiMessage, content: "Hi" } }).success).toBe(false)
  })

  test("is typed down to its blocks, with the known errors completing", () => {
    expectTypeOf<AssistantMessage["message"]["content"][number]["type"]>().toExtend<string>()
    expectTypeOf<"rate_limit">().toExtend<NonNullable<AssistantMessage["error"]>>()
    expectTypeOf<AssistantMessage["parent_tool_use_id"]>().toEqualTypeOf<string | null>()
    expectTypeOf<AssistantMessage["uuid"]>().toEqualTypeOf<string>()
  })
})

describe("hook_response", () => {
  test("of 2.0.77, without hook_id, output and outcome, validates", () => {
    const line = {
      type: "system",
      subtype: "hook_response",
      uuid: "u",
      session_id: "s",
      hook_name: "my-hook",
      hook_event: "PreToolUse",
      stdout: "hook output",
      stderr: "",
      exit_code: 0,
    }
    expect(systemMessages.hook_response.parse(line)).toEqual(line)
  })
})

describe("result", () => {
  test("of an interrupted turn is an error subtype that says it is none", () => {
    const line = { ...agentLines["result/error_during_execution"], is_error: false }
    expect(ResultMessage.safeParse(line).success).toBe(true)
  })

  test("narrows to its text or to its errors by the subtype", () => {
    const result = ResultMessage.parse(agentLines["result/success"])
    if (result.subtype === "success") expectTypeOf(result.result).toEqualTypeOf<string>()
    else expectTypeOf(result.errors).toEqualTypeOf<string[]>()
    expect(result.modelUsage["claude-sonnet-4-5-20250929"]?.costUSD).toBe(0.05)
  })

  test("without text or errors is refused", () => {
    const success = { ...agentLines["result/success"], result: undefined }
    const failure = { ...agentLines["result/error_max_turns"], errors: "it broke" }
    expect(ResultMessage.safeParse(success).success).toBe(false)
    expect(ResultMessage.safeParse(failure).success).toBe(false)
  })
})
