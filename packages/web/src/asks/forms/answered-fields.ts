import { type FormField, fieldsOf } from "./elicitation-fields.ts"

/** A field of a form as it was filled in, to be read. */
export interface AnsweredField {
  readonly name: string
  readonly label: string
  /** Undefined: it was left empty. */
  readonly value: string | undefined
}

type Json = Readonly<Record<string, unknown>>

/** What was sent for each field of the form, in the form's own words; what the form does not know comes last, as it is. Pure. */
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
