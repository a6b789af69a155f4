/** Keys of launches that are under way, of hubs that share the database: each is one hub's to start. */
export const sql = `
  CREATE TABLE request_keys (
    key text COLLATE "C" PRIMARY KEY,
    hub uuid NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now()
  );
`
