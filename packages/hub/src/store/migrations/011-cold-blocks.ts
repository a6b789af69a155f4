/**
 * Lines of cold sessions are compressed in blocks. The row of such an event stays where it is, with its id, number, time and key;
 * its `line` is an integer, the line's length in bytes, and the text is in the block of its session with the greatest `first_seq`
 * up to its number. `cold_to`: events up to it are in a block or stay as they are. A block's id is never given twice, so a
 * decoded one can be kept by it. The marks add up what all blocks hold, before and after compression.
 */
export const sql = `
  ALTER TABLE log_sessions ADD COLUMN cold_to INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE event_blocks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    raw_bytes INTEGER NOT NULL,
    body BLOB NOT NULL
  );
  CREATE UNIQUE INDEX event_blocks_by_seq ON event_blocks (session, first_seq);

  INSERT INTO store_marks (name, value) VALUES ('cold-bytes', 0), ('block-bytes', 0);
  CREATE TRIGGER event_block_added AFTER INSERT ON event_blocks BEGIN
    UPDATE store_marks SET value = value + new.raw_bytes WHERE name = 'cold-bytes';
    UPDATE store_marks SET value = value + octet_length(new.body) WHERE name = 'block-bytes';
  END;
  CREATE TRIGGER event_block_dropped AFTER DELETE ON event_blocks BEGIN
    UPDATE store_marks SET value = value - old.raw_bytes WHERE name = 'cold-bytes';
    UPDATE store_marks SET value = value - octet_length(old.body) WHERE name = 'block-bytes';
  END;
`
