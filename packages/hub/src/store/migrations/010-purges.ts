/**
 * Sessions that are being purged. `purges`: what is left of them beside their events; `part` and `after` say how far it has come.
 * `purged_logs`: the numbers of their events, which no session has any more; `is_empty` when the events are deleted and only the
 * search index has to forget them. The session '' has the event that holds the last number of all where that was a purged one's:
 * the search index knows that number, so no other event may get it. `purged-events`: how many of all numbers are gone.
 */
export const sql = `
  CREATE TABLE purges (
    session TEXT PRIMARY KEY,
    part TEXT NOT NULL,
    after NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE purged_logs (
    number INTEGER PRIMARY KEY,
    is_empty INTEGER NOT NULL DEFAULT 0
  );
  INSERT INTO log_sessions (name) VALUES ('');
  INSERT INTO store_marks (name, value) VALUES ('purged-events', 0);
`
