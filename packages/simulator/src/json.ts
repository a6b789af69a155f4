import { readFileSync } from "node:fs"
import { isObject } from "@signalbox/protocol/envelope"

/** A value of JSON; undefined for a text that is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text)
  return isObject(value) ? { ...value } : undefined
}

/** The text of a file; undefined where there is none. */
export function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
