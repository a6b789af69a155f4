/**
 * @import { SearchQuery } from "../../core.ts"
 * @import { Connection } from "./connection.js"
 */

/** Past every event there will be, and a number that the index can take eightfold. */
const NO_EVENT = 2 ** 48

/**
 * The filters of a search, as the log's own numbers.
 * @typedef {object} SearchFilter
 * @property {readonly string[] | undefined} fields
 * @property {ReadonlySet<number> | undefined} sessions the log's numbers of those that count; undefined for all
 * @property {number} afterEvent
 * @property {number} beforeEvent
 */

/** @param {Connection} log @param {SearchQuery} query @returns {SearchFilter} */
export function filterOf(log, { session, runner, fields, from, to }) {
  return {
    fields,
    sessions: sessionsOf(log, { session, runner }),
    afterEvent: from === undefined ? 0 : firstEventAt(log, Date.parse(from)) - 1,
    beforeEvent: to === undefined ? NO_EVENT : firstEventAt(log, Date.parse(to)),
  }
}

/**
 * @param {Connection} log
 * @param {{ session: string | undefined, runner: string | undefined }} wanted
 * @returns {ReadonlySet<number> | undefined}
 */
function sessionsOf(log, { session, runner }) {
  if (session === undefined && runner === undefined) return undefined
  const names =
    runner === undefined
      ? [session]
      : log
          .rows("SELECT id FROM sessions WHERE runner = ?", [runner])
          .map(([id]) => String(id))
          .filter((id) => session === undefined || id === session)
  const number = "SELECT id FROM log_sessions WHERE name = ?"
  return new Set(names.flatMap((name) => log.rows(number, [name]).map(([id]) => Number(id))))
}

/**
 * The number of the first event of that time or later. Events are numbered in the order of their commits, which is that of
 * their times.
 * @param {Connection} log
 * @param {number} at
 */
function firstEventAt(log, at) {
  let low = 1
  let high = Number(log.first("SELECT max(id) FROM events")[0] ?? 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [, time] = log.first("SELECT id, at FROM events WHERE id >= ? ORDER BY id LIMIT 1", [middle])
    if (time === undefined || Number(time) >= at) high = middle
    else low = middle + 1
  }
  return low
}
