import { fold, type SearchTerm } from "./search-query.ts"

const CHARS_BEFORE = 60
const CHARS_AFTER = 140
/** No word that is looked for is longer; a longer run of letters is data. */
const MAX_WORD_CHARS = 200

interface Span {
  readonly from: number
  readonly to: number
}

/** A piece of the text around the first word found, in one line, with the words found between « and ». */
export function snippetOf(text: string, terms: readonly SearchTerm[]): string {
  const first = nextMatch(text, terms, 0)
  const start = first === undefined ? 0 : startOfWindow(text, Math.max(0, first.from - CHARS_BEFORE))
  const end = endOfWindow(text, Math.max(first?.to ?? 0, (first?.from ?? 0) + CHARS_AFTER))
  let snippet = start > 0 ? "…" : ""
  let at = start
  for (let span = first; span !== undefined && span.to <= end; span = nextMatch(text, terms, span.to)) {
    snippet += `${text.slice(at, span.from)}«${text.slice(span.from, span.to)}»`
    at = span.to
  }
  snippet += text.slice(at, end) + (end < text.length ? "…" : "")
  return snippet.replace(/\s+/gu, " ").trim()
}

function nextMatch(text: string, terms: readonly SearchTerm[], from: number): Span | undefined {
  const words = /[\p{L}\p{N}\p{M}\p{Co}]+/gu
  words.lastIndex = from
  for (let match = words.exec(text); match !== null; match = words.exec(text)) {
    const [word] = match
    if (word.length <= MAX_WORD_CHARS && isWanted(fold(word), terms)) return { from: match.index, to: words.lastIndex }
  }
  return undefined
}

function isWanted(word: string, terms: readonly SearchTerm[]): boolean {
  return terms.some(({ words, isPrefix }) =>
    words.some((wanted, index) => (isPrefix && index === words.length - 1 ? word.startsWith(wanted) : word === wanted)),
  )
}

/** Not in the middle of a character. */
function startOfWindow(text: string, at: number): number {
  return isLowSurrogate(text, at) ? at - 1 : at
}

function endOfWindow(text: string, at: number): number {
  const end = Math.min(text.length, at)
  return isLowSurrogate(text, end) ? end + 1 : end
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}
