import { isDeepStrictEqual } from "node:util"
import { fieldOf, isObject } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"

/**
 * What is wrong with a value by a JSON schema, in the words of the validator that CLIs carry, each with its place:
 * `/city: must be string`. `isDetailed`: as the newest generation tells it. Formats are not looked at.
 */
export function schemaProblems(schema: Readonly<Fields>, value: unknown, isDetailed: boolean): string[] {
  const check: Check = { root: schema, isDetailed, depth: 0 }
  return problemsOf(check, schema, value, "").map(({ at, message }) => `${at === "" ? "root" : at}: ${message}`)
}

interface Check {
  readonly root: Readonly<Fields>
  readonly isDetailed: boolean
  /** A schema may refer to itself. */
  readonly depth: number
}

interface Problem {
  readonly at: string
  readonly message: string
}

const MAX_DEPTH = 100

function problemsOf(check: Check, schema: unknown, value: unknown, at: string): Problem[] {
  if (schema === false) return [{ at, message: "boolean schema is false" }]
  if (!isObject(schema) || check.depth > MAX_DEPTH) return []
  const deeper = { ...check, depth: check.depth + 1 }
  const referred = typeof schema["$ref"] === "string" ? lookUp(check.root, schema["$ref"]) : undefined
  const fromReference = referred === undefined ? [] : problemsOf(deeper, referred, value, at)
  const wrongType = typeProblem(schema["type"], value)
  // What is of another kind is not looked at any closer.
  if (wrongType !== undefined) return [...fromReference, { at, message: wrongType }]
  const own = [
    ...numberProblems(schema, value),
    ...textProblems(check, schema, value),
    ...choiceProblems(check, schema, value),
  ]
  return [
    ...fromReference,
    ...own.map((message) => ({ at, message })),
    ...combinedProblems(deeper, schema, value, at),
    ...listProblems(deeper, schema, value, at),
    ...objectProblems(deeper, schema, value, at),
  ]
}

function lookUp(root: Readonly<Fields>, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined
  return reference
    .slice(1)
    .split("/")
    .filter((part) => part !== "")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), root)
}

function typeProblem(type: unknown, value: unknown): string | undefined {
  const types = Array.isArray(type) ? type.map(String) : typeof type === "string" ? [type] : []
  if (types.length === 0 || types.some((each) => isOfType(value, each))) return undefined
  return `must be ${types.join(",")}`
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null
  if (type === "array") return Array.isArray(value)
  if (type === "object") return isObject(value)
  if (type === "integer") return Number.isInteger(value)
  return typeof value === type
}

function numberProblems(schema: Readonly<Fields>, value: unknown): string[] {
  if (typeof value !== "number") return []
  const limits: readonly [string, string, (limit: number) => boolean][] = [
    ["maximum", "<=", (limit) => value <= limit],
    ["minimum", ">=", (limit) => value >= limit],
    ["exclusiveMaximum", "<", (limit) => value < limit],
    ["exclusiveMinimum", ">", (limit) => value > limit],
  ]
  const beyond = limits.flatMap(([name, sign, holds]) => {
    const limit = schema[name]
    return typeof limit !== "number" || holds(limit) ? [] : [`must be ${sign} ${limit}`]
  })
  const unit = schema["multipleOf"]
  const isWhole = typeof unit !== "number" || Number.isInteger(value / unit)
  return isWhole ? beyond : [...beyond, `must be multiple of ${unit}`]
}

function textProblems(check: Check, schema: Readonly<Fields>, value: unknown): string[] {
  if (typeof value !== "string") return []
  const pattern = schema["pattern"]
  const misses = typeof pattern === "string" && !matches(pattern, value)
  const size = sizeProblems(
    check,
    Array.from(value).length,
    { most: schema["maxLength"], least: schema["minLength"] },
    "characters",
  )
  return misses ? [...size, `must match pattern "${pattern}"`] : size
}

