import { describe, expect, it } from "vitest"
import { schemaProblems } from "../../src/tools/schema-problems.ts"
import { SimHost } from "../support/sim-host.ts"

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 5, pattern: "^[A-Z]" },
    age: { type: ["integer", "null"], minimum: 0, exclusiveMaximum: 150 },
    tags: { type: "array", items: { enum: ["a", "b"] }, minItems: 1, maxItems: 2, uniqueItems: true },
    kind: { const: "person" },
    pet: { $ref: "#/definitions/pet" },
    either: { anyOf: [{ type: "string" }, { type: "number", multipleOf: 5 }] },
    one: { oneOf: [{ type: "number" }, { minimum: 3 }] },
    never: { not: { type: "string" } },
    "a/b": { type: "object", additionalProperties: { type: "number" } },
  },
  required: ["name", "age"],
  additionalProperties: false,
  definitions: { pet: { type: "object", required: ["legs"], properties: { friend: { $ref: "#/definitions/pet" } } } },
}

/** As the validator that the CLIs carry words it. */
const VERDICTS: readonly (readonly [value: unknown, problems: readonly string[]])[] = [
  [{ name: "Ada", age: 3 }, []],
  [{}, ["root: must have required property 'name'", "root: must have required property 'age'"]],
  [5, ["root: must be object"]],
  [{ name: 5, age: "x" }, ["/name: must be string", "/age: must be integer,null"]],
  [
    { name: "a", age: -1, extra: 1, more: 2 },
    [
      "root: must NOT have additional properties",
      "root: must NOT have additional properties",
      "/name: must NOT have fewer than 2 characters",
      '/name: must match pattern "^[A-Z]"',
      "/age: must be >= 0",
    ],
  ],
  [
    { name: "Abcdefg", age: 150, tags: [] },
    ["/name: must NOT have more than 5 characters", "/age: must be < 150", "/tags: must NOT have fewer than 1 items"],
  ],
  [
    { name: "Ada", age: null, tags: ["a", "a", "z"], kind: "dog" },
    [
      "/tags: must NOT have more than 2 items",
      "/tags/2: must be equal to one of the allowed values",
      "/tags: must NOT have duplicate items (items ## 0 and 1 are identical)",
      "/kind: must be equal to constant",
    ],
  ],
  [{ name: "Ada", age: 1, pet: {} }, ["/pet: must have required property 'legs'"]],
  [
    { name: "Ada", age: 1, pet: { legs: 4, friend: { friend: {} } } },
    ["/pet/friend: must have required property 'legs'", "/pet/friend/friend: must have required property 'legs'"],
  ],
  [
    { name: "Ada", age: 1, either: true },
    ["/either: must be string", "/either: must be number", "/either: must match a schema in anyOf"],
  ],
  [
    { name: "Ada", age: 1, either: 7 },
    ["/either: must be string", "/either: must be multiple of 5", "/either: must match a schema in anyOf"],
  ],
  [{ name: "Ada", age: 1, one: 4 }, ["/one: must match exactly one schema in oneOf"]],
  [{ name: "Ada", age: 1, never: "x" }, ["/never: must NOT be valid"]],
  [{ name: "Ada", age: 1, "a/b": { c: "x" } }, ["/a~1b/c: must be number"]],
]

describe("structured output", () => {
  it.each(VERDICTS.map(([value, problems]) => [JSON.stringify(value), value, problems] as const))(
    "[A37] %s is judged as a JSON schema validator judges it, in its words",
    (_, value, problems) => {
      expect(schemaProblems(person, value, false)).toEqual(problems)
    },
  )

  it("[A37] the newest generation also says what there was", () => {
    expect(schemaProblems(person, { name: "A", age: 1, tags: ["z"], extra: 1 }, true)).toEqual([
      "root: must NOT have additional properties ('extra' is not allowed)",
      "/name: must NOT have fewer than 2 characters (got 1)",
      '/tags/0: must be equal to one of the allowed values: ["a","b"]',
    ])
  })

  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  const wrong = { tool: "StructuredOutput", input: { city: 5 } }
  const right = { tool: "StructuredOutput", input: { city: "Rome" } }

  it.each(["2.1.37", "2.1.120", "2.1.325"])("[A37] %s lets the model try five times", async (profile) => {
    const steps = [...Array.from({ length: 7 }, () => wrong), { say: "I give up." }]
    const host = new SimHost({ scenario: { turns: [{ steps }] }, profile, launch: { jsonSchema: schema } })
    const turn = await host.turn("a city")
    expect(turn.filter(({ type }) => type === "user")).toHaveLength(5)
    expect(turn.at(-1)).toMatchObject({
      subtype: "error_max_structured_output_retries",
      is_error: true,
      num_turns: 6,
      errors: [expect.stringMatching(/^Failed to provide valid structured output after 5 attempts/)],
    })
    await host.close()
  })

  it.each([
    ["2.1.120", "Stop hook feedback:\nYou MUST call the StructuredOutput tool"],
    ["2.1.325", "[structured-output-enforce] You MUST call the StructuredOutput tool"],
  ])("[A37] %s reminds a model that would end without it", async (profile, words) => {
    const turns = [{ steps: [{ say: "Rome." }] }, { steps: [wrong, right, { say: "Done." }] }]
    const host = new SimHost({ scenario: { turns }, profile, launch: { jsonSchema: schema } })
    const turn = await host.turn("a city")
    expect(JSON.stringify(turn.filter(({ isSynthetic }) => isSynthetic === true))).toContain(
      JSON.stringify(words).slice(1, -1),
    )
    expect(turn.at(-1)).toMatchObject({ subtype: "success", structured_output: { city: "Rome" } })
    await host.close()
  })
})
