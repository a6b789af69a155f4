import { readFileSync } from "node:fs"
import { isObject } from "@signalbox/protocol/envelope"

type Fields = Readonly<Record<string, unknown>>

/** The texts of a list; none where there is no list. */
export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : []
}

/** The objects of a list; none where there is no list. */
export function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A field that is a number, or undefined. */
export function numberIn(value: unknown, name: string): number | undefined {
  const field = isObject(value) ? value[name] : undefined
  return typeof field === "number" ? field : undefined
}

/** The text of a file; undefined where there is none. */
export function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

/** Keeps an entry, and forgets the oldest of too many. */
export function remember<Key, Value>(entries: Map<Key, Value>, key: Key, value: Value, most: number): void {
  const [oldest] = entries.keys()
  if (entries.size >= most && oldest !== undefined) entries.delete(oldest)
  entries.set(key, value)
}

/** The host that a URL names; a text that is no URL stands for itself. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url
}
