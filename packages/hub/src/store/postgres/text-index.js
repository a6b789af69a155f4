import { isMatch, parseQuery, wordsOf } from "../search/search-query.js"
import { SEARCH_FIELDS, searchableText } from "../search/searchable-text.js"
import { snippetOf } from "../search/snippet.js"
import { findTitles } from "./found-titles.js"
import { LogsBehind } from "./logs-behind.js"

/**
 * @import { SearchHit, SearchReply } from "@signalbox/protocol/hub-api"
 * @import { SearchQuery } from "../../core.ts"
 * @import { SearchTerm } from "../search/search-query.js"
 * @import { PostgresReader, Value } from "./reader.js"
 */

const MAX_HITS = 200
/** The index knows the beginning of longer words: a run of letters that long is data. */
const MAX_WORD_CHARS = 200
/** The bytes of all words of one field: a tsvector takes 1 MB. */
const MAX_WORDS_BYTES = 1_000_000
/** Rows of the index that are looked at for one search. */
const MAX_LOOKED_AT = 20_000
/** Rows of the index that are read at once: as many as are wanted, within these bounds. */
const LOOK_PAGE = { least: 20, most: 500 }
/** Lines that are read at once for their snippets. A longer one comes alone. */
const READ_ROWS = 100
const READ_BYTES = 4 * 1024 * 1024
/** Rows that one step forgets. */
const FORGET_ROWS = 500

const LINES = `SELECT events.log, events.seq, events.id, events.at, events.line
  FROM unnest($1::int[], $2::int[], $3::int[]) AS part (log, after, up_to)
  JOIN events ON events.log = part.log AND events.seq > part.after AND events.seq <= part.up_to`
const ADD = `
  WITH added AS (
    INSERT INTO search_text (event, field, log, seq, at, words)
    SELECT event, field, log, seq, at, words::tsvector
      FROM unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::bigint[], $6::text[])
      AS new (event, field, log, seq, at, words)
    ON CONFLICT DO NOTHING
  )
  INSERT INTO search_logs (log, indexed_to) SELECT log, up_to FROM unnest($7::int[], $8::int[]) AS part (log, up_to)
  ON CONFLICT (log) DO UPDATE SET indexed_to = greatest(search_logs.indexed_to, excluded.indexed_to)`

/** @typedef {{ event: number, field: number, seq: number, at: number, name: string, bytes: number, log: number }} Place */

/** The full-text index of the logs in a PostgreSQL database, in tables beside them. It holds no text: what it shows is taken from the events. */
export class PostgresTextIndex {
  #reader
  #behind

  /** @param {PostgresReader} reader */
  constructor(reader) {
    this.#reader = reader
    this.#behind = new LogsBehind(reader)
  }

  /** @param {readonly number[]} logs */
  note(logs) {
    this.#behind.note(logs)
  }

  isIdle() {
    return this.#behind.isNone
  }

  goal() {
    this.#behind.lookAtAll()
    return () => this.#behind.isNone
  }

  /** Indexes some more. How far it came is kept in the same transaction. False when there was nothing to do. */
  async step() {
    const parts = await this.#behind.next()
    if (parts.length === 0) return false
    const columns = [parts.map(({ log }) => log), parts.map(({ after }) => after), parts.map(({ upTo }) => upTo)]
    const rows = (await this.#reader.rows(LINES, columns)).flatMap(([log, seq, id, at, line]) =>
      rowsOf(String(line)).map(({ field, words }) => ({ place: [id, field, log, seq, at].map(Number), words })),
    )
    const places = [0, 1, 2, 3, 4].map((column) => rows.map(({ place }) => place[column] ?? 0))
    await this.#reader.run(ADD, [...places, rows.map(({ words }) => words), columns[0] ?? [], columns[2] ?? []])
    this.#behind.take(parts)
    return true
  }

