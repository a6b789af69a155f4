/**
 * An ask and its audit record no longer repeat what the event of its question says. Where that event is not there, or says
 * it in other bytes, they stay as they are: a record that has a request of its own is read from there. SQLite reads JSON up
 * to a depth of 1,000; what is deeper stays too. `delivered_at`: an answer is marked without writing the ask anew.
 */
export const sql = `
  ALTER TABLE asks ADD COLUMN delivered_at TEXT;

  UPDATE asks SET body = json_remove(
    CASE json_extract(body, '$.answer.updatedInput') WHEN json_extract(body, '$.input')
      THEN json_remove(body, '$.answer.updatedInput') ELSE body END,
    '$.request', '$.input', '$.suggestions')
  WHERE CASE WHEN json_valid(body) THEN EXISTS (
    SELECT 1 FROM log_sessions AS log JOIN events AS event ON event.session = log.id
    WHERE log.name = asks.session AND event.seq = json_extract(asks.body, '$.seq')
      AND CASE WHEN typeof(event.line) = 'text' AND json_valid(event.line)
        THEN json_extract(event.line, '$.request') = json_extract(asks.body, '$.request') END
  ) END;

  UPDATE audit SET body = json_remove(
    CASE json_extract(body, '$.details.answer.updatedInput') WHEN json_extract(body, '$.details.input')
      THEN json_remove(body, '$.details.answer.updatedInput') ELSE body END,
    '$.details.input')
  WHERE CASE WHEN json_valid(body) THEN json_type(body, '$.details.input') = 'object' AND EXISTS (
    SELECT 1 FROM asks WHERE asks.id = json_extract(audit.body, '$.askId')
      AND CASE WHEN json_valid(asks.body)
        THEN json_type(asks.body, '$.request') IS NULL
          AND json_extract(asks.body, '$.inputHash') = json_extract(audit.body, '$.details.inputHash') END
  ) END;
`
