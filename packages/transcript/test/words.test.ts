import { describe, expect, it } from "vitest"
import {
  askWords,
  editOf,
  failureOf,
  limitWords,
  modeName,
  type Row,
  resultText,
  startedWords,
  stillKeptWords,
  type ToolRow,
  Transcript,
  toolHeading,
  visibleLine,
  visibleText,
} from "../src/index.ts"
import { SessionLog } from "./session-log.ts"

function toolOf(name: string, input: Record<string, unknown>, structured?: unknown): ToolRow {
  const log = new SessionLog().call("m", { id: "t", name, input })
  if (structured !== undefined) log.result("t", "ok", { tool_use_result: structured })
  const transcript = new Transcript()
  transcript.fold(log.events)
  const rows = transcript.rows().flatMap((row): readonly Row[] => (row.kind === "activity" ? row.members : [row]))
  const tool = rows.find((row) => row.kind === "tool")
  if (tool === undefined) throw new Error("there is a tool")
  return tool
}

describe("how rows are told", () => {
  it.each([
    ["Bash", { command: "ls -l" }, "$", "ls -l"],
    ["Read", { file_path: "a.ts", offset: 10, limit: 5 }, "Read", "a.ts:10-14"],
    ["Grep", { pattern: "x", path: "src" }, "Search", "x in src"],
    ["Task", { description: "look", subagent_type: "Explore" }, "Agent Explore", "look"],
    [
      "TodoWrite",
      { todos: [{ status: "completed" }, { status: "in_progress", content: "b" }] },
      "Tasks",
      "1 of 2 done, b",
    ],
    ["mcp__db__run_query", { sql: "select 1" }, "db: run_query", "select 1"],
    ["constructor", { odd: 1, name: "first\nsecond" }, "constructor", "first"],
  ])("[TR17] a call of %s is told in one line", (name, input, verb, target) => {
    expect(toolHeading(toolOf(name, input))).toEqual({ verb, target })
  })

  it("[TR17] an edit is told by the file's own difference, else by what the call says", () => {
    const edit = { file_path: "a.ts", old_string: "one\ntwo\nthree", new_string: "one\n2\nthree" }
    const lines = editOf(toolOf("Edit", edit))
    expect(lines).toMatchObject({ path: "a.ts", added: 1, removed: 1, isExact: false })
    expect(lines?.lines.map(({ mark, text }) => mark + text)).toEqual([" one", "-two", "+2", " three"])
    const exact = { structuredPatch: [{ newStart: 7, lines: [" a", "-b", "+c"] }] }
    expect(editOf(toolOf("Edit", edit, exact))).toMatchObject({
      isExact: true,
      lines: [{ mark: "@", text: "line 7" }, {}, {}, {}],
    })
    expect(editOf(toolOf("Bash", { command: "x" }))).toBeUndefined()
  })

  it("[TR17] a request is told by who answered it, also where a rule had asked for a person", () => {
    const ask = { requestId: "q", outcome: "denied", request: {}, askedAt: "", isEdited: false, rule: "first" } as const
    expect(askWords({ ...ask, by: "Ann" })).toBe("Denied by Ann")
    expect(askWords({ ...ask, by: "rule first" })).toBe("Denied by rule first")
    expect(askWords(ask)).toBe("Denied by rule first")
  })

  it("[AK15] a revoked permission that Claude Code keeps is told with its file", () => {
    const there = { machine: "atlas", folder: "/srv/app" }
    expect(stillKeptWords("userSettings", there)).toContain("remove it from ~/.claude/settings.json on atlas.")
    expect(stillKeptWords("projectSettings", there)).toContain("/srv/app/.claude/settings.json on atlas.")
    const unknown = stillKeptWords("localSettings", { machine: undefined, folder: null })
    expect(unknown).toContain(".claude/settings.local.json in the session's folder on its machine.")
    expect(stillKeptWords("session", there)).toContain("until its process ends")
  })

  it("[TR17] a result that holds blocks is told as text", () => {
    const content = [
      { type: "text", text: "a" },
      { type: "image", source: {} },
    ]
    expect(resultText({ isError: false, content, at: "", seq: 1 })).toBe("a\n[image]")
  })

  it("[TR18] colours are taken off, and what could hide or reorder is shown by its number", () => {
    expect(visibleText("\u001b[31mred\u001b[0m\r\nnext\tline")).toBe("red\nnext\tline")
    expect(visibleText("rm \u202e-rf\u200b /\u001b]0;title\u0007")).toBe(
      "rm <U+202E>-rf<U+200B> /<U+001B>]0;title<U+0007>",
    )
    expect(visibleText("\u009b2Jx\r")).toBe("<U+009B>2Jx<U+000D>")
    expect(visibleText("plain · ünï 日本 👩‍👩‍👧")).toBe("plain · ünï 日本 👩‍👩‍👧")
    expect(visibleText("su\u200ddo")).toBe("su<U+200D>do")
    expect(visibleLine(" a\n\n b ")).toBe("a b")
  })

  it("[TR30] modes, failures and limits have the words that people use, whatever the wire calls them", () => {
    expect(["default", "acceptEdits", "bypassPermissions", "later"].map(modeName)).toEqual([
      "Ask",
      "Accept edits",
      "Bypass permissions",
      "later",
    ])
    const base = { key: "k", at: "", seq: 1, headSeq: 1, lastSeq: 1, lane: null } as const
    const started = { ...base, kind: "started", model: "opus", mode: "acceptEdits", cwd: "/srv/app" } as const
    expect(startedWords(started)).toBe("Started · opus · mode Accept edits · /srv/app")
    const changes = [
      { what: "mode", before: "default", after: "plan" },
      { what: "model", after: "haiku" },
    ]
    expect(startedWords({ ...started, changes })).toBe("mode: Ask → Plan · model: none → haiku")
    const limit = { ...base, kind: "limit", status: "rejected", limitType: "five_hour" } as const
    for (const utilization of [1, 100]) {
      expect(limitWords({ ...limit, utilization }, "14:00")).toBe("5-hour limit reached, 100 % used, resets at 14:00")
    }
    expect(failureOf({ code: "unknown", text: "socket hang up" }).next).toBe("Send the message again.")
    for (const code of ["unknown", "invalid_request"]) {
      const { next } = failureOf({ code, text: "API Error: 400 prompt is too long" })
      expect(next).toBe("Send /compact, or start a new session.")
    }
    expect(failureOf({ code: "constructor", text: "" })).toEqual({ what: "The request failed (constructor)." })
  })
})
