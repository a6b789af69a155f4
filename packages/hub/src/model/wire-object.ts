import { type Envelope, isObject } from "@signalbox/protocol"

/** A kept line as the object it is. Undefined for what is no message, which the log does not hold. */
export function wireObject(line: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) && typeof value["type"] === "string" ? { ...value, type: value["type"] } : undefined
  } catch {
    return undefined
  }
}
