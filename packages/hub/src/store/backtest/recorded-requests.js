import { policyRequestOf } from "@signalbox/policy"
import { fieldOf } from "@signalbox/protocol"
import { RecordedCalls } from "./recorded-calls.js"
import { BODY, PAGE_ROWS, parsed, RecordedLog, SHORT_BODY, SQLITE } from "./recorded-log.js"

/**
 * @import { CallContext, PolicyRequest } from "@signalbox/policy"
 * @import { AskRecord } from "../../model/ask.ts"
 * @import { RecordedSql, Rows } from "./recorded-log.js"
 */

/**
 * The session in which it was made, and when. As if no rule had been used up: uses are kept as sums, not as they stood then.
 * @typedef {CallContext & { readonly now: number, readonly used: Readonly<Record<string, never>> }} RecordedContext
 */

/**
 * A request of the past. Without `request` it cannot be judged: its input is gone, or too long to be read.
 * @typedef {object} Recorded
 * @property {string} session
 * @property {number} seq
 * @property {string | undefined} ask undefined for a tool call that nobody was asked about
 * @property {string} at
 * @property {PolicyRequest | undefined} request
 * @property {RecordedContext} context
 * @property {{ readonly by: string, readonly outcome: "allowed" | "denied", readonly isEdited: boolean } | undefined} answer of a person
 */

const PAGES = {
  all: `SELECT number, id, session, ${SHORT_BODY} FROM asks WHERE number < ? ORDER BY number DESC LIMIT ${PAGE_ROWS}`,
  denied: `SELECT number, id, session, ${SHORT_BODY} FROM asks WHERE state = 'denied' AND number < ? ORDER BY number DESC LIMIT ${PAGE_ROWS}`,
}

/** The requests that the store has, each once, newest first: what agents asked, and their calls that nobody was asked about. */
export class RecordedRequests {
  #log
  #calls

  /** @param {Rows} connection @param {RecordedSql} [sql] */
  constructor(connection, sql = SQLITE) {
    this.#log = new RecordedLog(connection, sql)
    this.#calls = new RecordedCalls(this.#log)
  }

  /** About how many there are since then. @param {string | undefined} since */
  count(since) {
    const [asked] = this.#log.first("SELECT count(*) FROM asks WHERE number >= ?", [this.#firstSince(since)])
    return Number(asked ?? 0) + this.#calls.count(since)
  }

  /**
   * Each page is a read of its own, so that the log can be written and tidied meanwhile.
   * @param {{ readonly since?: string | undefined, readonly only?: "denied" }} [wanted] only: those that were denied when asked
   * @returns {Generator<Recorded, void>}
   */
  *newestFirst({ since, only } = {}) {
    const asked = this.#asked(PAGES[only ?? "all"], since)
    yield* only === undefined ? byTime(asked, this.#calls.newestFirst(since)) : asked
  }

  /** @param {string} page @param {string | undefined} since @returns {Generator<Recorded, void>} */
  *#asked(page, since) {
    const end = this.#firstSince(since)
    let before = Number.MAX_SAFE_INTEGER
    for (;;) {
      const rows = this.#log.rows(page, [before])
      for (const [number, id, session, body] of rows) {
        if (Number(number) < end) return
        before = Number(number)
        const [long] = body === null ? this.#log.first(`SELECT ${BODY} FROM asks WHERE number = ?`, [number]) : [body]
        yield this.#recorded(String(id), String(session), long)
      }
      if (rows.length < PAGE_ROWS) return
    }
  }

  /** @param {string} ask @param {string} session @param {unknown} body @returns {Recorded} */
  #recorded(ask, session, body) {
    const record = askIn(body)
    const { cwd, mode } = this.#log.session(session)
    const { seq = 0, askedAt: at = "", judgedIn = { cwd, mode }, via, state, settledBy: by, answer } = record ?? {}
    const isAnswered = via === "person" && (state === "allowed" || state === "denied")
    return {
      session,
      seq,
      ask,
      at,
      request: record && this.#request(record, session),
      context: { ...judgedIn, session, now: Date.parse(at), used: {} },
      answer: isAnswered
        ? { by: by ?? "", outcome: state, isEdited: answer?.["updatedInput"] !== undefined }
        : undefined,
    }
  }

  /** @param {AskRecord} record @param {string} session */
  #request({ request, seq }, session) {
    return policyRequestOf(request ?? fieldOf(this.#log.event(session, seq), "request"))
  }

  /** The number of the first one of that time or later: they are numbered as they came. @param {string | undefined} since */
  #firstSince(since) {
    if (since === undefined) return 0
    let low = 1
    let high = Number(this.#log.first("SELECT max(number) FROM asks WHERE number > 0")[0] ?? 0) + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const [number, body] = this.#log.first(
        `SELECT number, ${BODY} FROM asks WHERE number >= ? ORDER BY number LIMIT 1`,
        [middle],
      )
      const at = askIn(body)?.askedAt
      if (number === undefined || (at !== undefined && at >= since)) high = middle
      else low = Number(number) + 1
    }
    return low
  }
}

/**
 * Both as one, newest first. One that does not tell its time comes when it is its turn.
 * @param {Iterable<Recorded>} asked
 * @param {Iterator<Recorded, void>} calls
 */
function* byTime(asked, calls) {
  let call = calls.next()
  for (const request of asked) {
    for (; call.done !== true && request.at !== "" && call.value.at > request.at; call = calls.next()) yield call.value
    yield request
  }
  for (; call.done !== true; call = calls.next()) yield call.value
}

/** @param {unknown} body @returns {AskRecord | undefined} */
function askIn(body) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  return /** @type {AskRecord | undefined} */ (parsed(body))
}
