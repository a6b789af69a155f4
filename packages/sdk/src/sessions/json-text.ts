/** A JSON object, or undefined for anything else: a transcript may hold cut and foreign lines, and they are passed over. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function stringIn(object: Readonly<Record<string, unknown>> | undefined, key: string): string | undefined {
  const value = object?.[key]
  return typeof value === "string" ? value : undefined
}

export function objectIn(object: Readonly<Record<string, unknown>> | undefined, key: string) {
  const value = object?.[key]
  return isObject(value) ? value : undefined
}
