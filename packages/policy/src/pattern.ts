import { hasUnseen as hasUnseenCharacter } from "@signalbox/protocol"
import { type Glob, globMatches } from "./glob.ts"
import type { Work } from "./work.ts"

/** What a rule says of a request. `maybe`: it cannot be told, so nothing may be allowed on the strength of it. */
export type Match = "yes" | "maybe" | "no"

/** Longer text is not looked at: an allow does not cover it, and a deny makes it a question. */
export const MAX_TEXT_CHARS = 65_536
export const MAX_PATTERN_CHARS = 1024
export const MAX_PATTERN_STARS = 32

export function hasTooManyStars(source: string): boolean {
  return source.split("*").length > MAX_PATTERN_STARS + 1
}

/** Tabs and line ends too: in a path, an address or one word of a command nobody means them. */
export function hasUnseen(text: string): boolean {
  return /[\t\n]/.test(text) || hasUnseenCharacter(text)
}

/** In an allow a "maybe" is a no like any other. */
export function textMatches(pattern: Glob, text: string, work: Work): Match {
  if (text.length > MAX_TEXT_CHARS) return "maybe"
  return globMatches(pattern, text, work) ? "yes" : "no"
}

export function least(matches: readonly Match[]): Match {
  if (matches.includes("no")) return "no"
  return matches.includes("maybe") ? "maybe" : "yes"
}

/** Stops at the first that fits: the rest could not change it. */
export function most<T>(items: readonly T[], match: (item: T) => Match): Match {
  let found: Match = "no"
  for (const item of items) {
    const each = match(item)
    if (each === "yes") return each
    if (each === "maybe") found = each
  }
  return found
}
