/**
 * Judged tool calls that became asks are told apart from those that nobody was asked about. An ask that SQLite cannot read
 * (JSON deeper than 1,000) has no call.
 */
export const sql = `
  ALTER TABLE asks ADD COLUMN tool_use TEXT
    AS (CASE WHEN json_valid(body) THEN json_extract(body, '$.toolUseId') END) VIRTUAL;
  CREATE INDEX asks_by_tool_use ON asks (session, tool_use) WHERE tool_use IS NOT NULL;
`
