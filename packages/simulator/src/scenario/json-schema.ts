import { z } from "zod"
import { scenarioSchema } from "./schema.ts"

/** The scenario language for editors and other programs, as it is published in `schema/scenario.schema.json`. */
export function scenarioJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(scenarioSchema, { reused: "ref" })
  return {
    $schema,
    title: "A scenario for claude-sim",
    description: "What the model does, turn by turn. See docs/simulator.md.",
    ...schema,
  }
}

/** The same without references, to walk along a path. */
export function scenarioPlaces(): Record<string, unknown> {
  return { ...z.toJSONSchema(scenarioSchema) }
}
