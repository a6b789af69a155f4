const ESCAPED = "\u0001"
/** In Unicode mode a surrogate matches only if it stands alone. */
const NOT_STORABLE = /[\0\p{Surrogate}]/u

/**
 * PostgreSQL's text takes neither NUL nor lone surrogates: text with one is written out as JSON behind a mark. Every text goes through here.
 * @param {string} text
 */
export function toStored(text) {
  return text.startsWith(ESCAPED) || NOT_STORABLE.test(text) ? ESCAPED + JSON.stringify(text) : text
}

/** @param {string} stored */
export function fromStored(stored) {
  return stored.startsWith(ESCAPED) ? String(JSON.parse(stored.slice(ESCAPED.length))) : stored
}
