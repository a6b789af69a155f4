import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fuzzCases } from "../../../test/gate.ts"
import { Transcript, type TranscriptEvent } from "../src/index.ts"
import { SessionLog } from "./session-log.ts"

const TOOLS = ["Read", "Grep", "Bash", "Task", "Edit"]

/** Steps that a session's log is made of; numbers pick what they are about, so that any list of steps is a log. */
const steps: readonly ((log: SessionLog, pick: number) => unknown)[] = [
  (log, n) => log.prompt(`p${n}`, { uuid: `m${n}` }),
  (log, n) => log.add({ type: "user", uuid: `m${n}`, isReplay: true, message: { role: "user", content: "p" } }),
  (log, n) => log.text(`a${n}`, "text", n % 3 === 0 ? { parent_tool_use_id: `t${n}` } : {}),
  (log, n) => log.says(`a${n}`, { type: "thinking", thinking: "hm" }),
  (log, n) =>
    log.call(`a${n % 5}`, { id: `t${log.events.length}`, name: TOOLS[n % 5] ?? "Bash", input: { file_path: `f${n}` } }),
  (log, n) =>
    log.call(
      `s${n % 5}`,
      { id: `t${log.events.length}`, name: TOOLS[n % 5] ?? "Bash" },
      { parent_tool_use_id: `t${n}` },
    ),
  (log, n) => log.result(`t${n}`, "out", { is_error: n % 4 === 0 }),
  (log, n) => log.asks(`r${log.events.length}`, { id: `t${n}`, name: "Bash" }),
  (log, n) => log.answer(`r${n}`, { behavior: n % 2 === 0 ? "allow" : "deny" }),
  (log, n) => log.init(n % 3 === 0 ? { model: "haiku" } : {}),
  (log, n) =>
    log.ends({ total_cost_usd: n / 10, subtype: n % 4 === 0 ? "error_during_execution" : "success", result: "text" }),
  (log) => log.add({ type: "control_request", request: { subtype: "interrupt" } }, { from: "client", by: "ops" }),
  (log, n) =>
    log.system("task_started", {
      task_id: `k${n % 4}`,
      tool_use_id: `t${n}`,
      description: "d",
      is_backgrounded: n % 2 === 0,
    }),
  (log, n) =>
    log.system("task_progress", { task_id: `k${n % 4}`, usage: { total_tokens: n, tool_uses: 1, duration_ms: 1 } }),
  (log, n) => log.system("task_notification", { task_id: `k${n % 4}`, status: "completed", summary: "s" }),
  (log, n) => log.system("hook_started", { hook_id: `h${n}`, hook_name: "lint", hook_event: "PreToolUse" }),
  (log, n) =>
    log.system("hook_response", { hook_id: `h${n}`, hook_name: "lint", hook_event: "PreToolUse", outcome: "success" }),
  (log, n) => log.system("api_retry", { attempt: n, error: "overloaded" }),
  (log, n) => log.system("permission_denied", { tool_use_id: `t${n}`, message: "no" }),
  (log, n) =>
    log.add({
      type: "rate_limit_event",
      uuid: log.uuid(),
      rate_limit_info: { status: n % 2 === 0 ? "allowed" : "rejected" },
    }),
  (log, n) =>
    log.add({ type: "tool_use_summary", uuid: log.uuid(), summary: `s${n}`, preceding_tool_use_ids: [`t${n}`] }),
  (log, n) => log.text("a1", "again", { supersedes: [`u${n}`] }),
  (log) => log.hub("ended"),
  (log) => log.hub("connected").hub("connected"),
  (log, n) => log.hub("message_unknown", { message_uuid: `m${n}` }),
  (log, n) => log.result(`t${n}`, "pages", { tool_use_result: { type: "parts", file: { count: n % 3 } } }),
  (log) => log.page(),
  (log) => log.add({ type: "zebra" }),
]

const logs = fc
  .array(fc.tuple(fc.nat(steps.length - 1), fc.nat(12)), { minLength: 1, maxLength: 60 })
  .map((picks) => picks.reduce((log, [step, n]) => (steps[step]?.(log, n), log), new SessionLog()).events)

/** The log cut into pages, some twice, in any order. */
const pagings = logs.chain((events) =>
  fc
    .record({
      cuts: fc.array(fc.nat(events.length), { maxLength: 8 }),
      twice: fc.nat(),
      keys: fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
    })
    .map(({ cuts, twice, keys }) => {
      const bounds = [...new Set([0, ...cuts, events.length])].sort((a, b) => a - b)
      const pages = bounds.slice(1).map((end, index) => events.slice(bounds[index], end))
      const all = [...pages, pages[twice % pages.length] ?? []]
      const shuffled = all.map((page, index) => ({ page, key: keys[index] ?? 0 })).sort((a, b) => a.key - b.key)
      return { events, pages: shuffled.map(({ page }) => page) }
    }),
)

function everything(transcript: Transcript): unknown {
  const lanes = [...transcript.lanes()].sort()
  return { main: transcript.rows(), lanes: lanes.map((lane) => [lane, transcript.rows(lane)]) }
}

function folded(pages: readonly (readonly TranscriptEvent[])[], look: boolean): unknown {
  const transcript = new Transcript()
  for (const page of pages) {
    transcript.fold(page)
    // Looking in between must not leave anything behind.
    if (look) everything(transcript)
  }
  return everything(transcript)
}

const PATIENCE_MS = 15 * 60_000

describe("the transcript, page by page", { timeout: PATIENCE_MS }, () => {
  it("[TR15] a hook that stood alone belongs to its group once another quiet call follows", () => {
    const log = new SessionLog().call("m1", { id: "t1", name: "Read" })
    for (const hook of ["h1", "h2"])
      log.system("hook_response", { hook_id: hook, hook_name: "lint", hook_event: "PreToolUse", outcome: "success" })
    const { events } = log.call("m2", { id: "t2", name: "Read" })
    const pages = events.map((event) => [event])
    expect(folded(pages, true)).toEqual(folded([events], false))
    expect(folded(pages, true)).toMatchObject({ main: [{ kind: "activity", members: { length: 4 } }] })
  })

  it("[TR15] any paging of the same events, in any order, gives the same rows and keys", () => {
    fc.assert(
      fc.property(pagings, ({ events, pages }) => {
        const whole = folded([events], false)
        expect(folded(pages, false)).toEqual(whole)
        expect(folded(pages, true)).toEqual(whole)
      }),
      { numRuns: fuzzCases / 100 },
    )
  })

  it("[TR15] event by event gives the same as all at once, and no key is there twice", () => {
    fc.assert(
      fc.property(logs, (events) => {
        const whole = folded([events], false)
        expect(
          folded(
            events.map((event) => [event]),
            true,
          ),
        ).toEqual(whole)
        const transcript = new Transcript()
        transcript.fold(events)
        const keys = [null, ...transcript.lanes()].flatMap((lane) => transcript.rows(lane).map(({ key }) => key))
        expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
      }),
      { numRuns: fuzzCases / 100 },
    )
  })
})
