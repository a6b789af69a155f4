import { expect, it } from "vitest"
import { AUDIT_CSV_HEAD, auditCsvLine } from "../src/hub-api/index.ts"

it("[BT13] an audit record is a line of CSV, and nothing in it is a formula", () => {
  expect(AUDIT_CSV_HEAD).toBe("id,at,what,by,via,rule,tool,session,ask,details\r\n")
  const record = {
    id: 7,
    at: "2030-01-01T00:00:00.000Z",
    what: "ask/allowed",
    by: '=HYPERLINK("x")',
    via: null,
    sessionId: "s",
    askId: null,
    details: { rule: "-1", toolName: "Ba,sh", input: { command: 'echo "a"\nb' } },
  }
  const line = auditCsvLine(record)
  expect(line).toBe(
    `7,2030-01-01T00:00:00.000Z,ask/allowed,"'=HYPERLINK(""x"")",,'-1,"Ba,sh",s,,"${JSON.stringify(record.details).replaceAll('"', '""')}"\r\n`,
  )
})

it("[BT13] nothing in a line of CSV moves a terminal's cursor or cannot be seen", () => {
  const hostile = "\u001b]0;x\u0007\u202e\u{e0041}\r\n\t=1"
  const record = {
    id: 1,
    at: "",
    what: "x",
    by: hostile,
    via: null,
    sessionId: null,
    askId: null,
    details: { hostile },
  }
  const line = auditCsvLine(record)
  expect(line.slice(0, -2)).not.toMatch(/(?![\t\n])[\p{Cc}\p{Cf}]/u)
  expect(line).toContain("\\u001b]0;x\\u0007\\u202e\\udb40\\udc41\\u000d\n\t=1")
  expect(auditCsvLine({ ...record, by: "\t=1" })).toContain("'\t=1")
  const details = /"(\{.*\})"/.exec(line)?.[1] ?? ""
  expect(JSON.parse(details.replaceAll('""', '"'))).toEqual({ hostile })
})
