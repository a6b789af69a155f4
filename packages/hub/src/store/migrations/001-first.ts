/**
 * Events: the name of a session is kept once, its events carry a number. `key_slot` is a hash of the key, or the next free
 * place after it when another key of the session has that hash: an index on numbers is a third of one on the keys' text,
 * and it is the index that makes appending expensive.
 */
export const sql = `
  CREATE TABLE log_sessions (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  );

  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES log_sessions (id),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    origin TEXT NOT NULL,
    by TEXT,
    key TEXT,
    key_slot INTEGER,
    line NOT NULL
  );
  CREATE UNIQUE INDEX events_by_seq ON events (session, seq);
  CREATE UNIQUE INDEX events_by_key ON events (session, key_slot) WHERE key_slot IS NOT NULL;

  CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT,
    updated_at TEXT NOT NULL,
    record TEXT NOT NULL,
    own TEXT NOT NULL
  );

  CREATE TABLE asks (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    state TEXT NOT NULL,
    undelivered INTEGER NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX asks_by_session ON asks (session, state);
  CREATE INDEX asks_by_state ON asks (state);
  CREATE INDEX asks_undelivered ON asks (number) WHERE undelivered = 1;

  CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    uuid TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    incarnation TEXT,
    line NOT NULL,
    by TEXT NOT NULL,
    at TEXT NOT NULL,
    UNIQUE (session, uuid)
  );
  CREATE INDEX messages_open ON messages (session, seq) WHERE state IN ('waiting', 'sent');

  CREATE TABLE tokens (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    revoked INTEGER NOT NULL,
    body TEXT NOT NULL
  );

  CREATE TABLE grants (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    revoked INTEGER NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX grants_by_session ON grants (session);

  CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT,
    body TEXT NOT NULL
  );
  CREATE INDEX audit_by_session ON audit (session, id);

  CREATE TABLE documents (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  );

  CREATE TABLE store_marks (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  );
  INSERT INTO store_marks (name, value) VALUES ('probe', 0), ('indexed-to', 0);

  CREATE VIRTUAL TABLE event_text USING fts5 (
    session, body, content = '', tokenize = 'unicode61 remove_diacritics 2'
  );

  CREATE VIRTUAL TABLE title_text USING fts5 (
    title, tokenize = 'unicode61 remove_diacritics 2'
  );
  CREATE TRIGGER title_added AFTER INSERT ON sessions WHEN new.title IS NOT NULL BEGIN
    INSERT INTO title_text (rowid, title) VALUES (new.number, new.title);
  END;
  CREATE TRIGGER title_changed AFTER UPDATE OF title ON sessions WHEN new.title IS NOT old.title BEGIN
    DELETE FROM title_text WHERE rowid = old.number;
    INSERT INTO title_text (rowid, title) SELECT new.number, new.title WHERE new.title IS NOT NULL;
  END;
`
