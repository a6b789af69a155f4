import {
  type AgentMessage,
  type HostMessage,
  HostUserMessage,
  messages,
  schemaFor,
  UserMessage,
  type WireMessage,
} from "@signalbox/protocol/schemas"
import { describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import { agentLines } from "./examples.ts"

/** The literal that a schema demands of a field, if it is an object with one. */
function literalOf(schema: z.ZodType, field: string): unknown {
  const literal = schema instanceof z.ZodObject ? schema.shape[field] : undefined
  return literal instanceof z.ZodLiteral ? literal.value : undefined
}

const entries = [...Object.entries(messages.agent), ...Object.entries(messages.host)]
const registered = entries.flatMap(([type, entry]) =>
  entry instanceof z.ZodType
    ? [{ type, schema: entry, subtype: undefined }]
    : Object.entries<z.ZodType>(entry.schemas).map(([subtype, schema]) => ({
        type,
        schema,
        // The subtype of a request lies deeper; the table of control requests is checked in control.test.ts.
        subtype: entry.by === "subtype" ? subtype : undefined,
      })),
)

test.each(registered)("the registry holds $type $subtype under the words that its schema carries", (entry) => {
  expect(literalOf(entry.schema, "type")).toBe(entry.type)
  expect(literalOf(entry.schema, "subtype")).toBe(entry.subtype)
})

describe("schemaFor", () => {
  test.each([
    { type: "zebra" },
    { type: "constructor" },
    { type: "system" },
    { type: "system", subtype: "zebra" },
    { type: "system", subtype: "toString" },
    { type: "system", subtype: 5 },
    { type: "control_request", request_id: "r" },
    { type: "control_request", request_id: "r", request: null },
    { type: "control_request", request_id: "r", request: { subtype: "zebra" } },
  ])("knows nothing of %j", (message) => {
    expect(schemaFor(message)).toBeUndefined()
  })

  test("tells the sides apart where both speak", () => {
    const line = { type: "user", message: { role: "user", content: "Hi" } }
    expect(schemaFor(line, "agent")).toBe(UserMessage)
    expect(schemaFor(line, "host")).toBe(HostUserMessage)
    expect(schemaFor({ type: "assistant" }, "host")).toBeUndefined()
  })

  test.each(Object.entries(agentLines))("accepts %s without knowing who sent it", (_name, line) => {
    expect(schemaFor(line)?.safeParse(line).success).toBe(true)
  })
})

describe("the unions", () => {
  test("narrow by type and subtype to useful fields", () => {
    const read = (message: AgentMessage) => {
      if (message.type === "system" && message.subtype === "init") {
        expectTypeOf(message.tools).toEqualTypeOf<string[]>()
      } else if (message.type === "result" && message.subtype === "success") {
        expectTypeOf(message.result).toEqualTypeOf<string>()
      } else if (message.type === "control_request" && message.request.subtype === "can_use_tool") {
        expectTypeOf(message.request.input).toEqualTypeOf<Record<string, unknown>>()
      } else if (message.type === "assistant") {
        expectTypeOf(message.message.usage.input_tokens).toEqualTypeOf<number>()
      }
    }
    expect(read).toBeTypeOf("function")
  })

  test("hold exactly the registered types", () => {
    expectTypeOf<AgentMessage["type"]>().toEqualTypeOf<keyof typeof messages.agent>()
    expectTypeOf<HostMessage["type"]>().toEqualTypeOf<keyof typeof messages.host>()
    expectTypeOf<WireMessage>().toEqualTypeOf<AgentMessage | HostMessage>()
  })

  test("let a host's line be written as a literal and nothing misspelt", () => {
    const line: HostMessage = {
      type: "control_request",
      request_id: "r",
      request: { subtype: "set_model", model: "m" },
    }
    // @ts-expect-error the mode is missing
    const wrong: HostMessage = { type: "control_request", request_id: "r", request: { subtype: "set_permission_mode" } }
    expect(schemaFor(line)?.safeParse(line).success).toBe(true)
    expect(schemaFor(wrong)?.safeParse(wrong).success).toBe(false)
  })
})
