import type { SearchHit, SearchReply } from "../core.ts"
import type { Database } from "./database.ts"
import type { Journal } from "./journal.ts"
import { parseQuery, type SearchTerm, toMatchExpression } from "./search/search-query.ts"
import { searchableText } from "./search/searchable-text.ts"
import { snippetOf } from "./search/snippet.ts"
import { placeOfRow, sessionWord, TextIndexer } from "./search/text-index.ts"
import { fromStoredText } from "./stored-text.ts"

export interface SearchQuery {
  readonly q: string
  readonly session?: string
  readonly limit: number
}

const MAX_HITS = 200

/** Full-text search over all that was said and done, newest first, and over the titles of sessions, which come before. */
export class Search {
  readonly #database: Database
  readonly #indexer: TextIndexer

  constructor(database: Database, journal: Journal) {
    this.#database = database
    this.#indexer = new TextIndexer(database, journal)
  }

  async search({ q, session, limit }: SearchQuery): Promise<SearchReply> {
    const terms = parseQuery(q)
    const most = Math.min(limit, MAX_HITS)
    const { indexedTo } = this.#indexer
    if (terms.length === 0 || !(most > 0)) return { hits: [], indexedTo }
    const titles = this.#findTitles(terms, session, most)
    return { hits: [...titles, ...this.#findEvents(terms, session, most - titles.length)], indexedTo }
  }

  /** Something was committed. */
  wake(): void {
    this.#indexer.wake()
  }

  /** Resolves when everything that was committed can be found. */
  caughtUp(): Promise<void> {
    return this.#indexer.caughtUp()
  }

  close(): void {
    this.#indexer.close()
  }

  #findTitles(terms: readonly SearchTerm[], session: string | undefined, limit: number): readonly SearchHit[] {
    const rows = this.#database.all(
      `SELECT sessions.id, sessions.title, sessions.updated_at
       FROM title_text JOIN sessions ON sessions.number = title_text.rowid
       WHERE title_text MATCH ? AND (? IS NULL OR sessions.id = ?) ORDER BY title_text.rowid DESC LIMIT ?`,
      [toMatchExpression(terms), session ?? null, session ?? null, limit],
    )
    return rows.map(([id, title, at]) => ({
      session: String(id),
      seq: 0,
      at: String(at),
      field: "title",
      snippet: snippetOf(String(title), terms),
    }))
  }

  #findEvents(terms: readonly SearchTerm[], session: string | undefined, limit: number): readonly SearchHit[] {
    let expression = `body : (${toMatchExpression(terms)})`
    if (session !== undefined) {
      const row = this.#database.get("SELECT id FROM log_sessions WHERE name = ?", [session])
      if (row === undefined) return []
      expression = `session : ${sessionWord(Number(row[0]))} AND ${expression}`
    }
    return this.#database
      .all("SELECT rowid FROM event_text WHERE event_text MATCH ? ORDER BY rowid DESC LIMIT ?", [expression, limit])
      .flatMap(([row]) => this.#toHit(Number(row), terms) ?? [])
  }

  /** The index holds no text: it is taken from the event itself. */
  #toHit(indexRow: number, terms: readonly SearchTerm[]): SearchHit | undefined {
    const { event, field } = placeOfRow(indexRow)
    const row = this.#database.get(
      `SELECT log_sessions.name, events.seq, events.at, events.line
       FROM events JOIN log_sessions ON log_sessions.id = events.session WHERE events.id = ?`,
      [event],
    )
    if (row === undefined) return undefined
    const [name, seq, at, line] = row
    const text = searchableText(fromStoredText(line))[field] ?? ""
    return {
      session: String(name),
      seq: Number(seq),
      at: new Date(Number(at)).toISOString(),
      field,
      snippet: snippetOf(text, terms),
    }
  }
}
