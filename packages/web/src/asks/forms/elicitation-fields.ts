import { isObject, parseJson, textOf } from "@signalbox/protocol/envelope"

/** The form of an MCP server: its flat schema as fields, and what was typed as content. Pure. */
export interface FormField {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly isRequired: boolean
  readonly type: FieldType
  readonly options: readonly { readonly value: string; readonly label: string }[]
  readonly min?: number
  readonly max?: number
  readonly isInteger: boolean
  readonly minLength?: number
  readonly maxLength?: number
  readonly initial: FormValue
}

type FieldType = "text" | "number" | "switch" | "select" | "multi-select" | "json" | InputType
/** Fields of a kind that browsers know. */
type InputType = "date" | "datetime-local" | "email" | "url"

export type FormValue = string | boolean | readonly string[]
type Json = Readonly<Record<string, unknown>>

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined
}

const TYPES: Readonly<Record<string, FieldType>> = { boolean: "switch", number: "number", integer: "number" }
const FORMATS: Readonly<Record<string, InputType>> = {
  date: "date",
  "date-time": "datetime-local",
  email: "email",
  uri: "url",
}

function typeOf(schema: Json): FieldType {
  const items = schema["items"]
  if (optionsOf(schema).length > 0) return "select"
  if (schema["type"] === "array" && isObject(items) && optionsOf(items).length > 0) return "multi-select"
  if (schema["type"] === "string") return FORMATS[textOf(schema, "format") ?? ""] ?? "text"
  return TYPES[textOf(schema, "type") ?? ""] ?? "json"
}

function optionsOf(schema: Json): FormField["options"] {
  const named = [schema["oneOf"], schema["anyOf"]].find((list): list is unknown[] => Array.isArray(list))
  if (named !== undefined) {
    return named.filter(isObject).flatMap((option) => {
      const value = option["const"]
      return typeof value === "string" ? [{ value, label: textOf(option, "title") ?? value }] : []
    })
  }
  const values = schema["enum"]
  const names = schema["enumNames"]
  if (!Array.isArray(values)) return []
  return values.map((value: unknown, index) => ({
    value: String(value),
    label: String((Array.isArray(names) ? names[index] : undefined) ?? value),
  }))
}

function initialOf(schema: Json, type: FieldType): FormValue {
  const value = schema["default"]
  if (type === "switch") return value === true
  if (type === "multi-select") return Array.isArray(value) ? value.map(String) : []
  if (value === undefined) return ""
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** `order`: the request may say in which order its fields stand. */
export function fieldsOf(schema: unknown, order: unknown): readonly FormField[] {
  if (!isObject(schema) || !isObject(schema["properties"])) return []
  const properties = schema["properties"]
  const first: readonly unknown[] = Array.isArray(order) ? order : []
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : []
  const names = [...new Set([...first.map(String).filter((name) => name in properties), ...Object.keys(properties)])]
  return names.flatMap((name) => {
    const property = properties[name]
    if (!isObject(property)) return []
    const type = typeOf(property)
    const items = property["items"]
    const limits = {
      min: numberOf(property["minimum"]),
      max: numberOf(property["maximum"]),
      minLength: numberOf(property["minLength"]),
      maxLength: numberOf(property["maxLength"]),
    }
    return [
      {
        name,
        label: textOf(property, "title") ?? name,
        description: textOf(property, "description") ?? "",
        isRequired: required.includes(name),
        type,
        options: type === "multi-select" && isObject(items) ? optionsOf(items) : optionsOf(property),
        isInteger: property["type"] === "integer",
        initial: initialOf(property, type),
        ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
      },
    ]
  })
}

/** The problem with a value, in words; undefined when it has none. */
export function errorOf(field: FormField, value: FormValue): string | undefined {
  if (typeof value === "boolean") return undefined
  if (typeof value !== "string") return field.isRequired && value.length === 0 ? "Choose at least one." : undefined
  const text = value.trim()
  if (text === "") return field.isRequired ? "Required." : undefined
  switch (field.type) {
    case "number":
      return numberError(field, Number(text))
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(text) ? undefined : "Enter an email address, such as name@example.org."
    case "url":
      return URL.canParse(text) ? undefined : "Enter a full address, with https://."
    case "json":
      return parseJson(text) === undefined ? "Not valid JSON." : undefined
    case "text":
      if (field.minLength !== undefined && text.length < field.minLength)
        return `At least ${field.minLength} characters.`
      return field.maxLength !== undefined && text.length > field.maxLength
        ? `At most ${field.maxLength} characters.`
        : undefined
    case "date":
    case "datetime-local":
    case "select":
    case "multi-select":
    case "switch":
      return undefined
  }
}

function numberError({ isInteger, min, max }: FormField, value: number): string | undefined {
  if (!Number.isFinite(value)) return "Enter a number."
  if (isInteger && !Number.isInteger(value)) return "Enter a whole number."
  if (min !== undefined && value < min) return `At least ${min}.`
  return max !== undefined && value > max ? `At most ${max}.` : undefined
}

/** As the server wants it: numbers as numbers, what was left empty not at all. */
export function contentOf(fields: readonly FormField[], values: Readonly<Record<string, FormValue>>): Json {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = values[field.name] ?? field.initial
      if (typeof value !== "string") return [[field.name, value]]
      if (value.trim() === "") return []
      if (field.type === "number") return [[field.name, Number(value)]]
      if (field.type === "json") return [[field.name, JSON.parse(value)]]
      return [[field.name, field.type === "datetime-local" ? new Date(value).toISOString() : value]]
    }),
  )
}

/** A field of a form as it was filled in, to be read. */
interface AnsweredField {
  readonly name: string
  readonly label: string
  /** Undefined: it was left empty. */
  readonly value: string | undefined
}

/** The values that were sent, in the form's own words; those that the form does not know come last, as they are. Pure. */
export function answeredFields(request: Json, content: Json): readonly AnsweredField[] {
  const fields = fieldsOf(request["requested_schema"], request["property_order"])
  const known = new Set(fields.map(({ name }) => name))
  return [
    ...fields.map((field) => ({ name: field.name, label: field.label, value: valueWords(field, content[field.name]) })),
    ...Object.entries(content)
      .filter(([name]) => !known.has(name))
      .map(([name, value]) => ({ name, label: name, value: plainWords(value) })),
  ]
}

function valueWords({ options }: FormField, value: unknown): string | undefined {
  const labelOf = (one: unknown) => options.find((option) => option.value === one)?.label ?? plainWords(one) ?? ""
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(labelOf).join(", ")
  return options.length > 0 && value !== undefined ? labelOf(value) : plainWords(value)
}

function plainWords(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined
  if (typeof value === "boolean") return value ? "Yes" : "No"
  return typeof value === "string" ? value : JSON.stringify(value)
}
