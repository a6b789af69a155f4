const MAX_QUERY_CHARS = 1000
const MAX_TERMS = 32

/** One word, or the words of a phrase in quotes. The last word of a query may be unfinished. */
export interface SearchTerm {
  readonly words: readonly string[]
  readonly isPrefix: boolean
}

/**
 * What somebody typed, as terms that must all be found. Nothing in it is an operator: punctuation separates words, as it
 * does in the index, and `"…"` keeps words together.
 */
export function parseQuery(query: string): readonly SearchTerm[] {
  const text = query.slice(0, MAX_QUERY_CHARS)
  const terms: SearchTerm[] = []
  for (const match of text.matchAll(/"([^"]*)"?|([^\s"]+)/gu)) {
    const [whole, quoted, bare] = match
    const words = wordsOf(quoted ?? bare ?? "")
    const isLast = match.index + whole.length === text.length
    if (words.length > 0) terms.push({ words, isPrefix: isLast && quoted === undefined })
    if (terms.length === MAX_TERMS) break
  }
  return terms
}

/** Letters and digits only, so the expression cannot be anything but the one meant. */
export function toMatchExpression(terms: readonly SearchTerm[]): string {
  return terms.map(({ words, isPrefix }) => `"${words.join(" ")}"${isPrefix ? " *" : ""}`).join(" AND ")
}

/** As the index sees them: without case and accents. */
function wordsOf(text: string): readonly string[] {
  return fold(text).match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
}

export function fold(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
}
