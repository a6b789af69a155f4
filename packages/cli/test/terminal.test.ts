import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Ask } from "@signalbox/client"
import { costWords, counted, sumUsd } from "@signalbox/protocol"
import { tellingErrors } from "@signalbox/transcript"
import { describe, expect, it } from "vitest"
import { CHOOSE } from "../src/attach/answering.ts"
import { askPanel } from "../src/attach/ask-panel.ts"
import { identify, isAlive, keepShort, readCard } from "../src/base/process-files.ts"
import { LogReasons } from "../src/sessions/log-reasons.ts"
import { eventLines } from "../src/sessions/show-log.ts"
import { coloursFor } from "../src/terminal/output.ts"
import { tableText } from "../src/terminal/table.ts"
import { ago, cellWidth, inLines, onOneLine } from "../src/terminal/text.ts"
import { whyText } from "../src/terminal/why-text.ts"
import { browserOpener } from "../src/up/greeting.ts"
import { folder } from "./signalbox-process.ts"

const plain = coloursFor({ isTTY: false }, {})
const ASK: Ask = {
  id: "ask_1",
  sessionId: "s",
  seq: 1,
  kind: "tool",
  state: "pending",
  requestId: "r",
  request: {},
  inputHash: "h",
  toolName: "Bash",
  askedAt: "2031-01-31T12:00:00Z",
}

