import { Ajv, type ErrorObject } from "ajv"
import type { Fields } from "../profiles/profile.ts"

/**
 * The mistakes of a value by a JSON schema, in the words of the validator that CLIs carry, each with its place:
 * `/city: must be string`. `isDetailed`: as the newest generation tells it. Formats are not looked at.
 */
export function schemaProblems(schema: Readonly<Fields>, value: unknown, isDetailed: boolean): string[] {
  return errorsOf(schema, value).map((error) => {
    const more = isDetailed ? detailOf(error) : ""
    return `${error.instancePath === "" ? "root" : error.instancePath}: ${error.message ?? error.keyword}${more}`
  })
}

/** A schema that nobody can read finds nothing wrong: hosts write them in every draft, and a turn must go on. */
function errorsOf(schema: Readonly<Fields>, value: unknown): ErrorObject[] {
  const options = { allErrors: true, verbose: true, strict: false, validateFormats: false, validateSchema: false }
  try {
    const validate = new Ajv({ ...options, logger: false }).compile({ ...schema })
    validate(value)
    return validate.errors ?? []
  } catch {
    return []
  }
}

function detailOf({ keyword, params, data }: ErrorObject): string {
  if (keyword === "enum") return `: ${JSON.stringify(params["allowedValues"])}`
  if (keyword === "additionalProperties") return ` ('${params["additionalProperty"]}' is not allowed)`
  if (typeof data === "string" && /^m\w+Length$/.test(keyword)) return ` (got ${Array.from(data).length})`
  return Array.isArray(data) && /^m\w+Items$/.test(keyword) ? ` (got ${data.length})` : ""
}
