/** Tool calls that the policy judged before they ran. Their inputs stand in the events at `seq`. */
export const sql = `
  CREATE TABLE seen_calls (
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    tool_use TEXT NOT NULL,
    seq INTEGER,
    at TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (session, tool_use)
  );
  CREATE INDEX seen_calls_by_seq ON seen_calls (session, seq);
  CREATE INDEX seen_calls_by_time ON seen_calls (at);
`
