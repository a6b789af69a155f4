import { readFileSync } from "node:fs"
import { isObject } from "@signalbox/protocol/envelope"
import { fitsSchema } from "./fits-schema.ts"
import { misplacedSteps } from "./misplaced-steps.ts"
import { readPlainYaml } from "./plain-yaml.ts"
import type { Scenario } from "./schema.ts"

// Almost every scenario that is loaded is a good one. It is held against the published schema, which is made from the
// zod schema, so that zod is loaded only to explain what is wrong with a bad one.

const schemaFile = new URL("../../schema/scenario.schema.json", import.meta.url)
let schema: unknown

/** The scenario in this text; undefined where there is a doubt, which is for the real check to settle. */
export async function quickScenario(text: string): Promise<Scenario | undefined> {
  const value = valueOfJson(text) ?? (await valueOfYaml(text))
  // A small file, of our own, is read at once sooner than by way of other threads.
  schema ??= JSON.parse(readFileSync(schemaFile, "utf8"))
  const isScenario = (found: unknown): found is Scenario => isObject(schema) && fitsSchema(schema, found)
  if (!isScenario(value) || misplacedSteps(value).length > 0) return undefined
  return (await areFaults(value.faults ?? [])) ? value : undefined
}

/** Undefined for what is no JSON, and for JSON with a key that stands twice in one object, which nobody means. */
function valueOfJson(text: string): unknown {
  if (!text.trimStart().startsWith("{")) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return countKeys(value) === writtenKeys(text) ? value : undefined
  } catch {
    return undefined // YAML may begin like this too
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, item) => sum + countKeys(item), own)
}

/** In JSON, a text before a colon is a key. */
function writtenKeys(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length
}

async function valueOfYaml(text: string): Promise<unknown> {
  const plain = readPlainYaml(text)
  if (plain !== undefined) return plain
  const { readYaml } = await import("./yaml.ts")
  return readYaml(text).value
}

async function areFaults(specs: readonly string[]): Promise<boolean> {
  if (specs.length === 0) return true
  const { parseFault } = await import("../faults/parse-fault.ts")
  try {
    return specs.map(parseFault).length > 0
  } catch {
    return false // the real check says what is wrong with it
  }
}
