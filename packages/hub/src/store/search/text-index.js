import { describeEvent, isBroken, openIndex, openLog } from "./index-file.js"
import { filterOf } from "./search-filter.js"
import { isMatch, parseQuery, toMatchExpression } from "./search-query.js"
import { SEARCH_FIELDS, searchableText } from "./searchable-text.js"
import { snippetOf } from "./snippet.js"

/**
 * @import { SearchHit, SearchReply } from "@signalbox/protocol/hub-api"
 * @import { SearchQuery } from "../../core.ts"
 * @import { SearchFilter } from "./search-filter.js"
 * @import { SearchTerm } from "./search-query.js"
 */

const MAX_HITS = 200
/** A row of the index is a field of an event: its number says which. */
const FIELDS_PER_EVENT = 8
/** One step stops after the first event that takes it past these. */
const STEP_EVENTS = 200
const STEP_BYTES = 256 * 1024
/** Rows of the index that are looked at for one search among the sessions of one machine. */
const MAX_LOOKED_AT = 20_000
const LOOK_PAGE = 500

/** The full-text index of a log, in a file of its own. It holds no text: what it shows is taken from the events. */
export class TextIndex {
  #log
  #index
  #file

  /** @param {string} logFile @param {string} indexFile */
  constructor(logFile, indexFile) {
    this.#file = indexFile
    this.#log = openLog(logFile)
    try {
      this.#index = openIndex(indexFile, this.#log)
    } catch (error) {
      this.#log.close()
      throw error
    }
  }

