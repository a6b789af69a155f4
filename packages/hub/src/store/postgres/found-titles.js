import { isMatch } from "../search/search-query.js"
import { snippetOf } from "../search/snippet.js"

/**
 * @import { SearchHit } from "@signalbox/protocol/hub-api"
 * @import { SearchQuery } from "../../core.ts"
 * @import { SearchTerm } from "../search/search-query.js"
 * @import { PostgresReader, Value } from "./reader.js"
 */

const PAGE = 5_000

/**
 * Sessions with these words in their titles, newest first. Titles change and are short, so they are in no index: they are looked at page
 * by page until there are enough.
 * @param {PostgresReader} reader
 * @param {readonly SearchTerm[]} terms
 * @param {SearchQuery} query
 * @param {number} limit
 * @returns {Promise<readonly SearchHit[]>}
 */
export async function findTitles(reader, terms, { session, runner, fields, from, to }, limit) {
  /** @type {SearchHit[]} */
  const hits = []
  if (fields?.includes("title") === false) return hits
  const [earliest, latest] = [from, to].map((time) => (time === undefined ? undefined : Date.parse(time)))
  const only = "($2::text IS NULL OR id = $2) AND ($3::text IS NULL OR runner = $3)"
  const page = `SELECT number, id, title, updated_at FROM sessions
    WHERE title IS NOT NULL AND number < $1::bigint AND ${only} ORDER BY number DESC LIMIT ${PAGE}`
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await reader.rows(page, [before, session ?? null, runner ?? null])
    for (const [number, id, title, updatedAt] of rows) {
      before = Number(number)
      const at = Date.parse(String(updatedAt))
      const isInTime = (earliest === undefined || at >= earliest) && (latest === undefined || at < latest)
      if (!isInTime || !isMatch(String(title), terms)) continue
      const snippet = snippetOf(String(title), terms)
      hits.push({ session: String(id), seq: 0, at: String(updatedAt), field: "title", snippet })
      if (hits.length === limit) return hits
    }
    if (rows.length < PAGE) return hits
  }
}
