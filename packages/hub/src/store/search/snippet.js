import { fold } from "./search-query.js"

/** @import { SearchTerm } from "./search-query.js" */

const CHARS_BEFORE = 60
const CHARS_AFTER = 140
/** No word that is looked for is longer; a longer run of letters is data. */
const MAX_WORD_CHARS = 200

/** @typedef {{ readonly from: number, readonly to: number }} Span */

/**
 * A piece of the text around the first word found, in one line, with the words found between « and ».
 * @param {string} text
 * @param {readonly SearchTerm[]} terms
 */
export function snippetOf(text, terms) {
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

/** @param {string} text @param {readonly SearchTerm[]} terms @param {number} from @returns {Span | undefined} */
function nextMatch(text, terms, from) {
  const words = /[\p{L}\p{N}\p{M}\p{Co}]+/gu
  words.lastIndex = from
  for (let match = words.exec(text); match !== null; match = words.exec(text)) {
    const [word] = match
    if (word.length <= MAX_WORD_CHARS && isWanted(fold(word), terms)) return { from: match.index, to: words.lastIndex }
  }
  return undefined
}

/** @param {string} word @param {readonly SearchTerm[]} terms */
function isWanted(word, terms) {
  return terms.some(({ words, isPrefix }) =>
    words.some((wanted, index) => (isPrefix && index === words.length - 1 ? word.startsWith(wanted) : word === wanted)),
  )
}

/**
 * Not in the middle of a character.
 * @param {string} text @param {number} at
 */
function startOfWindow(text, at) {
  return isLowSurrogate(text, at) ? at - 1 : at
}

/** @param {string} text @param {number} at */
function endOfWindow(text, at) {
  const end = Math.min(text.length, at)
  return isLowSurrogate(text, end) ? end + 1 : end
}

/** @param {string} text @param {number} at */
function isLowSurrogate(text, at) {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}
