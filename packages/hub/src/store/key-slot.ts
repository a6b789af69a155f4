/**
 * Two multiplicative hashes of 32 bits, mixed into 53, so that slots travel as plain numbers. Neither secret nor unique: who
 * finds a slot taken compares the keys themselves.
 */
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
