import { describeEvent, isBroken, openIndex, openLog } from "./index-file.js"
import { isMatch, parseQuery, toMatchExpression } from "./search-query.js"
import { SEARCH_FIELDS, searchableText } from "./searchable-text.js"
import { snippetOf } from "./snippet.js"

/**
 * @import { SearchHit, SearchReply } from "../../core.ts"
 * @import { SearchQuery } from "./search-messages.ts"
 * @import { SearchTerm } from "./search-query.js"
 */

const MAX_HITS = 200
/** A row of the index is a field of an event: its number says which. */
const FIELDS_PER_EVENT = 8
/** One step stops after the first event that takes it past these. */
const STEP_EVENTS = 200
const STEP_BYTES = 256 * 1024

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

  /** Of the last event there is. */
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
  search({ q, session, limit }) {
    const terms = parseQuery(q)
    const most = Math.min(limit, MAX_HITS)
    const { indexedTo } = this
    if (terms.length === 0 || !(most > 0)) return { hits: [], indexedTo }
    const titles = this.#findTitles(terms, session, most)
    return { hits: [...titles, ...this.#findEvents(terms, session, most - titles.length)], indexedTo }
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
   * Titles change and are few, so they are in no index: all are looked at.
   * @param {readonly SearchTerm[]} terms
   * @param {string | undefined} session
   * @param {number} limit
   * @returns {readonly SearchHit[]}
   */
  #findTitles(terms, session, limit) {
    return this.#log
      .rows("SELECT number, title FROM sessions WHERE title IS NOT NULL")
      .filter(([, title]) => isMatch(String(title), terms))
      .sort(([a], [b]) => Number(b) - Number(a))
      .map(([number, title]) => {
        const [row] = this.#log.rows("SELECT id, updated_at FROM sessions WHERE number = ?", [number])
        const snippet = snippetOf(String(title), terms)
        return { session: String(row?.[0]), seq: 0, at: String(row?.[1]), field: "title", snippet }
      })
      .filter((hit) => session === undefined || hit.session === session)
      .slice(0, limit)
  }

  /**
   * @param {readonly SearchTerm[]} terms
   * @param {string | undefined} session
   * @param {number} limit
   * @returns {readonly SearchHit[]}
   */
  #findEvents(terms, session, limit) {
    let expression = `body : (${toMatchExpression(terms)})`
    if (session !== undefined) {
      const [row] = this.#log.rows("SELECT id FROM log_sessions WHERE name = ?", [session])
      if (row === undefined) return []
      expression = `session : ${sessionWord(Number(row[0]))} AND ${expression}`
    }
    const found = "SELECT rowid FROM event_text WHERE event_text MATCH ? ORDER BY rowid DESC LIMIT ?"
    return this.#index.rows(found, [expression, limit]).flatMap(([row]) => this.#toHit(Number(row), terms) ?? [])
  }

  /** @param {number} indexRow @param {readonly SearchTerm[]} terms @returns {SearchHit | undefined} */
  #toHit(indexRow, terms) {
    const field = SEARCH_FIELDS[indexRow % FIELDS_PER_EVENT] ?? "text"
    const [row] = this.#log.rows(
      `SELECT log_sessions.name, events.seq, events.at, CAST(events.line AS TEXT)
       FROM events JOIN log_sessions ON log_sessions.id = events.session WHERE events.id = ?`,
      [Math.floor(indexRow / FIELDS_PER_EVENT)],
    )
    if (row === undefined) return undefined
    const [name, seq, at, line] = row
    const snippet = snippetOf(searchableText(String(line))[field] ?? "", terms)
    return { session: String(name), seq: Number(seq), at: new Date(Number(at)).toISOString(), field, snippet }
  }
}

/** The word that every row of a session carries, so that a search in one session looks at no other. @param {number} session */
function sessionWord(session) {
  return `s${session}`
}
