const MAX_QUERY_CHARS = 1000
const MAX_TERMS = 32

/**
 * One word, or the words of a phrase in quotes. The last word of a query may be unfinished.
 * @typedef {{ readonly words: readonly string[], readonly isPrefix: boolean }} SearchTerm
 */

/**
 * Reads typed text as terms that must all be found. Nothing in it is an operator: punctuation separates words, as it
 * does in the index, and `"…"` keeps words together.
 * @param {string} query
 * @returns {readonly SearchTerm[]}
 */
export function parseQuery(query) {
  const text = query.slice(0, MAX_QUERY_CHARS)
  /** @type {SearchTerm[]} */
  const terms = []
  for (const match of text.matchAll(/"([^"]*)"?|([^\s"]+)/gu)) {
    const [whole, quoted, bare] = match
    const words = wordsOf(quoted ?? bare ?? "")
    const isLast = match.index + whole.length === text.length
    if (words.length > 0) terms.push({ words, isPrefix: isLast && quoted === undefined })
    if (terms.length === MAX_TERMS) break
  }
  return terms
}

/**
 * Letters and digits only, so the expression cannot be anything but the one meant.
 * @param {readonly SearchTerm[]} terms
 */
export function toMatchExpression(terms) {
  return terms.map(({ words, isPrefix }) => `"${words.join(" ")}"${isPrefix ? " *" : ""}`).join(" AND ")
}

/**
 * Whether the index would find the text, were it there.
 * @param {string} text
 * @param {readonly SearchTerm[]} terms
 */
export function isMatch(text, terms) {
  const found = wordsOf(text)
  return terms.every((term) => found.some((_, start) => isPhraseAt(found, start, term)))
}

/** @param {readonly string[]} found @param {number} start @param {SearchTerm} term */
function isPhraseAt(found, start, { words, isPrefix }) {
  return words.every((word, index) => {
    const other = found[start + index]
    return isPrefix && index === words.length - 1 ? other?.startsWith(word) === true : other === word
  })
}

/**
 * As the index sees them: without case and accents.
 * @param {string} text
 * @returns {readonly string[]}
 */
export function wordsOf(text) {
  return fold(text).match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
}

/** @param {string} text */
export function fold(text) {
  return text
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
}
