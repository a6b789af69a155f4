import { type Glob, globMatches, hasUnseen, MAX_TEXT_CHARS, type Match, textGlob, type Work } from "./matching.ts"

/** Units of work to take an address apart, however short it is. */
const ADDRESS = 128
const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\]*)(.*)$/is

/**
 * A pattern for addresses. A star in the host does not reach into the path, or `https://*.example.com/` would cover
 * `https://elsewhere.net/x.example.com/`. Hosts have no case.
 */
export interface UrlPattern {
  readonly scheme: Glob
  readonly host: Glob
  readonly rest: Glob
}

/** An address, taken apart once for all rules. */
export interface UrlForms {
  readonly scheme: string
  readonly host: string
  readonly rest: string
  /** A name before the host, an escaped one, a backslash: nobody writes these in earnest, and programs read them otherwise. */
  readonly isOdd: boolean
}

/** Undefined if the source is none. */
export function urlPattern(source: string): UrlPattern | undefined {
  const parts = URL_PARTS.exec(source)
  if (parts === null) return undefined
  const [, scheme = "", host = "", rest = ""] = parts
  return { scheme: textGlob(scheme.toLowerCase()), host: textGlob(host.toLowerCase()), rest: textGlob(rest) }
}

/** Undefined if the text is none. */
export function urlForms(text: string, work: Work): UrlForms | undefined {
  work.spend(ADDRESS + Math.min(text.length, MAX_TEXT_CHARS))
  const parts = text.length > MAX_TEXT_CHARS ? null : URL_PARTS.exec(text.trim())
  if (parts === null) return undefined
  const [, scheme = "", host = "", rest = ""] = parts
  const isOdd = /[@%\s]/.test(host) || rest.includes("\\") || text !== text.trim() || hasUnseen(text)
  return { scheme: scheme.toLowerCase(), host: host.toLowerCase(), rest, isOdd }
}

/** For an allow. */
export function urlIsCovered(pattern: UrlPattern, url: UrlForms, work: Work): boolean {
  return !url.isOdd && partsMatch(pattern, url, work)
}

/** For a deny or an ask: also with a port, a dot behind the host, or nothing behind it. */
export function urlIsTouched(pattern: UrlPattern, url: UrlForms, work: Work): Match {
  const host = url.host.replace(/\.?(?::\d*)?$/, "")
  const rest = url.rest.startsWith("/") ? url.rest : `/${url.rest}`
  if (partsMatch(pattern, url, work) || partsMatch(pattern, { ...url, host, rest }, work)) return "yes"
  return url.isOdd ? "maybe" : "no"
}

function partsMatch(pattern: UrlPattern, { scheme, host, rest }: UrlForms, work: Work): boolean {
  return (
    globMatches(pattern.scheme, scheme, work) &&
    globMatches(pattern.host, host, work) &&
    globMatches(pattern.rest, rest, work)
  )
}