  /** @param {SearchQuery} query @returns {Promise<SearchReply>} */
  async search(query) {
    const terms = parseQuery(query.q)
    const most = Math.min(query.limit, MAX_HITS)
    const progress = await this.#behind.progress()
    if (terms.length === 0 || !(most > 0)) return { hits: [], more: false, ...progress }
    const titles = await findTitles(this.#reader, terms, query, most + 1)
    const events = await this.#findEvents(terms, query, most + 1 - titles.length)
    const hits = [...titles, ...events.hits]
    return { hits: hits.slice(0, most), more: hits.length > most || !events.isWhole, ...progress }
  }

  /** Forgets some rows of a log that was purged, by its number. False: nothing of it is left. @param {number} log */
  async forgetSome(log) {
    const some = "SELECT event, field FROM search_text WHERE log = $1 LIMIT $2"
    const gone = await this.#reader.run(`DELETE FROM search_text WHERE (event, field) IN (${some})`, [log, FORGET_ROWS])
    if (gone === FORGET_ROWS) return true
    this.#behind.forget(log)
    await this.#reader.run("DELETE FROM search_logs WHERE log = $1", [log])
    return false
  }

  close() {
    this.#reader.close()
  }

  /**
   * @param {readonly SearchTerm[]} terms
   * @param {SearchQuery} query
   * @param {number} limit
   * @returns {Promise<{ readonly hits: readonly SearchHit[], readonly isWhole: boolean }>} not whole: it was too much to look at
   */
  async #findEvents(terms, query, limit) {
    /** @type {SearchHit[]} */
    const hits = []
    if (limit <= 0) return { hits, isWhole: true }
    /** @type {Pick<Place, "event" | "field">} */
    let before = { event: Number.MAX_SAFE_INTEGER, field: 0 }
    const size = Math.min(LOOK_PAGE.most, Math.max(LOOK_PAGE.least, limit))
    for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT; lookedAt += size) {
      const page = await this.#placesBefore({ ...before, size }, terms, query)
      for (const places of inPieces(page)) {
        hits.push(...(await this.#toHits(places, terms)))
        if (hits.length >= limit) return { hits: hits.slice(0, limit), isWhole: true }
      }
      const last = page.at(-1)
      if (page.length < size || last === undefined) return { hits, isWhole: true }
      before = last
    }
    return { hits, isWhole: false }
  }

  /**
   * Rows of the index that have all words, newest first.
   * @param {Pick<Place, "event" | "field"> & { size: number }} before
   * @param {readonly SearchTerm[]} terms
   * @param {SearchQuery} query
   * @returns {Promise<readonly Place[]>}
   */
  async #placesBefore(before, terms, { session, runner, fields, from, to }) {
    /** @type {Value[]} */
    const values = [toTsquery(terms), before.event, before.field]
    const conditions = ["found.words @@ $1::tsquery", "(found.event, found.field) < ($2::bigint, $3::int)"]
    /** @param {string} condition @param {Value | undefined} value */
    const only = (condition, value) => {
      if (value !== undefined) conditions.push(condition.replace("?", `$${values.push(value)}`))
    }
    only("found.log = (SELECT number FROM logs WHERE name = ?)", session)
    only("EXISTS (SELECT 1 FROM sessions WHERE sessions.id = logs.name AND sessions.runner = ?)", runner)
    only("found.field = ANY (?::int[])", fields && placesOf(fields))
    only("found.at >= ?::bigint", from && Date.parse(from))
    only("found.at < ?::bigint", to && Date.parse(to))
    // A purged log has no name.
    const rows = await this.#reader.rows(
      `SELECT found.event, found.field, found.log, found.seq, found.at, logs.name, events.bytes FROM search_text AS found
       JOIN logs ON logs.number = found.log AND logs.name IS NOT NULL
       JOIN events ON events.log = found.log AND events.seq = found.seq
       WHERE ${conditions.join(" AND ")} ORDER BY found.event DESC, found.field DESC LIMIT ${before.size}`,
      values,
    )
    return rows.map(([event, field, log, seq, at, name, bytes]) => ({
      event: Number(event),
      field: Number(field),
      log: Number(log),
      seq: Number(seq),
      at: Number(at),
      name: String(name),
      bytes: Number(bytes),
    }))
  }

  /** Those that have the words as they were meant: the index knows neither phrases nor the end of long words. @param {readonly Place[]} places @param {readonly SearchTerm[]} terms @returns {Promise<readonly SearchHit[]>} */
  async #toHits(places, terms) {
    const rows = await this.#reader.rows(
      "SELECT log, seq, line FROM events JOIN unnest($1::int[], $2::int[]) AS wanted (log, seq) USING (log, seq)",
      [places.map(({ log }) => log), places.map(({ seq }) => seq)],
    )
    const lines = new Map(rows.map(([log, seq, line]) => [`${Number(log)} ${Number(seq)}`, String(line)]))
    const mustCompare = terms.some(
      ({ words }) => words.length > 1 || words.some((word) => word.length > MAX_WORD_CHARS),
    )
    return places.flatMap(({ log, seq, at, name, field: number }) => {
      const line = lines.get(`${log} ${seq}`)
      const field = SEARCH_FIELDS[number] ?? "text"
      const text = line === undefined ? undefined : searchableText(line)[field]
      // Purged meanwhile.
      if (text === undefined || (mustCompare && !isMatch(text, terms))) return []
      return [{ session: name, seq, at: new Date(at).toISOString(), field, snippet: snippetOf(text, terms) }]
    })
  }
}

/** @param {readonly string[]} fields */
function placesOf(fields) {
  return SEARCH_FIELDS.flatMap((field, place) => (fields.includes(field) ? [place] : []))
}

/**
 * The words of each field, as a tsvector is written. The same event twice in a row of the index does no harm.
 * @param {string} line
 */
function rowsOf(line) {
  const texts = searchableText(line)
  return SEARCH_FIELDS.flatMap((name, field) => {
    const words = toTsvector(texts[name] ?? "")
    return words === "" ? [] : [{ field, words }]
  })
}

/** Letters and digits only, so that a quote is never part of a word. @param {string} text */
function toTsvector(text) {
  /** @type {Set<string>} */
  const words = new Set()
  let bytes = 0
  for (const whole of wordsOf(text)) {
    const word = cut(whole)
    if (words.has(word)) continue
    bytes += Buffer.byteLength(word)
    if (bytes > MAX_WORDS_BYTES) break
    words.add(word)
  }
  return [...words].map((word) => `'${word}'`).join(" ")
}

/** All words, in any order. @param {readonly SearchTerm[]} terms */
function toTsquery(terms) {
  return terms
    .flatMap(({ words, isPrefix }) =>
      words.map((word, at) => `'${cut(word)}'${isPrefix && at === words.length - 1 ? ":*" : ""}`),
    )
    .join(" & ")
}

/** Never in the middle of a character. @param {string} word */
function cut(word) {
  if (word.length <= MAX_WORD_CHARS) return word
  const isInside = /[\uD800-\uDBFF]/.test(word.charAt(MAX_WORD_CHARS - 1))
  return word.slice(0, isInside ? MAX_WORD_CHARS - 1 : MAX_WORD_CHARS)
}

/** Some at a time, so that long lines are not all in memory at once. @param {readonly Place[]} places */
function* inPieces(places) {
  /** @type {Place[]} */
  let piece = []
  let bytes = 0
  for (const place of places) {
    if (piece.length > 0 && (piece.length >= READ_ROWS || bytes + place.bytes > READ_BYTES)) {
      yield piece
      piece = []
      bytes = 0
    }
    piece.push(place)
    bytes += place.bytes
  }
  if (piece.length > 0) yield piece
}
