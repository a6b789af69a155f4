/** The machine of a session that is being purged: records of the audit that name none get it. */
export const sql = `
  ALTER TABLE purges ADD COLUMN runner TEXT;
`