/** A pattern that is none matches everything: nobody can do better. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value)
  } catch {
    return true
  }
}

function sizeProblems(
  { isDetailed }: Check,
  size: number,
  limits: { most: unknown; least: unknown },
  what: string,
): string[] {
  const got = isDetailed ? ` (got ${size})` : ""
  const { most, least } = limits
  return [
    ...(typeof most === "number" && size > most ? [`must NOT have more than ${most} ${what}${got}`] : []),
    ...(typeof least === "number" && size < least ? [`must NOT have fewer than ${least} ${what}${got}`] : []),
  ]
}

function choiceProblems({ isDetailed }: Check, schema: Readonly<Fields>, value: unknown): string[] {
  const allowed = schema["enum"]
  const isAllowed = !Array.isArray(allowed) || allowed.some((each) => isDeepStrictEqual(each, value))
  const isConstant = !("const" in schema) || isDeepStrictEqual(schema["const"], value)
  const listed = isDetailed ? `: ${JSON.stringify(allowed)}` : ""
  return [
    ...(isConstant ? [] : ["must be equal to constant"]),
    ...(isAllowed ? [] : [`must be equal to one of the allowed values${listed}`]),
  ]
}

function combinedProblems(check: Check, schema: Readonly<Fields>, value: unknown, at: string): Problem[] {
  const listed = (name: string) => {
    const schemas = schema[name]
    return Array.isArray(schemas) ? schemas.map((each) => problemsOf(check, each, value, at)) : undefined
  }
  const any = listed("anyOf")
  const one = listed("oneOf")
  const isNot = "not" in schema && problemsOf(check, schema["not"], value, at).length === 0
  const fitting = one?.filter((each) => each.length === 0).length
  return [
    ...(isNot ? [{ at, message: "must NOT be valid" }] : []),
    ...(any === undefined || any.some((each) => each.length === 0)
      ? []
      : [...any.flat(), { at, message: "must match a schema in anyOf" }]),
    ...(fitting === undefined || fitting === 1
      ? []
      : [...(fitting === 0 ? (one ?? []).flat() : []), { at, message: "must match exactly one schema in oneOf" }]),
    ...(listed("allOf") ?? []).flat(),
  ]
}

function listProblems(check: Check, schema: Readonly<Fields>, value: unknown, at: string): Problem[] {
  if (!Array.isArray(value)) return []
  const size = sizeProblems(check, value.length, { most: schema["maxItems"], least: schema["minItems"] }, "items")
  const { items } = schema
  const inside =
    items === undefined || Array.isArray(items)
      ? []
      : value.map((each, index) => problemsOf(check, items, each, `${at}/${index}`))
  const twice = schema["uniqueItems"] === true ? twins(value) : []
  const said = (messages: readonly string[]) => messages.map((message) => ({ at, message }))
  return [...said(size), ...inside.flat(), ...said(twice)]
}

function twins(value: readonly unknown[]): string[] {
  const second = value.findIndex((each, index) => value.findIndex((other) => isDeepStrictEqual(other, each)) < index)
  if (second === -1) return []
  const first = value.findIndex((other) => isDeepStrictEqual(other, value[second]))
  return [`must NOT have duplicate items (items ## ${first} and ${second} are identical)`]
}

function objectProblems(check: Check, schema: Readonly<Fields>, value: unknown, at: string): Problem[] {
  if (!isObject(value)) return []
  const properties = fieldOf(schema, "properties") ?? {}
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : []
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  const additional = Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
  const extra = schema["additionalProperties"]
  const named = (name: string) => (check.isDetailed ? ` ('${name}' is not allowed)` : "")
  const tooMany = extra === false ? additional.map((name) => `must NOT have additional properties${named(name)}`) : []
  const into = (name: string, each: unknown) => problemsOf(check, each, value[name], `${at}/${pointed(name)}`)
  return [
    ...missing.map((name) => ({ at, message: `must have required property '${name}'` })),
    ...tooMany.map((message) => ({ at, message })),
    ...(isObject(extra) ? additional.flatMap((name) => into(name, extra)) : []),
    ...Object.entries(properties).flatMap(([name, each]) => (Object.hasOwn(value, name) ? into(name, each) : [])),
  ]
}

function pointed(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1")
}
