/** Runners of hubs that share the database. `hub`: where the control connection is; `epoch` tells a later connection from those before. */
export const sql = `
  CREATE TABLE runners (
    id text COLLATE "C" PRIMARY KEY,
    hub uuid,
    epoch integer NOT NULL,
    draining boolean NOT NULL,
    body text COLLATE "C" NOT NULL
  ) WITH (fillfactor = 50);
`
