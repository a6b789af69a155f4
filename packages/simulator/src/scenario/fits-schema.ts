import { isObject } from "@signalbox/protocol/envelope"

type Schema = Readonly<Record<string, unknown>>

/** Whether a value of JSON fits a JSON schema. A keyword it does not know fits nothing: then somebody else must look. */
export function fitsSchema(root: Schema, value: unknown): boolean {
  const defs = isObject(root["$defs"]) ? root["$defs"] : {}
  return fits({ defs }, root, value)
}

interface Scope {
  readonly defs: Schema
}

type Keyword = (wanted: unknown, value: unknown, at: { scope: Scope; schema: Schema }) => boolean

const said: Keyword = () => true

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  $schema: said,
  $defs: said,
  title: said,
  description: said,
  $ref: (wanted, value, { scope }) => {
    const target = scope.defs[String(wanted).replace("#/$defs/", "")]
    return isObject(target) && fits(scope, target, value)
  },
  anyOf: (wanted, value, { scope }) => list(wanted).some((member) => isObject(member) && fits(scope, member, value)),
  const: (wanted, value) => wanted === value,
  enum: (wanted, value) => list(wanted).includes(value),
  type: (wanted, value) => isOfType(wanted, value),
  minimum: (wanted, value) => typeof value !== "number" || value >= Number(wanted),
  maximum: (wanted, value) => typeof value !== "number" || value <= Number(wanted),
  minLength: (wanted, value) => typeof value !== "string" || value.length >= Number(wanted),
  pattern: (wanted, value) => typeof value !== "string" || new RegExp(String(wanted)).test(value),
  minItems: (wanted, value) => !Array.isArray(value) || value.length >= Number(wanted),
  maxItems: (wanted, value) => !Array.isArray(value) || value.length <= Number(wanted),
  items: (wanted, value, { scope }) =>
    !Array.isArray(value) || (isObject(wanted) && value.every((item) => fits(scope, wanted, item))),
  required: (wanted, value) => !isObject(value) || list(wanted).every((key) => Object.hasOwn(value, String(key))),
  properties: (wanted, value, { scope }) => {
    if (!isObject(value) || !isObject(wanted)) return isObject(wanted)
    return Object.entries(wanted).every(
      ([key, schema]) => !Object.hasOwn(value, key) || (isObject(schema) && fits(scope, schema, value[key])),
    )
  },
  propertyNames: (wanted, value, { scope }) =>
    !isObject(value) || (isObject(wanted) && Object.keys(value).every((key) => fits(scope, wanted, key))),
  additionalProperties: (wanted, value, { scope, schema }) => {
    if (!isObject(value) || wanted === true) return true
    const named = isObject(schema["properties"]) ? schema["properties"] : {}
    const others = Object.keys(value).filter((key) => !Object.hasOwn(named, key))
    return others.every((key) => isObject(wanted) && fits(scope, wanted, value[key]))
  },
}

function fits(scope: Scope, schema: Schema, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, wanted]) => {
    const test = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined
    return test?.(wanted, value, { scope, schema }) === true
  })
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === "object") return isObject(value)
  if (type === "array") return Array.isArray(value)
  if (type === "integer") return Number.isInteger(value)
  if (type === "number") return Number.isFinite(value)
  return typeof value === type
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
