/**
 * Sessions and tokens are found and listed without reading all: what they are looked up by is in columns of their own, before
 * the long ones, so that a scan of the short columns never reads those. `at_rest` is 0 for sessions that a hub which starts
 * must load. `words` is what a search of the list looks at, in lower case; NULL in rows that an older hub wrote, which are
 * compared one by one until they are saved again (SQLite lowers only ASCII). What an agent said of itself may be deeper than
 * SQLite reads JSON.
 */
export const sql = `
  CREATE TABLE sessions_as_rows (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    title TEXT,
    state TEXT NOT NULL,
    runner TEXT,
    agent_session TEXT,
    request_key TEXT,
    next TEXT,
    last_uuid TEXT,
    at_rest INTEGER NOT NULL,
    words TEXT,
    record TEXT NOT NULL,
    own TEXT NOT NULL
  );
  INSERT INTO sessions_as_rows
    SELECT number, id, coalesce(json_extract(record, '$.createdAt'), updated_at), updated_at, title,
      coalesce(json_extract(record, '$.state'), 'ended'), json_extract(record, '$.runner'),
      json_extract(record, '$.agentSessionId'), CASE WHEN json_valid(own) THEN json_extract(own, '$.requestKey') END, json_extract(record, '$.next'),
      NULL, coalesce(json_extract(record, '$.state'), 'ended') = 'ended', NULL, record, own
    FROM sessions ORDER BY number;
  DROP TABLE sessions;
  ALTER TABLE sessions_as_rows RENAME TO sessions;
  CREATE INDEX sessions_by_age ON sessions (created_at, id);
  CREATE INDEX sessions_by_state ON sessions (state, created_at, id);
  CREATE INDEX sessions_by_title ON sessions (title) WHERE title IS NOT NULL;
  CREATE INDEX sessions_by_runner ON sessions (runner) WHERE runner IS NOT NULL;
  CREATE INDEX sessions_by_agent_session ON sessions (agent_session) WHERE agent_session IS NOT NULL;
  CREATE INDEX sessions_by_request_key ON sessions (request_key) WHERE request_key IS NOT NULL;
  CREATE INDEX sessions_by_next ON sessions (next) WHERE next IS NOT NULL;
  CREATE INDEX sessions_by_last_uuid ON sessions (last_uuid) WHERE last_uuid IS NOT NULL;
  CREATE INDEX sessions_awake ON sessions (number) WHERE at_rest = 0;

  CREATE TABLE tokens_by_keys (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    session TEXT,
    role TEXT NOT NULL,
    expires_at TEXT,
    revoked INTEGER NOT NULL,
    body TEXT NOT NULL
  );
  INSERT INTO tokens_by_keys
    SELECT number, id, coalesce(json_extract(body, '$.hash'), id), json_extract(body, '$.sessionId'),
      coalesce(json_extract(body, '$.role'), 'viewer'), strftime('%Y-%m-%dT%H:%M:%fZ', json_extract(body, '$.expiresAt')), revoked, body
    FROM tokens ORDER BY number;
  DROP TABLE tokens;
  ALTER TABLE tokens_by_keys RENAME TO tokens;
  CREATE INDEX tokens_by_session ON tokens (session) WHERE session IS NOT NULL;
  CREATE INDEX tokens_usable ON tokens (number) WHERE revoked = 0 AND role <> 'agent';
`
