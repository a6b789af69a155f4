import { ColdLines, LINE_BYTES } from "../cold/cold-lines.js"
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
/** Nothing for a line that is in a block. */
const LINE_TEXT = "CASE typeof(line) WHEN 'integer' THEN NULL ELSE CAST(line AS TEXT) END"
/** Rows of the index that are looked at for one search among the sessions of one machine. */
const MAX_LOOKED_AT = 20_000
const LOOK_PAGE = 500
/** Rows that one step forgets, and pages that it gives back to the disk. */
const FORGET_ROWS = 500
const FREED_PAGES = 256

/** The full-text index of a log, in a file of its own. It holds no text: what it shows is taken from the events. */
export class TextIndex {
  #log
  #cold
  #index
  #file

  /** @param {string} logFile @param {string} indexFile */
  constructor(logFile, indexFile) {
    this.#file = indexFile
    const log = openLog(logFile)
    this.#log = log
    this.#cold = new ColdLines((sql, values) => log.first(sql, values))
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

  /** The log itself tells what is new. */
  note() {}

  isIdle() {
    return this.logEnd === this.indexedTo
  }

  goal() {
    const { logEnd } = this
    return () => this.indexedTo >= logEnd
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

  /**
   * Forgets some rows of a session that was purged, by its number. Its events are no longer in the log. Their words stay in the file,
   * where no search finds them, until the index merges those pages. False: nothing of it is left.
   * @param {number} session
   */
  forgetSome(session) {
    const found = "SELECT rowid FROM event_text WHERE event_text MATCH ? LIMIT ?"
    const rows = this.#index.rows(found, [`session : ${sessionWord(session)}`, FORGET_ROWS])
    this.#index.exec("BEGIN IMMEDIATE")
    try {
      for (const row of rows) this.#index.run("DELETE FROM event_text WHERE rowid = ?", row)
      this.#index.run("UPDATE progress SET last_event = ?", [describeEvent(this.#log, this.indexedTo)])
      this.#index.exec("COMMIT")
    } catch (error) {
      this.#index.exec("ROLLBACK")
      throw error
    }
    this.#index.exec(`PRAGMA incremental_vacuum(${FREED_PAGES})`)
    return rows.length === FORGET_ROWS
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
      `SELECT id, session, seq, ${LINE_TEXT} FROM events WHERE id > ? AND id <= ? ORDER BY id`,
      [after, reached],
    )
    this.#index.exec("BEGIN IMMEDIATE")
    try {
      for (const [id, session, seq, line] of events) {
        this.#add(Number(id), Number(session), this.#textOf(session, seq, line))
      }
      const last = describeEvent(this.#log, reached)
      this.#index.run("UPDATE progress SET indexed_to = ?, last_event = ?", [reached, last])
      this.#index.exec("COMMIT")
    } catch (error) {
      this.#index.exec("ROLLBACK")
      throw error
    }
    return true
  }

  /** A line that cannot be read has no words. @param {unknown} session @param {unknown} seq @param {unknown} line */
  #textOf(session, seq, line) {
    return typeof line === "string" ? line : (this.#cold.tryLine(Number(session), Number(seq)) ?? "")
  }

  /** @param {number} after */
  #endOfStep(after) {
    const sizes = this.#log.rows(`SELECT id, ${LINE_BYTES} FROM events WHERE id > ? ORDER BY id LIMIT ?`, [
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
   * Up to when everything can be found: just before the first event that waits for the index, or now.
   * @param {number} indexedTo
   */
  #timeOf(indexedTo) {
    const [next] = this.#log.first("SELECT at FROM events WHERE id > ? ORDER BY id LIMIT 1", [indexedTo])
    return new Date(next === undefined ? Date.now() : Number(next) - 1).toISOString()
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
      .flatMap(([number, title]) => {
        const [row] = this.#log.rows("SELECT id, updated_at, runner FROM sessions WHERE number = ?", [number])
        // Purged meanwhile.
        if (row === undefined) return []
        const [id, at, on] = row
        const snippet = snippetOf(String(title), terms)
        /** @type {SearchHit} */
        const hit = { session: String(id), seq: 0, at: String(at), field: "title", snippet }
        return [{ hit, on }]
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
      `SELECT log_sessions.name, events.session, events.seq, events.at, ${LINE_TEXT}
       FROM events JOIN log_sessions ON log_sessions.id = events.session
       WHERE events.id = ? AND events.session NOT IN (SELECT number FROM purged_logs)`,
      [event],
    )
    if (row === undefined) return undefined
    const [name, session, seq, at, line] = row
    const text = this.#textOf(session, seq, line)
    const snippet = snippetOf(searchableText(text)[field] ?? "", terms)
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
