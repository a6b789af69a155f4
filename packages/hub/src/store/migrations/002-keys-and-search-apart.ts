/**
 * Parts that made appending expensive are gone from it. Keys are indexed later and in bulk (`event-keys.ts`; events up to
 * `keyed-to` are), and the full-text index is a file of its own, which tells by `identity` whether it belongs to this one.
 */
export const sql = `
  CREATE TABLE event_keys (
    session INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (session, slot, seq)
  ) WITHOUT ROWID;
  INSERT INTO event_keys (session, slot, seq)
    SELECT session, key_slot, seq FROM events WHERE key_slot IS NOT NULL ORDER BY session, key_slot;
  DROP INDEX events_by_key;
  ALTER TABLE events DROP COLUMN key_slot;

  DROP TRIGGER title_added;
  DROP TRIGGER title_changed;
  DROP TABLE title_text;
  DROP TABLE event_text;
  CREATE INDEX sessions_by_title ON sessions (title) WHERE title IS NOT NULL;

  DELETE FROM store_marks WHERE name = 'indexed-to';
  INSERT INTO store_marks (name, value)
    VALUES ('keyed-to', (SELECT coalesce(max(id), 0) FROM events)), ('identity', random() >> 11);
`
