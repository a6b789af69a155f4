import { z } from "zod"

/**
 * The fields of a value that its schema does not declare, as paths such as `message.usage.new_count`. Our schemas let
 * unknown fields through; this is how a drift report finds them.
 */
export function undeclaredFields(schema: z.ZodType, value: unknown, path = ""): string[] {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodUnion) {
    const options = inner.options.filter((option): option is z.ZodType => option instanceof z.ZodType)
    // The member that explains most of the value is the one that was meant.
    const explained = options
      .filter((option) => option.safeParse(value).success)
      .map((option) => undeclaredFields(option, value, path))
    return explained.toSorted((a, b) => a.length - b.length)[0] ?? []
  }
  if (inner instanceof z.ZodArray && Array.isArray(value) && inner.element instanceof z.ZodType) {
    const { element } = inner
    return value.flatMap((item) => undeclaredFields(element, item, `${path}[]`))
  }
  if (typeof value !== "object" || value === null) return []
  if (inner instanceof z.ZodRecord && inner.valueType instanceof z.ZodType) {
    const { valueType } = inner
    return Object.values(value).flatMap((item) => undeclaredFields(valueType, item, `${path}{}`))
  }
  return inner instanceof z.ZodObject ? ofObject(inner, value, path) : []
}

function ofObject(schema: z.ZodObject, value: object, path: string): string[] {
  const shape: Record<string, unknown> = schema.shape
  return Object.entries(value).flatMap(([name, field]) => {
    const at = path === "" ? name : `${path}.${name}`
    const declared = Object.hasOwn(shape, name) ? shape[name] : undefined
    return declared instanceof z.ZodType ? undeclaredFields(declared, field, at) : [at]
  })
}

function unwrap(schema: z.ZodType): z.ZodType {
  let inner: unknown = schema
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodLazy) {
    inner = inner instanceof z.ZodLazy ? inner.unwrap() : inner.unwrap()
  }
  return inner instanceof z.ZodType ? inner : schema
}
