/**
 * An answer is undelivered until the agent has acted on it, so there may be many that were on the wire: they are found by their session,
 * and those that were not on the wire apart from them.
 */
export const sql = `
  DROP INDEX asks_undelivered;
  CREATE INDEX asks_unheard ON asks (session, number) WHERE undelivered = 1;
  CREATE INDEX asks_unsent ON asks (session) WHERE undelivered = 1 AND delivered_at IS NULL;
`
