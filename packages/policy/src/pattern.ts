/**
 * Patterns in which `*` stands for any text, also none. Matching walks the text once, with as many places in the pattern
 * as its stars leave open: no text can make it slow, as it could a regular expression.
 */

// Private characters, so that they cannot be mistaken for text: whoever compares text that came from outside keeps
// these out of it first.
/** In a pattern: any text. */
export const ANY = "\uE000"
/** In a command: a blank that is part of a word, which a blank between words in a pattern does not match. */
export const GAP = "\uE001"
/** In a command: something that only the shell will know. */
export const UNKNOWN = "\uE002"

/** What a rule says of a request. `maybe`: it cannot be told, so nothing may be allowed on the strength of it. */
export type Match = "yes" | "maybe" | "no"

/** Longer text is not looked at: an allow does not cover it, and a deny makes it a question. */
export const MAX_TEXT_CHARS = 65_536

export const MAX_PATTERN_CHARS = 1024
/** Matching takes its time for each star that is open. */
export const MAX_PATTERN_STARS = 32

export function hasTooManyStars(source: string): boolean {
  return source.split("*").length > MAX_PATTERN_STARS + 1
}

/** `\*` is a star, `\\` a backslash; every other character stands for itself. */
export function textPattern(source: string): string {
  return source.replace(/\\([\\*])|\*+/g, (_, escaped: string | undefined) => escaped ?? ANY)
}

/** With `possible`, UNKNOWN in the text may turn out to be anything; otherwise only ANY covers it. */
export function accepts(pattern: string, text: string, possible = false): boolean {
  let places = passStars(pattern, [0])
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index)
    places = possible && char === UNKNOWN ? everyPlaceFrom(places[0] ?? 0, pattern) : step(pattern, places, char)
    if (places.length === 0) return false
  }
  return places.at(-1) === pattern.length
}

/** Ascending, without repeats: `from` is, and each place leads to itself or the next one. */
function step(pattern: string, from: readonly number[], char: string): number[] {
  const next: number[] = []
  for (const place of from) {
    if (pattern[place] === ANY) add(next, place)
    else if (pattern[place] === char) add(next, place + 1)
  }
  return passStars(pattern, next)
}

function passStars(pattern: string, places: readonly number[]): number[] {
  const reached: number[] = []
  for (const place of places) {
    let at = place
    add(reached, at)
    while (pattern[at] === ANY) add(reached, ++at)
  }
  return reached
}

function add(places: number[], place: number): void {
  if ((places.at(-1) ?? -1) < place) places.push(place)
}

function everyPlaceFrom(first: number, pattern: string): number[] {
  return Array.from({ length: pattern.length - first + 1 }, (_, index) => first + index)
}

/** Characters that look like nothing or like a blank, or that no font shows: what a person reads is not what is there. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u

export function hasUnseen(text: string): boolean {
  return UNSEEN.test(text)
}

const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\]*)(.*)$/is

/**
 * A star in the host part of an address does not reach into the path, or `https://*.example.com/` would cover
 * `https://elsewhere.net/x.example.com/`. Hosts have no case.
 */
export function urlMatches(pattern: string, url: string): boolean {
  const wanted = URL_PARTS.exec(pattern)
  const given = URL_PARTS.exec(url)
  if (wanted === null || given === null || hasUnseen(url)) return false
  const [, scheme = "", host = "", rest = ""] = wanted
  const [, givenScheme = "", givenHost = "", givenRest = ""] = given
  // A name and password before the host, or a backslash that some read as a slash: nobody writes these in earnest.
  if (/[@%\s]/.test(givenHost) || givenRest.includes("\\")) return false
  return (
    accepts(textPattern(scheme.toLowerCase()), givenScheme.toLowerCase()) &&
    accepts(textPattern(host.toLowerCase()), givenHost.toLowerCase()) &&
    accepts(textPattern(rest), givenRest)
  )
}
