import type { Database } from "./database.ts"

/** Slots are safe integers, so that they travel as plain numbers. */
const SLOTS = 2 ** 53

/** `seq` of the event that has the key; without it the session has none, and `slot` is free for it. */
export interface KeyPlace {
  readonly slot: number
  readonly seq?: number
}

/** A key stands in the slot of its hash, or in the next free one after it: nothing is ever taken out. */
export function placeOfKey(database: Database, session: number, key: string): KeyPlace {
  const stored = storedKey(key)
  for (let slot = keySlot(key); ; slot = (slot + 1) % SLOTS) {
    const row = database.get("SELECT key, seq FROM events WHERE session = ? AND key_slot = ?", [session, slot])
    if (row === undefined) return { slot }
    if (row[0] === stored) return { slot, seq: Number(row[1]) }
  }
}

/** Two multiplicative hashes of 32 bits, mixed into 53. Neither secret nor unique: see `placeOfKey`. */
export function keySlot(key: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < key.length; index++) {
    const unit = key.charCodeAt(index)
    high = Math.imul(high ^ unit, 0x9e3779b1)
    low = Math.imul(low ^ unit, 0x5f356495)
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0)
}

const ESCAPED = "\u0001"

/** SQLite's text ends at a NUL for the driver, so a key with one is written out as JSON behind a mark. */
export function storedKey(key: string): string {
  return key.includes("\0") || key.startsWith(ESCAPED) ? ESCAPED + JSON.stringify(key) : key
}

export function fromStoredKey(stored: string): string {
  return stored.startsWith(ESCAPED) ? String(JSON.parse(stored.slice(ESCAPED.length))) : stored
}
