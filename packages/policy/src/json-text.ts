import { isObject } from "@signalbox/protocol"
import { MAX_TEXT_CHARS } from "./pattern.ts"
import type { Work } from "./work.ts"

const MAX_DEPTH = 256

/** The value as JSON, or undefined if that is longer or deeper than rules look at: then nothing of it is copied. */
export function jsonText(value: unknown, work: Work): string | undefined {
  return fits(value, work) ? JSON.stringify(value) : undefined
}

/** Counts at least what the text must have. Goes on only while it may fit, however much there is. */
function fits(value: unknown, work: Work): boolean {
  let chars = 0
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: each, depth } = next
    chars += 1 + (typeof each === "string" || Array.isArray(each) ? each.length : 0)
    if (chars > MAX_TEXT_CHARS || depth > MAX_DEPTH) return false
    if (Array.isArray(each)) for (const item of each) open.push({ value: item, depth: depth + 1 })
    else if (isObject(each)) {
      for (const name in each) {
        chars += 1 + name.length
        if (chars > MAX_TEXT_CHARS) return false
        open.push({ value: each[name], depth: depth + 1 })
      }
    }
  }
  work.spend(8 * chars)
  return true
}
