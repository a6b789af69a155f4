/** The least that every message has. What else is in it is whatever the peer sent: nothing may be taken for granted. */
export interface Envelope {
  readonly type: string
  readonly [field: string]: unknown
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function isEnvelope(value: Readonly<Record<string, unknown>>): value is Envelope {
  return typeof value["type"] === "string"
}

/** A field that is an object, or undefined. */
export function fieldOf(value: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(value)) return undefined
  const field = value[name]
  return isObject(field) ? field : undefined
}

/** A field that is a string, or undefined. */
export function textOf(value: unknown, name: string): string | undefined {
  if (!isObject(value)) return undefined
  const field = value[name]
  return typeof field === "string" ? field : undefined
}
