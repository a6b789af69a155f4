import { describe, expect, it } from "vitest"
import { answeredFields } from "../../src/asks/forms/elicitation-fields.ts"

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name" },
    size: { type: "string", oneOf: [{ const: "s", title: "Small" }] },
    tags: { type: "array", title: "Tags", items: { type: "string", enum: ["x"], enumNames: ["The x"] } },
    urgent: { type: "boolean", title: "Urgent" },
    odd: { type: "object" },
  },
}

describe("a form that was filled in", () => {
  it("is told field by field, in its own words", () => {
    const content = { tags: ["x", "other"], size: "s", urgent: false, odd: { a: 1 }, extra: 5, none: null }
    expect(answeredFields({ requested_schema: SCHEMA, property_order: ["size"] }, content)).toEqual([
      { name: "size", label: "size", value: "Small" },
      { name: "name", label: "Your name", value: undefined },
      { name: "tags", label: "Tags", value: "The x, other" },
      { name: "urgent", label: "Urgent", value: "No" },
      { name: "odd", label: "odd", value: '{"a":1}' },
      { name: "extra", label: "extra", value: "5" },
      { name: "none", label: "none", value: undefined },
    ])
  })

  it("is told as it was sent where there is no schema to read", () => {
    expect(answeredFields({}, { code: "42" })).toEqual([{ name: "code", label: "code", value: "42" }])
  })
})
