/** The uses of rules with `atMost`, in each session and on each day. */
export const sql = `
  CREATE TABLE rule_uses (
    session TEXT NOT NULL,
    rule TEXT NOT NULL,
    day TEXT NOT NULL,
    uses INTEGER NOT NULL,
    PRIMARY KEY (session, rule, day)
  ) WITHOUT ROWID;
  CREATE INDEX rule_uses_by_day ON rule_uses (day);
`
