import { LineBlock } from "../cold/line-block.js"

/**
 * A block of compressed lines; `damage` says why it cannot be unpacked.
 * @typedef {object} CheckedBlock
 * @property {number} id
 * @property {number} session
 * @property {number} first
 * @property {number} last
 * @property {string | undefined} damage
 */

const HAS_BLOCKS = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'event_blocks'"
const NEXT = "SELECT id, session, first_seq, last_seq, body FROM event_blocks WHERE id > ? ORDER BY id LIMIT 1"

/**
 * Unpacks every block, one at a time: SQLite's own checks don't look into them. A file of an older version has none.
 * @param {(sql: string, values: readonly number[]) => readonly (readonly unknown[])[]} rows
 * @returns {Generator<CheckedBlock, void>}
 */
export function* checkedBlocks(rows) {
  if (rows(HAS_BLOCKS, []).length === 0) return
  for (let at = -1; ; ) {
    const [row] = rows(NEXT, [at])
    const [id = at, session = 0, first = 0, last = 0] = (row ?? []).slice(0, 4).map(Number)
    // Numbers beyond what JavaScript can count are a product of damage, and would be met for ever.
    if (row === undefined || !(id > at)) return
    at = id
    const why = whyNot(row[4], first, last)
    const damage =
      why === undefined
        ? undefined
        : `block ${id} (events ${first} to ${last} of log ${session}) can't be unpacked: ${why}`
    yield { id, session, first, last, damage }
  }
}

/** @param {unknown} body @param {number} first @param {number} last */
function whyNot(body, first, last) {
  if (!(body instanceof Uint8Array)) return "it is not compressed"
  try {
    const block = new LineBlock(body)
    const isWhole = block.line(first) !== undefined && block.line(last) !== undefined
    return isWhole ? undefined : "it has other events"
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
