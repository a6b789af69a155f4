import { counted } from "@signalbox/protocol"

const SINGULAR: Readonly<Record<string, string>> = {
  sessions: "session",
  events: "event",
  asks: "request",
  messages: "message",
  tokens: "token",
  audit: "audit record",
}

/** Rows of the hub's tables, in the words that people know them by: `3 sessions`. */
export function rowWords(table: string, rows: number): string {
  return counted(rows, SINGULAR[table] ?? `row of ${table}`, ...(table in SINGULAR ? [] : [`rows of ${table}`]))
}
