/**
 * The full-text index. `search_logs`: events of a log up to `indexed_to` are in it. `search_text`: a row for each field of an event that
 * has words, without their places: what a search finds is compared with the event itself. Both can be emptied, and fill again.
 * Backtests read judged calls by their time.
 */
export const sql = `
  CREATE TABLE search_logs (
    log integer PRIMARY KEY,
    indexed_to integer NOT NULL
  ) WITH (fillfactor = 70);

  CREATE TABLE search_text (
    event bigint NOT NULL,
    field smallint NOT NULL,
    log integer NOT NULL,
    seq integer NOT NULL,
    at bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (event, field)
  );
  CREATE INDEX search_text_by_log ON search_text (log, event, field);
  CREATE INDEX search_text_by_words ON search_text USING gin (words);

  CREATE INDEX seen_calls_by_time ON seen_calls (at, number);
`
