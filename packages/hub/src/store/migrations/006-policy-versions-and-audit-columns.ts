/**
 * Every policy that was in force is a row, the newest one is in force. Those of older hubs come from their audit records. What
 * an audit is filtered by is in columns before the long one, so that a scan of them never reads it. JSON that SQLite cannot read
 * (deeper than 1,000) leaves its columns empty.
 */
export const sql = `
  CREATE TABLE policies (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    about TEXT NOT NULL,
    policy TEXT NOT NULL
  );
  INSERT INTO policies (about, policy)
    SELECT json_object('at', json_extract(body, '$.at'), 'by', json_extract(body, '$.by'),
      'rules', coalesce(json_array_length(body, '$.details.after.rules'), 0)), json_extract(body, '$.details.after')
    FROM audit
    WHERE CASE WHEN json_valid(body)
      THEN json_extract(body, '$.what') = 'policy/changed' AND json_type(body, '$.details.after') = 'object' END
    ORDER BY id;
  INSERT INTO policies (about, policy)
    SELECT json_object('at', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 'by', NULL,
      'rules', coalesce(json_array_length(value, '$.rules'), 0)), value FROM documents
    WHERE name = 'policy' AND value <> 'null'
      AND value IS NOT (SELECT policy FROM policies ORDER BY version DESC LIMIT 1);
  DELETE FROM documents WHERE name = 'policy';

  CREATE TABLE audit_by_columns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT,
    what TEXT,
    by TEXT,
    session TEXT,
    rule TEXT,
    tool TEXT,
    runner TEXT,
    body TEXT NOT NULL
  );
  INSERT INTO audit_by_columns
    SELECT id, json_extract(read, '$.at'), json_extract(read, '$.what'), json_extract(read, '$.by'), session,
      json_extract(read, '$.details.rule'), json_extract(read, '$.details.toolName'), json_extract(read, '$.details.runner'), body
    FROM (SELECT id, session, body, CASE WHEN json_valid(body) THEN body END AS read FROM audit) ORDER BY id;
  DROP TABLE audit;
  ALTER TABLE audit_by_columns RENAME TO audit;
  CREATE INDEX audit_by_session ON audit (session, id);
  CREATE INDEX audit_by_time ON audit (at);
`
