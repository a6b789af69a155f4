/**
 * Pinned sessions come first in the list, so the list's indexes begin with the pin. A read mark is the last event of a session
 * that a person has read; a person is the name of a token.
 */
export const sql = `
  ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
  DROP INDEX sessions_by_age;
  DROP INDEX sessions_by_state;
  CREATE INDEX sessions_by_place ON sessions (pinned, created_at, id);
  CREATE INDEX sessions_by_state ON sessions (state, pinned, created_at, id);
  CREATE TABLE read_marks (
    session TEXT NOT NULL,
    person TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (session, person)
  ) WITHOUT ROWID;
`
