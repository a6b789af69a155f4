import { fieldOf, isObject } from "@signalbox/protocol"
import { BODY, PAGE_ROWS, parsed, SHORT_BODY } from "./recorded-log.js"

/**
 * @import { SeenCall } from "../../model/seen-call.ts"
 * @import { RecordedLog } from "./recorded-log.js"
 * @import { Recorded } from "./recorded-requests.js"
 */

/** @typedef {Pick<SeenCall, "tool" | "mode" | "cwd" | "branch" | "input">} KeptCall */
/** @typedef {{ session: string, toolUse: string, seq: number | null, at: string, kept: KeptCall | undefined }} CallRow */

/** @param {string} isAsked */
const page = (isAsked) => `SELECT number, session, tool_use, seq, at, ${SHORT_BODY}, ${isAsked} FROM seen_calls AS seen
  WHERE at >= ? AND (at, number) < (?, ?) ORDER BY at DESC, number DESC LIMIT ${PAGE_ROWS}`
/** After every moment. */
const END = "~"

/** Tool calls that the policy judged before they ran, without those that somebody was asked about. */
export class RecordedCalls {
  #log

  /** @param {RecordedLog} log */
  constructor(log) {
    this.#log = log
  }

  /** About how many there are since then: with those that became requests. @param {string} [since] */
  count(since = "") {
    return Number(this.#log.first("SELECT count(*) FROM seen_calls WHERE at >= ?", [since])[0] ?? 0)
  }

  /** @param {string} [since] @returns {Generator<Recorded, void>} */
  *newestFirst(since = "") {
    /** @type {readonly [at: string, number: number]} */
    let before = [END, 0]
    const sql = page(this.#log.sql.isAsked)
    for (;;) {
      const rows = this.#log.rows(sql, [since, ...before])
      for (const [number, session, toolUse, seq, at, body, isAsked] of rows) {
        before = [String(at), Number(number)]
        if (isAsked === 1) continue
        const [long] =
          body === null ? this.#log.first(`SELECT ${BODY} FROM seen_calls WHERE number = ?`, [number]) : [body]
        const call = { session: String(session), toolUse: String(toolUse), at: String(at), kept: keptIn(long) }
        yield this.#recorded({ ...call, seq: seq === null ? null : Number(seq) })
      }
      if (rows.length < PAGE_ROWS) return
    }
  }

  /** As it was judged then: in its session's folder and in the one that the agent had gone to. @param {CallRow} row */
  #recorded(row) {
    const { session, seq, at, kept } = row
    const { number: _number, ...place } = this.#log.session(session)
    const { mode = place.mode, cwd: wentTo, branch } = kept ?? {}
    const input = this.#input(row)
    return {
      session,
      seq: seq ?? 0,
      ask: undefined,
      at,
      request: kept === undefined || input === undefined ? undefined : { tool: kept.tool, input },
      context: { ...place, cwd: place.cwd ?? wentTo, wentTo, mode, branch, now: Date.parse(at), used: {} },
      answer: undefined,
    }
  }

  /** @param {CallRow} row */
  #input({ session, toolUse, seq, kept }) {
    if (kept?.input !== undefined) return kept.input
    const content = seq === null ? undefined : fieldOf(this.#log.event(session, seq), "message")?.["content"]
    const blocks = Array.isArray(content) ? content.filter(isObject) : []
    return fieldOf(
      blocks.find(({ type, id }) => type === "tool_use" && id === toolUse),
      "input",
    )
  }
}

/** @param {unknown} body @returns {KeptCall | undefined} */
function keptIn(body) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  return /** @type {KeptCall | undefined} */ (parsed(body))
}