describe("what is shown in a terminal", () => {
  it("[CL13] has colours on a terminal alone, and none where nobody wants them", () => {
    expect(coloursFor({ isTTY: true }, {}).red("x")).toBe("\u001b[31mx\u001b[39m")
    expect(coloursFor({ isTTY: true }, { NO_COLOR: "1" }).red("x")).toBe("x")
    expect(coloursFor({ isTTY: true }, { TERM: "dumb" }).red("x")).toBe("x")
    expect(coloursFor({}, {}).red("x")).toBe("x")
  })

  it("[CL13] lets nothing through that a terminal would act on", () => {
    const hostile = "a\u001b[2Jb\u0007c\u202ed\r\ne\u009b31m\tf"
    expect(onOneLine(hostile)).toBe("a<U+001B>[2Jb<U+0007>c<U+202E>d e f")
    expect(inLines(hostile)).toBe("a<U+001B>[2Jb<U+0007>c<U+202E>d\ne  f")
    expect(onOneLine("npm\u00a0ci r\u034fm", "decision")).toBe("npm<U+00A0>ci r<U+034F>m")
    const event = { seq: 1, at: "2031-01-31T12:00:00Z", from: "agent", message: said(hostile) } as const
    const shown = eventLines(event, plain).join("\n")
    expect(["\u001b", "\u0007", "\u202e", "\u009b"].filter((char) => shown.includes(char))).toEqual([])
  })

  it("[CL13] a table is no wider than its terminal, whatever is in it", () => {
    const rows = [{ text: "short" }, { text: "列が広い".repeat(30) }]
    const columns = [
      { title: "N", text: () => "1" },
      { title: "WHAT", text: (row: { text: string }) => row.text, isWide: true },
      { title: "AGE", text: () => "3m", isRight: true },
    ]
    const lines = tableText(rows, columns, { width: 40 }).trimEnd().split("\n")
    expect(lines[0]).toMatch(/^N {2}WHAT +AGE$/)
    expect(lines[2]).toMatch(/…/)
    expect(tableText(rows, columns, { width: Number.POSITIVE_INFINITY })).toContain(rows[1]?.text)
    const below = () => ["word ".repeat(20).trim()]
    const long = tableText(rows, columns, { width: 40, below }).trimEnd().split("\n")
    expect(long).toHaveLength(9)
    expect(long.slice(2, 5).every((line) => line.startsWith("  word") && cellWidth(line) <= 40)).toBe(true)
  })

  it("[CL65] why a request was decided lets nothing through either, is short, and says nothing where nothing was kept", () => {
    const command = `ls\u202e; rm \u001b[2J${"x".repeat(9_000)}\nls`
    const span = { start: 5, end: command.length - 3 }
    const rules = [{ id: "no\u0007-rm", place: 7 }]
    const why = { rules, field: "command", span, text: "rm", change: "Write it\r\notherwise." }
    const lines = whyText({ reason: "No\u009b31m.", why, input: { command } })
    expect(lines).toEqual([
      "No.",
      expect.stringMatching(/^Rule 7, “no<U\+0007>-rm”: rm <U\+001B>\[2Jx+…$/),
      "Write it otherwise.",
    ])
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(250)
    const red = whyText({ reason: "No.", why, input: {} }, coloursFor({ isTTY: true }, {}))
    expect(red[1]).toBe("Rule 7, “no<U+0007>-rm”: \u001b[33mrm\u001b[39m")
    expect(whyText({ reason: "No.", why: { rules: [], text: "x", change: "y" } })).toEqual(["No.", "This part: x", "y"])
    expect(whyText({ rule: "old" })).toEqual([])
  })

  it("[CL65] a log tells why behind the question, once, whether its ask is known before or after", () => {
    const why = { rules: [], change: "Add a rule." }
    const ask = (seq: number) => ({ ...ASK, seq, reason: `No. ${seq}`, why })
    const message = { type: "control_request", request: {} }
    const asks = (seq: number) => ({ seq, at: ASK.askedAt, from: "agent", message }) as const
    const reasons = new LogReasons([ask(3)], plain)
    const told = (lines: readonly string[]) => lines.map((line) => line.slice(9))
    expect(told(reasons.ofEvent(asks(3)))).toEqual(["why: No. 3", "Add a rule."])
    expect(reasons.ofAsk(ask(5))).toEqual([])
    expect(told(reasons.ofEvent(asks(5)))).toEqual(["why: No. 5", "Add a rule."])
    expect(reasons.ofEvent(asks(6))).toEqual([])
    expect(told(reasons.ofAsk(ask(6)))).toEqual(["why: No. 6", "Add a rule."])
    expect(reasons.ofAsk({ ...ask(6), state: "denied" })).toEqual([])
    expect(reasons.ofEvent({ ...asks(5), from: "client" })).toEqual([])
  })

  it("[AT13] the question marks the part of the command that decided, line by line, and says why below it", () => {
    const command = "cd x && git push\\\n  origin; ls"
    const why = {
      rules: [{ id: "push", place: 1 }],
      field: "command",
      span: { start: 8, end: 26 },
      change: "Change it.",
    }
    const colours = coloursFor({ isTTY: true }, {})
    const panel = { cwd: "/srv", plan: undefined, count: 1, answering: CHOOSE, isFocused: true, from: 0, height: 20 }
    const drawn = (width: number, input: object = { command }) =>
      askPanel({ ...panel, ask: { ...ASK, reason: "Ask.", why, input: { ...input } } }, { width, colours })
    const { lines } = drawn(60)
    const body = lines.slice(1, -1).map((line) => line.slice(line.indexOf("│")).replace(/^│\S* /, ""))
    expect(body).toEqual([
      "$ cd x && \u001b[33mgit push\\\u001b[39m",
      "\u001b[33m  origin\u001b[39m; ls",
      colours.dim("Ask."),
      colours.dim(`Rule 1, “push”: ${colours.yellow("git push\\ origin")}`),
      colours.dim("Change it."),
    ])
    for (const line of drawn(14).lines) expect(cellWidth(line)).toBeLessThanOrEqual(14)
    const request = { decision_reason: "Hook: Ask." }
    const repeated = { ...panel, ask: { ...ASK, reason: "Ask.", why, input: { command }, request } }
    expect(askPanel(repeated, { width: 60, colours }).lines).toEqual(lines)
    expect(drawn(60, { command: "git push" }).lines.join("")).not.toContain("\u001b[33mgit")
  })

  it("[CL9] an event is told in words: what was said, called, asked and how it ended", () => {
    const at = "2031-01-31T12:00:00Z"
    const told = (message: { type: string } & Record<string, unknown>, from: "agent" | "client" | "hub" = "agent") =>
      eventLines({ seq: 1, at, from, by: "ada", message }, plain).map((line) => line.slice(9))
    expect(told({ type: "user", message: { content: "hi\nthere" } }, "client")).toEqual(["ada: hi", "there"])
    const call = { type: "tool_use", name: "Bash", input: { command: "ls  -l" } }
    expect(told({ type: "assistant", message: { content: [{ type: "text", text: "ok" }, call] } })).toEqual([
      "claude: ok",
      "tool: Bash ls -l",
    ])
    const result = { type: "tool_result", content: [{ type: "text", text: "total 0" }] }
    expect(told({ type: "user", message: { content: [result] } })).toEqual(["gives: total 0"])
    const success = { type: "result", subtype: "success", duration_ms: 1500, total_cost_usd: 0.01 }
    expect(told(success)).toEqual(["turn: done after 1.5 s, $0.01 in total"])
    expect(told({ type: "result", subtype: "error_max_turns" })).toEqual(["turn: failed (error_max_turns)"])
    expect(told({ ...success, is_error: true })).toEqual(["turn: failed after 1.5 s, $0.01 in total"])
    const signedOut = {
      type: "result",
      subtype: "success",
      is_error: true,
      result: "Not logged in · Please run /login",
    }
    expect(told(signedOut)).toEqual(["turn: failed (not signed in: run claude on its machine, then /login)"])
    const act = (request: object) => told({ type: "control_request", request }, "client")
    expect(act({ subtype: "set_max_thinking_tokens", max_thinking_tokens: 0 })).toEqual(["ada set: No thinking"])
    expect(act({ subtype: "mcp_set_servers", servers: ["docs"] })).toEqual(["ada set the MCP servers: docs"])
    expect(told({ type: "system", subtype: "init" })).toEqual([])
    expect(told({ type: "of_tomorrow" })).toEqual([])
  })
})

describe("what is shown to people", () => {
  it("[CL56] questions and answers are words, not JSON", () => {
    const told = (message: { type: string } & Record<string, unknown>, from: "agent" | "client" = "agent") =>
      eventLines({ seq: 1, at: "2031-01-31T12:00:00Z", from, by: "ada", message }, plain).map((line) => line.slice(9))
    const questions = [{ question: "Which colour?", options: [{ label: "Red" }] }, { question: "Which size?" }]
    const call = { type: "tool_use", name: "AskUserQuestion", input: { questions } }
    expect(told({ type: "assistant", message: { content: [call] } })).toEqual(["tool: Which colour? / Which size?"])
    const request = { subtype: "can_use_tool", tool_name: "AskUserQuestion", input: { questions } }
    expect(told({ type: "control_request", request })).toEqual(["asks: Which colour? / Which size?"])
    const updatedInput = { questions, answers: { "Which colour?": "Red", "Which size?": "L" } }
    const response = { response: { behavior: "allow", updatedInput } }
    expect(told({ type: "control_response", response }, "client")).toEqual(["ada answered: Red / L"])
  })

  it("[CL56] sums of money have no dust, counts their plural, and diagnostics are left out", () => {
    expect([0.1 + 0.2 === 0.3, sumUsd(0.1, 0.2)]).toEqual([false, 0.3])
    expect(sumUsd(...Array.from({ length: 1_000 }, () => 0.1))).toBe(100)
    expect([costWords(0.0021), costWords(1.2), costWords(0)]).toEqual(["<$0.01", "$1.20", "$0.00"])
    expect([counted(1, "task"), counted(2, "task"), counted(1, "try", "tries"), counted(0, "try", "tries")]).toEqual([
      "1 task",
      "2 tasks",
      "1 try",
      "0 tries",
    ])
    expect(tellingErrors(["[ede_diagnostic] result_type=user", "overloaded", 7])).toEqual(["overloaded"])
  })
})

describe("small parts", () => {
  it("[CL15] a process is known by more than its number", () => {
    const own = identify(process.pid)
    expect(isAlive(own)).toBe(true)
    expect(isAlive({ ...own, began: "another time" })).toBe(false)
    expect(isAlive({ pid: 2 ** 22 + 1 })).toBe(false)
    const file = join(folder(), "card.json")
    writeFileSync(file, '{"pid":"12"')
    expect(readCard(file)).toBeUndefined()
  })

  it("[CL14] the log of a runner that lives for long is kept short", () => {
    const file = join(folder(), "runner.log")
    writeFileSync(file, "x".repeat(100))
    keepShort(file, { maxBytes: 100 })()
    expect(existsSync(`${file}.1`)).toBe(false)
    appendFileSync(file, "y")
    keepShort(file, { maxBytes: 100 })()
    expect([readFileSync(file, "utf8"), readFileSync(`${file}.1`, "utf8").length]).toEqual(["", 101])
  })

  it("[CL7] a browser is opened only where somebody sees it", () => {
    expect(browserOpener({ DISPLAY: ":0" }, "linux")).toEqual(["xdg-open"])
    expect(browserOpener({}, "darwin")).toEqual(["open"])
    expect(browserOpener({}, "linux")).toBeUndefined()
    expect(browserOpener({ DISPLAY: ":0", SSH_CONNECTION: "x" }, "linux")).toBeUndefined()
    expect(browserOpener({ CI: "true" }, "darwin")).toBeUndefined()
  })

  it("tells how long ago in the largest unit that fits", () => {
    const now = Date.parse("2031-01-31T12:00:00Z")
    const told = [0, 59, 60, 3_600, 200_000].map((seconds) => ago(new Date(now - seconds * 1000).toISOString(), now))
    expect(told).toEqual(["now", "59s", "1m", "1h", "2d"])
  })
})

function said(text: string) {
  return { type: "assistant", message: { content: [{ type: "text", text }] } }
}
