/**
 * `hubs`: those that share the database; one that does not renew `seen_at` is dead. `logs.owner`: the hub that writes the session;
 * whoever takes it over raises `epoch`.
 */
export const sql = `
  CREATE TABLE hubs (
    id uuid PRIMARY KEY,
    url text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    wire integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    sessions integer NOT NULL,
    runners integer NOT NULL,
    viewers integer NOT NULL
  ) WITH (fillfactor = 50);

  ALTER TABLE logs ADD COLUMN owner uuid;
  CREATE INDEX logs_claimed ON logs (owner) WHERE epoch <> 0;
`
