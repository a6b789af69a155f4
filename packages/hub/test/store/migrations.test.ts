import { writeFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { AskReader, askPage, auditPage } from "../../src/asks/whole-ask.ts"
import type { Ask } from "../../src/model/ask.ts"
import { openDatabase } from "../../src/store/database.ts"
import type { NewAuditRecord } from "../../src/store/directory.ts"
import { keySlot } from "../../src/store/key-slot.ts"
import { sql as first } from "../../src/store/migrations/001-first.ts"
import { sql as keysAndSearchApart } from "../../src/store/migrations/002-keys-and-search-apart.ts"
import { sql as asksReferToEvents } from "../../src/store/migrations/003-asks-refer-to-events.ts"
import { sql as rowsByTheirKeys } from "../../src/store/migrations/004-rows-by-their-keys.ts"
import { sql as seenCalls } from "../../src/store/migrations/005-seen-calls.ts"
import { sql as policyVersions } from "../../src/store/migrations/006-policy-versions-and-audit-columns.ts"
import { migrate } from "../../src/store/migrations/index.ts"
import { MOVED_TABLES } from "../../src/store/move/moved-tables.ts"
import { openStore } from "../../src/store/open-store.ts"
import { allowed, pendingAsk } from "../../src/testing/records.ts"
import { entriesOf } from "../clients/stage.ts"
import { withFile } from "./store-folder.ts"

const AT = "2030-01-01T00:00:00.000Z"

/** Deeper than SQLite reads JSON. */
function nested(depth: number): Record<string, unknown> {
  let value: Record<string, unknown> = { end: true }
  for (let level = 0; level < depth; level++) value = { in: value }
  return value
}

/** Rows as the version before wrote them, each with its event, if the log has that. */
const OLD_ASKS = [
  oldAsk("0", { event: "same", answer: { behavior: "allow" } }),
  oldAsk("1", { event: "same", answer: { behavior: "allow", updatedInput: { command: "echo changed" } } }),
  oldAsk("2", { event: "same", answer: { behavior: "deny", message: "no" } }),
  oldAsk("3", { event: "other", answer: { behavior: "allow" } }),
  oldAsk("4", { event: "none", answer: { behavior: "allow" } }),
  oldAsk("5", { event: "same", answer: { behavior: "allow" }, input: { deep: nested(1_200) } }),
]

interface OldAsk {
  readonly event: "same" | "other" | "none"
  readonly answer: Record<string, unknown>
  readonly input?: Record<string, unknown>
}

function oldAsk(id: string, { event, answer, input = { command: `echo "\u0000 é \ud800" ${id}`, n: 1.5 } }: OldAsk) {
  const permission_suggestions = [{ type: "setMode" }]
  const request = { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: "t", input, permission_suggestions }
  const said = event === "other" ? { ...request, input: { command: "another one's" } } : request
  const line = JSON.stringify({ type: "control_request", request_id: id, request: said })
  const whole = answer["behavior"] === "allow" ? { updatedInput: input, ...answer } : answer
  const state = answer["behavior"] === "allow" ? "allowed" : "denied"
  const ask: Ask = {
    id,
    sessionId: "s",
    seq: Number(id) + 1,
    kind: "tool",
    state,
    requestId: id,
    request,
    inputHash: `hash ${id}`,
    toolName: "Bash",
    input,
    suggestions: permission_suggestions,
    askedAt: AT,
    settledAt: AT,
    settledBy: "ann",
    via: "person",
    answer: whole,
    incarnation: "p1",
    ...(Number(id) % 2 === 0 ? { deliveredAt: AT } : {}),
  }
  const details = {
    kind: "tool",
    toolName: "Bash",
    inputHash: ask.inputHash,
    input,
    answer: whole,
    rule: null,
    waitedMs: 0,
  }
  const audit: NewAuditRecord = {
    at: AT,
    what: `ask/${state}`,
    by: "ann",
    via: "person",
    sessionId: "s",
    askId: id,
    details,
  }
  return { event: event === "none" ? undefined : line, ask, audit }
}

describe("migrations", () => {
  it("[JL8] a file is brought up to date a step at a time, each once", () =>
    withFile(async (file) => {
      const steps = ["CREATE TABLE one (a)", "INSERT INTO one VALUES (1)", "INSERT INTO one VALUES (2)"]
      const database = openDatabase(file)
      migrate(database, steps.slice(0, 2))
      migrate(database, steps)
      migrate(database, steps)
      expect(database.all("SELECT a FROM one", [])).toEqual([[1], [2]])
      database.close()
    }))

  it("[JL8] a file of the first version keeps its events, their keys and its titles", () =>
    withFile(async (file) => {
      const old = openDatabase(file)
      migrate(old, [first])
      old.exec("INSERT INTO log_sessions (id, name) VALUES (1, 's')")
      const line = '{"type":"user","message":{"content":"an old lamp"}}'
      old.run("INSERT INTO events VALUES (1, 1, 1, 5, 'agent', NULL, 'a', ?, ?)", [keySlot("a"), line])
      old.run("INSERT INTO sessions VALUES (1, 's', 'Lamps', '2030-01-01T00:00:00.000Z', '{}', '{}')", [])
      old.close()
      const store = openStore({ file })
      expect(await store.log.find("s", "a")).toEqual({ seq: 1, at: 5, from: "agent", key: "a", line })
      const again = await store.log.append("s", [{ at: 6, from: "agent", key: "a", line }])
      expect(again).toEqual({ stored: [], lastSeq: 1 })
      await store.search.caughtUp()
      const { hits } = await store.search.search({ q: "lamp", limit: 5 })
      expect(hits.map(({ seq, field }) => `${seq} ${field}`)).toEqual(["0 title", "1 text"])
      await store.close()
    }))

  it("[JL8] an old ask and its audit record lose what their event says, and nothing else", () =>
    withFile(async (file) => {
      const old = openDatabase(file)
      migrate(old, [first, keysAndSearchApart])
      old.exec("INSERT INTO log_sessions (id, name) VALUES (1, 's')")
      for (const [index, { event, ask, audit }] of OLD_ASKS.entries()) {
        if (event !== undefined) {
          old.run("INSERT INTO events VALUES (NULL, 1, ?, 5, 'agent', NULL, NULL, ?)", [index + 1, event])
        }
        const { id, state } = ask
        old.run("INSERT INTO asks VALUES (NULL, ?, 's', ?, ?, ?)", [id, state, index % 2, JSON.stringify(ask)])
        old.run("INSERT INTO audit VALUES (NULL, 's', ?)", [JSON.stringify(audit)])
      }
      old.close()
      const store = openStore({ file })
      const reader = new AskReader(store.log)
      const records = await store.directory.listAsks({})
      expect(records.map((record) => "request" in record)).toEqual([false, false, false, true, true, true])
      expect(await entriesOf(askPage(reader, { records, limit: 10 }))).toEqual(OLD_ASKS.map(({ ask }) => ask))
      const kept = await store.directory.listAudit({ after: 0, limit: 10 })
      expect(kept.map(({ details }) => "input" in details)).toEqual([false, false, false, true, true, true])
      const audit = await entriesOf(auditPage({ directory: store.directory, reader }, { records: kept, limit: 10 }))
      // An input that comes from the event says which one.
      const from = (index: number) => (index < 3 ? { seq: index + 1 } : {})
      const told = OLD_ASKS.map(({ audit: { details, ...rest } }, index) => ({
        ...rest,
        details: { ...details, ...from(index) },
        id: index + 1,
      }))
      expect(audit).toEqual(told)
      expect((await store.directory.listAsks({ unheard: true })).map(({ id }) => id)).toEqual(["1", "3", "5"])
      await store.close()
    }))

  it("[PQ14] every table and column that a step adds is moved to PostgreSQL, or is named here as made anew there", () =>
    withFile(async (file) => {
      const madeAnew = new Set(["store_marks", "event_keys", "event_blocks", "purges", "purged_logs"])
      // SQLite computes the one from the body; the other says how far a log is compressed.
      const madeHere = ["asks.tool_use", "log_sessions.cold_to"]
      const database = openDatabase(file)
      migrate(database)
      const found = database
        .all("SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'", [])
        .filter(([table]) => !madeAnew.has(String(table)) && !String(table).startsWith("sqlite_"))
        .map((names) => names.map(String).join("."))
      database.close()
      const moved = MOVED_TABLES.flatMap(({ columns, toSqlite }) => {
        const { table, row } = toSqlite(Object.fromEntries(columns.map(([column]) => [column, "{}"])))
        return Object.keys(row).map((column) => `${table}.${column}`)
      })
      const isMoved = new Set([...moved, ...madeHere, "events.session"])
      expect(found.length).toBeGreaterThan(50)
      expect(found.filter((column) => !isMoved.has(column))).toEqual([])
    }))

  it("[JL8] a step that fails leaves the file as it was before it", () =>
    withFile(async (file) => {
      const database = openDatabase(file)
      const steps = ["CREATE TABLE one (a)", "INSERT INTO one VALUES (1); INSERT INTO nowhere VALUES (1)"]
      expect(() => migrate(database, steps)).toThrow(expect.objectContaining({ code: "store/failed" }))
      expect(database.all("SELECT a FROM one", [])).toEqual([])
      expect(database.get("PRAGMA user_version", [])).toEqual([1])
      database.close()
    }))

  it("[JL8] a file from a newer version is refused, with what to do, and left alone", () =>
    withFile(async (file) => {
      await openStore({ file }).close()
      const newer = openDatabase(file)
      newer.exec("PRAGMA user_version = 999")
      newer.close()
      expect(() => openStore({ file })).toThrow(/newer version of Signalbox.*Start that version/)
    }))

  it("[JL8] a file that is no database, or in no folder, is refused with store/failed", () =>
    withFile(async (file) => {
      await writeFile(file, "not a database ".repeat(500))
      expect(() => openStore({ file })).toThrow(expect.objectContaining({ code: "store/failed" }))
      expect(() => openStore({ file: `${file}-folder/hub.db` })).toThrow(
        expect.objectContaining({ code: "store/failed" }),
      )
    }))

  it("[JL8] policies of older hubs become versions, and their audit records can be filtered", () =>
    withFile(async (file) => {
      const old = openDatabase(file)
      migrate(old, [first, keysAndSearchApart, asksReferToEvents, rowsByTheirKeys])
      const changed = (after: unknown, by: string) => {
        const details = { before: { rules: [] }, after }
        const record = { at: AT, what: "policy/changed", by, via: "person", sessionId: null, askId: null, details }
        old.run("INSERT INTO audit (session, body) VALUES (NULL, ?)", [JSON.stringify(record)])
      }
      const one = { rules: [{ id: "one", effect: "deny" }], relayAutoApproval: false }
      changed(one, "ann")
      changed({ ...one, rules: [] }, "bob")
      old.run("INSERT INTO audit (session, body) VALUES ('s', ?)", [
        `{"what":${"[".repeat(1_200)}${"]".repeat(1_200)}}`,
      ])
      old.run("INSERT INTO documents VALUES ('policy', ?)", [JSON.stringify(one)])
      old.close()
      const store = openStore({ file })
      const versions = await store.directory.listPolicies({ limit: 9 })
      const none = { added: [], removed: [], changed: [], settings: [] }
      expect(versions).toMatchObject([
        { version: 3, by: null, rules: 1 },
        { version: 2, by: "bob", rules: 0 },
        { version: 1, by: "ann", rules: 1, at: AT, changes: none },
      ])
      expect((await store.directory.getPolicy())?.policy).toEqual(one)
      expect(await store.directory.getDocument("policy")).toBeUndefined()
      expect(await store.directory.listAudit({ by: "bob", after: 0, limit: 9 })).toMatchObject([{ id: 2, by: "bob" }])
      expect(await store.directory.listAudit({ after: 2, limit: 9 })).toHaveLength(1)
      await store.close()
    }))

  it("[JL8] asks of older hubs are found by their tool call, if they tell it", () =>
    withFile(async (file) => {
      const old = openDatabase(file)
      migrate(old, [first, keysAndSearchApart, asksReferToEvents, rowsByTheirKeys, seenCalls, policyVersions])
      const add = (id: string, body: object) =>
        old.run("INSERT INTO asks (id, session, state, undelivered, body) VALUES (?, 's', 'denied', 0, ?)", [
          id,
          JSON.stringify(body),
        ])
      add("0", pendingAsk("0", { toolUseId: "t0" }))
      add("1", pendingAsk("1"))
      add("2", { toolUseId: "t2", deep: nested(1_200) })
      old.close()
      const store = openStore({ file })
      await store.directory.addAsk(pendingAsk("3", { toolUseId: "t3" }))
      await store.directory.settleAsk("3", "pending", allowed(pendingAsk("3", { toolUseId: "t3" }), "ann"))
      expect(await store.directory.listAsks({})).toHaveLength(4)
      await store.close()
      const kept = openDatabase(file)
      const asked = "SELECT id FROM asks INDEXED BY asks_by_tool_use WHERE session = 's' AND tool_use = ?"
      expect(["t0", "t2", "t3"].map((call) => kept.all(asked, [call]))).toEqual([[["0"]], [], [["3"]]])
      kept.close()
    }))
})
