import { describe, expect, it } from "vitest"
import { contentOf, errorOf, fieldsOf } from "../../src/asks/forms/elicitation-fields.ts"

describe("the form of an MCP server", () => {
  const schema = {
    properties: {
      name: { type: "string", title: "Name", minLength: 2 },
      count: { type: "integer", minimum: 1, maximum: 5, default: 2 },
      on: { type: "boolean", default: true },
      colour: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
      tags: { type: "array", items: { type: "string", enum: ["x", "y"] } },
      mail: { type: "string", format: "email" },
      odd: { type: "object" },
    },
    required: ["name", "count"],
  }
  const fields = fieldsOf(schema, ["count", "name"])
  const field = (name: string) => {
    const found = fields.find((one) => one.name === name)
    if (found === undefined) throw new Error(name)
    return found
  }

  it("becomes fields of the right kinds, in the order asked for", () => {
    expect(fields.map(({ name, type }) => `${name}:${type}`)).toEqual([
      "count:number",
      "name:text",
      "on:switch",
      "colour:select",
      "tags:multi-select",
      "mail:email",
      "odd:json",
    ])
  })

  it("says what is wrong with a value", () => {
    expect(errorOf(field("count"), "2.5")).toBe("Enter a whole number.")
    expect(errorOf(field("count"), "9")).toBe("At most 5.")
    expect(errorOf(field("name"), "")).toBe("Required.")
    expect(errorOf(field("mail"), "")).toBeUndefined()
    expect(errorOf(field("odd"), "{")).toBe("Not valid JSON.")
  })

  it("is sent as the server wants it, without what was left empty", () => {
    expect(contentOf(fields, { name: "Jo", count: "3", tags: ["x"] })).toEqual({
      count: 3,
      name: "Jo",
      on: true,
      tags: ["x"],
    })
  })
})