  /** The number of the last event that can be found; events are numbered across all sessions in the order of their commits. */
  get indexedTo() {
    return Number(this.#index.first("SELECT indexed_to FROM progress")[0] ?? 0)
  }

  /** Id of the last event in the log. */
  get logEnd() {
    return Number(this.#log.first("SELECT max(id) FROM events")[0] ?? 0)
  }

  /** Indexes some more. How far it came is kept in the same transaction. False when there was nothing to do. */
  step() {
    try {
      return this.#step()
    } catch (error) {
      if (!isBroken(error)) throw error
      this.#index.close()
      this.#index = openIndex(this.#file, this.#log)
      return true
    }
  }

  /** @param {SearchQuery} query @returns {SearchReply} */
  search(query) {
    const terms = parseQuery(query.q)
    const most = Math.min(query.limit, MAX_HITS)
    const { indexedTo } = this
    const progress = { indexedTo, indexedAt: this.#timeOf(indexedTo) }
    if (terms.length === 0 || !(most > 0)) return { hits: [], more: false, ...progress }
    const titles = this.#findTitles(terms, query, most + 1)
    const events = this.#findEvents(terms, query, most + 1 - titles.length)
    const hits = [...titles, ...events.hits]
    return { hits: hits.slice(0, most), more: hits.length > most || !events.isWhole, ...progress }
  }

  close() {
    this.#index.close()
    this.#log.close()
  }

  #step() {
    const after = this.indexedTo
    const reached = this.#endOfStep(after)
    if (reached === after) return false
    const events = this.#log.rows(
      "SELECT id, session, CAST(line AS TEXT) FROM events WHERE id > ? AND id <= ? ORDER BY id",
      [after, reached],
    )
    this.#index.exec("BEGIN IMMEDIATE")
    try {
      for (const [id, session, line] of events) this.#add(Number(id), Number(session), String(line))
      const last = describeEvent(this.#log, reached)
      this.#index.run("UPDATE progress SET indexed_to = ?, last_event = ?", [reached, last])
      this.#index.exec("COMMIT")
    } catch (error) {
      this.#index.exec("ROLLBACK")
      throw error
    }
    return true
  }

  /** Lengths are in the rows' headers, so long lines are not loaded to be counted. @param {number} after */
  #endOfStep(after) {
    const sizes = this.#log.rows("SELECT id, octet_length(line) FROM events WHERE id > ? ORDER BY id LIMIT ?", [
      after,
      STEP_EVENTS,
    ])
    let reached = after
    let bytes = 0
    for (const [id, size] of sizes) {
      reached = Number(id)
      bytes += Number(size)
      if (bytes > STEP_BYTES) break
    }
    return reached
  }

  /** @param {number} event @param {number} session @param {string} line */
  #add(event, session, line) {
    const texts = searchableText(line)
    for (const [place, field] of SEARCH_FIELDS.entries()) {
      const text = texts[field]
      if (text === undefined) continue
      const row = [event * FIELDS_PER_EVENT + place, sessionWord(session), text.replaceAll("\0", " ")]
      this.#index.run("INSERT INTO event_text (rowid, session, body) VALUES (?, ?, ?)", row)
    }
  }

  /**
   * Up to when everything can be found: now, when all that there is was taken.
   * @param {number} indexedTo
   */
  #timeOf(indexedTo) {
    if (indexedTo >= this.logEnd) return new Date().toISOString()
    return new Date(Number(this.#log.first("SELECT at FROM events WHERE id = ?", [indexedTo])[0] ?? 0)).toISOString()
  }

  /**
   * Titles change and are few, so they are in no index: all are looked at.
   * @param {readonly SearchTerm[]} terms
   * @param {SearchQuery} query
   * @param {number} limit
   * @returns {readonly SearchHit[]}
   */
  #findTitles(terms, { session, runner, fields, from, to }, limit) {
    if (fields?.includes("title") === false) return []
    return this.#log
      .rows("SELECT number, title FROM sessions WHERE title IS NOT NULL")
      .filter(([, title]) => isMatch(String(title), terms))
      .sort(([a], [b]) => Number(b) - Number(a))
      .map(([number, title]) => {
        const [row] = this.#log.rows("SELECT id, updated_at, runner FROM sessions WHERE number = ?", [number])
        const snippet = snippetOf(String(title), terms)
        return {
          hit: { session: String(row?.[0]), seq: 0, at: String(row?.[1]), field: "title", snippet },
          on: row?.[2],
        }
      })
      .filter(({ on }) => runner === undefined || on === runner)
      .map(({ hit }) => hit)
      .filter((hit) => session === undefined || hit.session === session)
      .filter(({ at }) => isWithin(Date.parse(at), from, to))
      .slice(0, limit)
  }

  /**
   * @param {readonly SearchTerm[]} terms
   * @param {SearchQuery} query
   * @param {number} limit
   * @returns {{ readonly hits: readonly SearchHit[], readonly isWhole: boolean }} not whole: it was too much to look at
   */
  #findEvents(terms, query, limit) {
    const filter = filterOf(this.#log, query)
    /** @type {SearchHit[]} */
    const hits = []
    if (filter.sessions?.size === 0) return { hits, isWhole: true }
    let before = filter.beforeEvent * FIELDS_PER_EVENT
    for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT; lookedAt += LOOK_PAGE) {
      const rows = this.#rowsBefore(before, terms, filter)
      for (const row of rows) {
        const hit = this.#toHit(row, terms, filter.sessions)
        if (hit !== undefined) hits.push(hit)
        if (hits.length >= limit) return { hits, isWhole: true }
      }
      if (rows.length < LOOK_PAGE) return { hits, isWhole: true }
      before = rows.at(-1) ?? 0
    }
    return { hits, isWhole: false }
  }

  /**
   * Rows of the index that fit, newest first. One session is looked for by its word; of several each row says which it is of.
   * @param {number} before
   * @param {readonly SearchTerm[]} terms
   * @param {SearchFilter} filter
   * @returns {readonly number[]}
   */
  #rowsBefore(before, terms, { sessions, fields, afterEvent }) {
    const [only, ...others] = sessions ?? []
    const inSession = only !== undefined && others.length === 0 ? `session : ${sessionWord(only)} AND ` : ""
    const places = SEARCH_FIELDS.flatMap((field, place) => (fields?.includes(field) === false ? [] : [place]))
    const found = `SELECT rowid FROM event_text WHERE event_text MATCH ? AND rowid < ? AND rowid >= ?
      AND rowid % ${FIELDS_PER_EVENT} IN (${places.join()}) ORDER BY rowid DESC LIMIT ${LOOK_PAGE}`
    const expression = `${inSession}body : (${toMatchExpression(terms)})`
    const least = (afterEvent + 1) * FIELDS_PER_EVENT
    return this.#index.rows(found, [expression, before, least]).map(([row]) => Number(row))
  }

  /** Its number in the log. @param {number} event */
  #sessionOf(event) {
    return Number(this.#log.first("SELECT session FROM events WHERE id = ?", [event])[0] ?? 0)
  }

  /**
   * @param {number} indexRow
   * @param {readonly SearchTerm[]} terms
   * @param {ReadonlySet<number> | undefined} sessions
   * @returns {SearchHit | undefined}
   */
  #toHit(indexRow, terms, sessions) {
    const field = SEARCH_FIELDS[indexRow % FIELDS_PER_EVENT] ?? "text"
    const event = Math.floor(indexRow / FIELDS_PER_EVENT)
    if (sessions !== undefined && !sessions.has(this.#sessionOf(event))) return undefined
    const [row] = this.#log.rows(
      `SELECT log_sessions.name, events.seq, events.at, CAST(events.line AS TEXT)
       FROM events JOIN log_sessions ON log_sessions.id = events.session WHERE events.id = ?`,
      [event],
    )
    if (row === undefined) return undefined
    const [name, seq, at, line] = row
    const snippet = snippetOf(searchableText(String(line))[field] ?? "", terms)
    return { session: String(name), seq: Number(seq), at: new Date(Number(at)).toISOString(), field, snippet }
  }
}

/** @param {number} at @param {string | undefined} from @param {string | undefined} to */
function isWithin(at, from, to) {
  return (from === undefined || at >= Date.parse(from)) && (to === undefined || at < Date.parse(to))
}

/** The word that every row of a session carries, so that a search in one session looks at no other. @param {number} session */
function sessionWord(session) {
  return `s${session}`
}
