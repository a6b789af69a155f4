import { MAX_BYTES } from "../backtest/recorded-log.js"

/** @import { RecordedSql } from "../backtest/recorded-log.js" */

/** @type {RecordedSql} */
export const POSTGRES = {
  log: "SELECT number FROM logs WHERE name = ?",
  line: `SELECT CASE WHEN bytes <= ${MAX_BYTES} THEN line END FROM events WHERE log = ? AND seq = ?`,
  isAsked: `(EXISTS (SELECT 1 FROM asks WHERE asks.session = seen.session
    AND md5(asks.tool_use) = md5(seen.tool_use) AND asks.tool_use = seen.tool_use))::int`,
}
