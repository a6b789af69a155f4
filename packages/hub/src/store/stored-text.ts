import type { SqlValue } from "./database.ts"

/** SQLite's text ends at a NUL for the driver; a line with one is kept as bytes. */
export function toStoredText(text: string): SqlValue {
  return text.includes("\0") ? Buffer.from(text) : text
}

export function fromStoredText(value: SqlValue | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : String(value ?? "")
}
