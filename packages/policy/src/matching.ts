import { hasUnseen as hasUnseenCharacter } from "@signalbox/protocol"

/**
 * One evaluation may do this much. A unit is about one character compared and takes at most some twenty billionths of a
 * second, also before the engine is warm, so that no request can hold up the program that asks. `npm run bench` measures it.
 */
const WORK_BUDGET = 2_500_000

/** Thrown by `spend` and caught by `evaluate`: the request takes more work than one evaluation may do. */
export class OverBudget extends Error {}

/** Counts what an evaluation does. Everything that looks at a request or compiles a pattern spends. */
export class Work {
  readonly #budget: number
  #spent = 0

  constructor(budget = WORK_BUDGET) {
    this.#budget = budget
  }

  get spent(): number {
    return this.#spent
  }

  spend(units: number): void {
    this.#spent += units
    if (this.#spent > this.#budget) throw new OverBudget("the request takes too much work to check")
  }
}

/**
 * Patterns in which a star stands for any text, also none. Matching walks the text once: what stands between two stars is
 * taken where it is found first, because a later place leaves less text for the rest.
 */

// Private characters cannot be mistaken for text: text from outside has them taken out before it is compared.
/** In a pattern: any text. */
export const ANY = "\uE000"
/** In a command: something that only the shell will know. */
export const UNKNOWN = "\uE002"

/** The literal pieces of a pattern, with a star between each two. One piece alone is the whole text. */
export interface Glob {
  readonly first: string
  readonly middle: readonly Needle[]
  /** Undefined if the pattern has no star. */
  readonly last: string | undefined
}

/** A piece and where its search goes on after a mismatch (Knuth, Morris and Pratt): never back in the text. */
interface Needle {
  readonly text: string
  readonly fallback: Uint16Array
}

/** Units of work to look at a rule, a pattern, a part of a command or an item of a list. */
export const LOOK = 8
/** An attempt costs this much even if the first character differs. */
const ATTEMPT = 16

/** From text in which ANY is a star. */
export function globOf(pattern: string): Glob {
  const pieces = pattern.split(new RegExp(`${ANY}+`))
  const [first = "", ...rest] = pieces
  return { first, middle: rest.slice(0, -1).map(needleOf), last: rest.at(-1) }
}

/** `\*` is a star, `\\` a backslash; every other character stands for itself. */
export function textGlob(source: string): Glob {
  return globOf(source.replace(/\\([\\*])|\*+/g, (_, escaped: string | undefined) => escaped ?? ANY))
}

/** Whether the text from there on is what the pattern says. */
export function globMatches(glob: Glob, text: string, work: Work, from = 0): boolean {
  return startMatches(glob, text, work, from) && restMatches(glob, text, work, from)
}

/**
 * Whether one of the places is where such a text begins. Of the places that begin right only the first is tried further:
 * the text behind a later one is the end of the text behind it.
 */
export function globMatchesAt(glob: Glob, text: string, places: readonly number[], work: Work): boolean {
  const code = glob.first === "" ? undefined : glob.first.charCodeAt(0)
  work.spend(ATTEMPT + 2 * places.length)
  for (const place of places) {
    if (code !== undefined && text.charCodeAt(place) !== code) continue
    if (startMatches(glob, text, work, place)) return restMatches(glob, text, work, place)
  }
  return false
}

/** A text in which UNKNOWN stands for what only the shell will know, never two of them in a row. */
interface UnclearText {
  readonly text: string
  /** Indices in `text`: its beginning, and the first and the last UNKNOWN behind it. */
  readonly from: number
  readonly firstUnknown: number
  readonly lastUnknown: number
}

/** Whether the text could be what the pattern says if each UNKNOWN in it turned out to be the right thing. */
export function globCouldMatch({ first, last }: Glob, unclear: UnclearText, work: Work): boolean {
  const { text, from, firstUnknown, lastUnknown } = unclear
  work.spend(ATTEMPT)
  if (last === undefined) {
    // At least every second character is known, so that a longer text cannot be it.
    if (text.length - from > 2 * first.length + 1) return false
    work.spend(text.length - from + first.length)
    return globMatches(globOf(text.slice(from).replaceAll(UNKNOWN, ANY)), first, work)
  }
  // Pattern and text can both be anything in between, so that only their ends can disagree.
  const start = Math.min(firstUnknown - from, first.length)
  const end = Math.min(text.length - lastUnknown - 1, last.length)
  const agrees = text.startsWith(first.slice(0, start), from) && text.endsWith(last.slice(last.length - end))
  work.spend(start + end)
  return agrees
}

function startMatches({ first, last }: Glob, text: string, work: Work, from: number): boolean {
  let same = 0
  const isPossible = last !== undefined || text.length - from === first.length
  const length = isPossible ? first.length : 0
  while (same < length && text.charCodeAt(from + same) === first.charCodeAt(same)) same++
  work.spend(ATTEMPT + same)
  return isPossible && same === first.length
}

function restMatches({ first, middle, last }: Glob, text: string, work: Work, from: number): boolean {
  if (last === undefined) return true
  let at = from + first.length
  const end = text.length - last.length
  work.spend(last.length)
  if (at > end || !text.endsWith(last)) return false
  for (const needle of middle) {
    at = endOfFirst(needle, text, { from: at, to: end }, work)
    if (at === -1) return false
  }
  return true
}

/** The end of the first occurrence, or -1. */
function endOfFirst(needle: Needle, text: string, { from, to }: { from: number; to: number }, work: Work): number {
  const { text: wanted, fallback } = needle
  let matched = 0
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    while (matched > 0 && wanted.charCodeAt(matched) !== code) matched = fallback[matched - 1] ?? 0
    if (wanted.charCodeAt(matched) === code) matched++
    if (matched === wanted.length) {
      work.spend(at + 1 - from)
      return at + 1
    }
  }
  work.spend(Math.max(0, to - from))
  return -1
}

function needleOf(text: string): Needle {
  const fallback = new Uint16Array(text.length)
  for (let at = 1, matched = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== text[matched]) matched = fallback[matched - 1] ?? 0
    if (text[at] === text[matched]) matched++
    fallback[at] = matched
  }
  return { text, fallback }
}

/** A rule's say on a request. `maybe`: it cannot be told, so nothing may be allowed on the strength of it. */
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
