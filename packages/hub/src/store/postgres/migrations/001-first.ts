/**
 * Text goes through `stored-text.js`, so that it may have NUL and lone surrogates in it; JSON is kept as text for the same reason.
 * Everything that is compared or sorted is so by its bytes (COLLATE "C"), whatever the database's own order is.
 *
 * `writers`: a hub that writes, and the number of its last transaction: whether one whose commit was not answered is in.
 * `logs`: one row for each session's log. `last_seq` is raised by whoever appends, under `epoch`. A purged log has no name; its events
 * are gone up to `deleted_to`, and `is_empty` when all are and only the search index has to forget it.
 * `sessions`: `own` is without its `initializeReply` where that is in `reply`: it is long, stays as it is, and the rest changes with every line.
 * `events`: `id` tells the order of all events; `key_id` is the start of the SHA-256 of the key; `bytes` is the length of the line as UTF-8.
 */
export const sql = `
  CREATE TABLE writers (
    id uuid PRIMARY KEY,
    last_commit bigint NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50);

  CREATE TABLE logs (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" UNIQUE,
    epoch integer NOT NULL DEFAULT 0,
    last_seq integer NOT NULL DEFAULT 0,
    deleted_to integer NOT NULL DEFAULT 0,
    is_empty boolean NOT NULL DEFAULT false
  ) WITH (fillfactor = 70);
  CREATE INDEX logs_purged ON logs (number) WHERE name IS NULL;

  CREATE TABLE events (
    id bigint GENERATED ALWAYS AS IDENTITY,
    log integer NOT NULL,
    seq integer NOT NULL,
    at bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,
    by text COLLATE "C",
    key text COLLATE "C",
    key_id uuid,
    bytes integer NOT NULL,
    line text COLLATE "C" NOT NULL,
    PRIMARY KEY (log, seq)
  );
  CREATE UNIQUE INDEX events_by_key ON events (log, key_id) WHERE key_id IS NOT NULL;

  CREATE TABLE sessions (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    title text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    pinned boolean NOT NULL,
    runner text COLLATE "C",
    agent_session text COLLATE "C",
    request_key text COLLATE "C",
    next text COLLATE "C",
    last_uuid text COLLATE "C",
    at_rest boolean NOT NULL,
    words text COLLATE "C" NOT NULL,
    record text COLLATE "C" NOT NULL,
    own text COLLATE "C" NOT NULL,
    reply text COLLATE "C"
  ) WITH (fillfactor = 70);
  CREATE INDEX sessions_by_place ON sessions (pinned, created_at, id);
  CREATE INDEX sessions_by_state ON sessions (state, pinned, created_at, id);
  CREATE INDEX sessions_by_title ON sessions (md5(title)) WHERE title IS NOT NULL;
  CREATE INDEX sessions_by_runner ON sessions (runner) WHERE runner IS NOT NULL;
  CREATE INDEX sessions_by_agent_session ON sessions (md5(agent_session)) WHERE agent_session IS NOT NULL;
  CREATE INDEX sessions_by_request_key ON sessions (md5(request_key)) WHERE request_key IS NOT NULL;
  CREATE INDEX sessions_by_next ON sessions (next) WHERE next IS NOT NULL;
  CREATE INDEX sessions_by_last_uuid ON sessions (md5(last_uuid)) WHERE last_uuid IS NOT NULL;
  CREATE INDEX sessions_awake ON sessions (number) WHERE NOT at_rest;

  CREATE TABLE asks (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    session text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    undelivered boolean NOT NULL,
    delivered_at text COLLATE "C",
    tool_use text COLLATE "C",
    body text COLLATE "C" NOT NULL
  );
  CREATE INDEX asks_by_session ON asks (session, number);
  CREATE INDEX asks_by_state ON asks (state, number);
  CREATE INDEX asks_pending ON asks (session, number) WHERE state = 'pending';
  CREATE INDEX asks_undelivered ON asks (number) WHERE undelivered;
  CREATE INDEX asks_by_tool_use ON asks (session, md5(tool_use)) WHERE tool_use IS NOT NULL;

  CREATE TABLE seen_calls (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text COLLATE "C" NOT NULL,
    tool_use text COLLATE "C" NOT NULL,
    seq integer,
    at text COLLATE "C" NOT NULL,
    effect text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL
  );
  CREATE UNIQUE INDEX seen_calls_by_tool_use ON seen_calls (session, md5(tool_use));
  CREATE INDEX seen_calls_by_session ON seen_calls (session, number);
  CREATE INDEX seen_calls_by_seq ON seen_calls (session, seq);

  CREATE TABLE messages (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text COLLATE "C" NOT NULL,
    uuid text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    state text COLLATE "C" NOT NULL,
    incarnation text COLLATE "C",
    line text COLLATE "C" NOT NULL,
    by text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL
  );
  CREATE UNIQUE INDEX messages_by_uuid ON messages (session, md5(uuid));
  CREATE INDEX messages_open ON messages (session, seq, number) WHERE state IN ('waiting', 'sent');

  CREATE TABLE read_marks (
    session text COLLATE "C" NOT NULL,
    person text COLLATE "C" NOT NULL,
    seq integer NOT NULL
  );
  CREATE UNIQUE INDEX read_marks_by_person ON read_marks (session, md5(person));

  CREATE TABLE tokens (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    hash text COLLATE "C" NOT NULL UNIQUE,
    session text COLLATE "C",
    role text COLLATE "C" NOT NULL,
    expires_at text COLLATE "C",
    revoked_at text COLLATE "C",
    body text COLLATE "C" NOT NULL
  );
  CREATE INDEX tokens_by_session ON tokens (session, number) WHERE session IS NOT NULL;
  CREATE INDEX tokens_usable ON tokens (number) WHERE revoked_at IS NULL AND role <> 'agent';

  CREATE TABLE grants (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    session text COLLATE "C" NOT NULL,
    place text COLLATE "C" NOT NULL,
    revoked_at text COLLATE "C",
    revoked_by text COLLATE "C",
    body text COLLATE "C" NOT NULL
  );
  CREATE INDEX grants_by_session ON grants (session, number);

  CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at text COLLATE "C" NOT NULL,
    what text COLLATE "C" NOT NULL,
    by text COLLATE "C",
    session text COLLATE "C",
    rule text COLLATE "C",
    tool text COLLATE "C",
    runner text COLLATE "C",
    body text COLLATE "C" NOT NULL
  );
  CREATE INDEX audit_by_session ON audit (session, id) WHERE session IS NOT NULL;
  CREATE INDEX audit_by_time ON audit (at, id);

  CREATE TABLE policies (
    version integer PRIMARY KEY,
    about text COLLATE "C" NOT NULL,
    policy text COLLATE "C" NOT NULL
  );

  CREATE TABLE rule_uses (
    session text COLLATE "C" NOT NULL,
    rule text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    uses integer NOT NULL
  );
  CREATE UNIQUE INDEX rule_uses_by_session ON rule_uses (session, md5(rule), day);
  CREATE INDEX rule_uses_by_day ON rule_uses (day);

  CREATE TABLE documents (
    name text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL
  );

  CREATE TABLE purges (
    session text COLLATE "C" PRIMARY KEY,
    part text COLLATE "C" NOT NULL,
    after bigint NOT NULL,
    runner text COLLATE "C"
  );
`
