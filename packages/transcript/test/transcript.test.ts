import { describe, expect, it } from "vitest"
import { type Row, Transcript } from "../src/index.ts"
import { SessionLog } from "./session-log.ts"

function rowsOf(log: SessionLog, lane: string | null = null): readonly Row[] {
  const transcript = new Transcript()
  transcript.fold(log.events)
  return transcript.rows(lane)
}

/** The only row of that kind. */
function only<K extends Row["kind"]>(rows: readonly Row[], kind: K): Row & { kind: K } {
  const found = rows.filter((row): row is Row & { kind: K } => row.kind === kind)
  expect(found.map(({ key }) => key)).toHaveLength(1)
  const [row] = found
  if (row === undefined) throw new Error("unreachable: there is one")
  return row
}

describe("the transcript: what is said", () => {
  it("[L13] an agent's old forms are read as what they mean", () => {
    const transcript = new Transcript()
    const log = new SessionLog().prompt("go").init()
    log.add({ type: "result", is_error: false, result: "done", cost_usd: 0.5 })
    transcript.fold(log.events)
    expect(JSON.stringify(transcript.rows())).toContain("0.5")
    transcript.delta({ type: "stream_event", event: "message_start", data: { message: { id: "m" } } })
    const block = { index: 0, content_block: { type: "text", text: "" } }
    transcript.delta({ type: "stream_event", event: "content_block_start", data: block })
    const delta = { index: 0, delta: { type: "text_delta", text: "Once upon" } }
    transcript.delta({ type: "stream_event", event: "content_block_delta", data: delta })
    expect(JSON.stringify(transcript.rows())).toContain("Once upon")
  })

  it("[TR1] a message and the agent's echo of it are one row, with its author and what became of it", () => {
    const log = new SessionLog().prompt("make it so", { by: "ops-phone", uuid: "m1" })
    log.add({ type: "user", uuid: "m1", isReplay: true, message: { role: "user", content: "make it so" } })
    const row = only(rowsOf(log), "prompt")
    expect(row).toMatchObject({
      key: "e:m1",
      author: "ops-phone",
      text: "make it so",
      delivery: "delivered",
      headSeq: 1,
    })
  })

  it("[TR1] an agent that speaks as the hub moves no message and says none in anybody's name", () => {
    const log = new SessionLog().prompt("one", { uuid: "m1" }).init()
    log.add({ type: "hub", subtype: "message_taken", message_uuid: "m9", text: "yes, deploy it" })
    log.add({ type: "hub", subtype: "ended", reason: "exited" })
    const rows = rowsOf(log)
    expect(rows.filter(({ kind }) => kind === "prompt")).toHaveLength(1)
    expect(rows.slice(-2).map(({ kind }) => kind)).toEqual(["unknown", "unknown"])
  })

  it("[TR1] [X-120] a message that waited stands where the agent took it up, in whichever order the log is loaded", () => {
    const log = new SessionLog().prompt("one", { uuid: "m1" }).init().text("a1", "Half")
    log.prompt("two", { uuid: "m2", by: "ann" }).text("a1", "Whole")
    log.add({ type: "hub", subtype: "message_taken", message_uuid: "m2", text: "two" }, { from: "hub", by: "ann" })
    log.text("a2", "Next")
    const texts = (rows: readonly Row[]) => rows.flatMap((row) => ("text" in row ? [row.text] : []))
    const order = ["one", "Half", "Whole", "two", "Next"]
    expect(texts(rowsOf(log))).toEqual(order)
    const backwards = new Transcript()
    backwards.fold(log.events.toReversed())
    expect(texts(backwards.rows())).toEqual(order)
    // The message itself stands in a part that is not loaded.
    const tail = new Transcript()
    tail.fold(log.events.slice(4))
    expect(texts(tail.rows())).toEqual(["Whole", "two", "Next"])
    expect(tail.rows()[1]).toMatchObject({ kind: "prompt", key: "e:m2", author: "ann", delivery: "delivered" })
  })

  it("[TR1] what the agent tells of a waiting message, and what the hub does not know, is its delivery", () => {
    const log = new SessionLog().prompt("one", { uuid: "m1" }).prompt("two", { uuid: "m2" })
    const transcript = new Transcript()
    transcript.fold(log.events)
    transcript.delta({ type: "command_lifecycle", command_uuid: "m2", state: "queued" })
    transcript.fold(log.hub("message_unknown", { message_uuid: "m1" }).events)
    const [one, two] = transcript.rows()
    expect([one, two]).toMatchObject([{ delivery: "unknown" }, { delivery: "queued" }])
  })

  it("[TR1] a message whose turn was interrupted had been read: it is not shown as one that was taken back", () => {
    const transcript = new Transcript()
    transcript.fold(new SessionLog().prompt("one", { uuid: "m1" }).prompt("two", { uuid: "m2" }).events)
    for (const [uuid, state] of [
      ["m1", "started"],
      ["m2", "queued"],
      ["m1", "cancelled"],
      ["m2", "cancelled"],
    ])
      transcript.delta({ type: "command_lifecycle", command_uuid: uuid, state })
    expect(transcript.rows()).toMatchObject([{ delivery: "delivered" }, { delivery: "cancelled" }])
  })

  it("[TR1] … also for somebody who came in when it had long been begun; what waits behind it may still be taken back", () => {
    const log = new SessionLog().prompt("one", { uuid: "m1" }).init().text("a", "at work").prompt("two", { uuid: "m2" })
    const transcript = new Transcript()
    transcript.fold(log.events)
    for (const uuid of ["m1", "m2"])
      transcript.delta({ type: "command_lifecycle", command_uuid: uuid, state: "cancelled" })
    const prompts = transcript.rows().filter(({ kind }) => kind === "prompt")
    expect(prompts).toMatchObject([{ delivery: "delivered" }, { delivery: "cancelled" }])
  })

  it("[TR1] … and what is known to wait may be taken back, although another's turn began behind it", () => {
    const log = new SessionLog().prompt("one", { uuid: "m1" }).prompt("two", { uuid: "m2" })
    const transcript = new Transcript()
    const tell = (uuid: string, state: string) =>
      transcript.delta({ type: "command_lifecycle", command_uuid: uuid, state })
    transcript.fold(log.events)
    for (const uuid of ["m1", "m2"]) tell(uuid, "queued")
    tell("m1", "started")
    transcript.fold(log.init().events)
    for (const uuid of ["m2", "m1"]) tell(uuid, "cancelled")
    const prompts = transcript.rows().filter(({ kind }) => kind === "prompt")
    expect(prompts).toMatchObject([{ delivery: "delivered" }, { delivery: "cancelled" }])
  })

  it("[TR1] a message that was taken back says so, and has no other row for it", () => {
    const log = new SessionLog().prompt("one", { uuid: "m1" }).hub("message_cancelled", { message_uuid: "m1" })
    const transcript = new Transcript()
    transcript.fold(log.events)
    expect(transcript.rows()).toMatchObject([{ kind: "prompt", delivery: "cancelled" }])
  })

  it("[TR1] … from the log alone, and live where the agent tells it too, before and after", () => {
    const log = new SessionLog().prompt("one", { uuid: "m1" }).init().prompt("two", { uuid: "m2" })
    const transcript = new Transcript()
    const tell = (state: string) => transcript.delta({ type: "command_lifecycle", command_uuid: "m2", state })
    transcript.fold(log.events)
    tell("queued")
    tell("cancelled")
    transcript.fold(log.hub("message_cancelled", { message_uuid: "m2" }).events)
    tell("cancelled")
    for (const rows of [transcript.rows(), rowsOf(log)]) {
      expect(rows.filter(({ kind }) => kind === "prompt")).toHaveLength(2)
      expect(rows.at(-1)).toMatchObject({ key: "e:m2", delivery: "cancelled" })
    }
  })

  it("[TR2] blocks of one message have its id and their number as key; a user message nobody wrote is told apart", () => {
    const log = new SessionLog()
      .says("m1", { type: "thinking", thinking: "hm" }, { thinking_duration_ms: 6000 })
      .text("m1", "The answer")
      .says("m2", { type: "redacted_thinking", data: "x" })
    log.add({
      type: "user",
      uuid: "h1",
      parent_tool_use_id: null,
      isSynthetic: true,
      message: { role: "user", content: "note" },
    })
    expect(rowsOf(log)).toMatchObject([
      { kind: "thinking", key: "b:m1:0", text: "hm", durationMs: 6000 },
      { kind: "text", key: "b:m1:1", text: "The answer", state: "done" },
      { kind: "thinking", key: "b:m2:0", isRedacted: true },
      { kind: "harness", key: "e:h1", text: "note" },
    ])
  })

  it("[TR2] what was superseded or refused is retracted, whichever came first", () => {
    const log = new SessionLog().add({
      type: "assistant",
      uuid: "a1",
      message: { id: "m1", content: [{ type: "text", text: "wrong" }] },
    })
    log.text("m2", "right", { supersedes: ["a1"] })
    log.system("model_refusal_fallback", {
      original_model: "a",
      fallback_model: "b",
      retracted_message_uuids: [],
      content: "",
    })
    expect(rowsOf(log)).toMatchObject([
      { kind: "text", text: "wrong", state: "retracted" },
      { kind: "text", text: "right", state: "done" },
      { kind: "note", text: "a refused; b goes on." },
    ])
  })

  it("[TR2] an answer that is a failure is told as one", () => {
    const log = new SessionLog().text("m1", "API Error: 429", { error: "rate_limit" })
    expect(only(rowsOf(log), "failure")).toMatchObject({ code: "rate_limit", text: "API Error: 429" })
  })
})

describe("the transcript: tools", () => {
  const bash = { id: "t1", name: "Bash", input: { command: "npm test" } }

  it("[TR3] a call, its question, the answer and the result are one row at the place of the call", () => {
    const log = new SessionLog().call("m1", bash).asks("r1", bash)
    expect(only(rowsOf(log), "tool")).toMatchObject({ key: "t:t1", state: "waiting", ask: { outcome: "pending" } })
    log.answer("r1", { behavior: "allow", updatedInput: { command: "npm test -- -u" } })
    expect(only(rowsOf(log), "tool")).toMatchObject({
      state: "running",
      ask: { outcome: "allowed", by: "ops", isEdited: true },
    })
    log.result("t1", "ok", { tool_use_result: { stdout: "ok" } })
    const row = only(rowsOf(log), "tool")
    expect(row).toMatchObject({ state: "done", headSeq: 1, lastSeq: 4, elapsedMs: 1000, name: "Bash" })
    expect(row.result).toMatchObject({ content: "ok", structured: { stdout: "ok" } })
  })

  it("[TR3] failed, denied, interrupted and never told of are told apart", () => {
    const log = new SessionLog()
    for (const id of ["a", "b", "c", "d", "e"]) log.call("m1", { ...bash, id })
    log.result("a", "exit 1", { is_error: true })
    log
      .asks("r", { ...bash, id: "b" })
      .answer("r", { behavior: "deny", message: "no" })
      .result("b", "no", { is_error: true })
    log.result("c", "[Request interrupted by user for tool use]", { is_error: true })
    log.system("permission_denied", { tool_use_id: "e", tool_name: "Bash", message: "rule", decision_reason: "x" })
    log.ends()
    const states = rowsOf(log).flatMap((row) => (row.kind === "tool" ? [row.state] : []))
    expect(states).toEqual(["failed", "denied", "interrupted", "missing", "denied"])
  })

  it("[TR3] a result whose call is not loaded stands alone and joins the call when that comes", () => {
    const log = new SessionLog().call("m1", bash).text("m1", "so").result("t1", "ok")
    const transcript = new Transcript()
    transcript.fold(log.events.slice(2))
    expect(only(transcript.rows(), "tool")).toMatchObject({ key: "t:t1", hasCall: false, name: "", headSeq: 3 })
    transcript.fold(log.events.slice(0, 2))
    expect(only(transcript.rows(), "tool")).toMatchObject({ key: "t:t1", hasCall: true, name: "Bash", headSeq: 1 })
  })

  it("[TR21] pages of a document that are told behind the result are the result's, whichever came first", () => {
    const read = { id: "t1", name: "Read", input: { file_path: "/a.pdf" } }
    const parts = { tool_use_result: { type: "parts", file: { filePath: "/a.pdf", originalSize: 9, count: 2 } } }
    const log = new SessionLog().call("m1", read).result("t1", "2 pages", parts).page("one").page("two").page("other")
    const all = new Transcript()
    all.fold(log.events)
    expect(all.rows().map(({ kind }) => kind)).toEqual(["activity", "picture"])
    expect(all.tool("t1")).toMatchObject({ lastSeq: 4, result: { pages: [{ data: "one" }, { data: "two" }] } })
    const late = new Transcript()
    late.fold(log.events.slice(2))
    expect(late.rows().map(({ kind }) => kind)).toEqual(["picture", "picture", "picture"])
    late.fold(log.events.slice(0, 2))
    expect(late.rows()).toEqual(all.rows())
  })

  it("[TR4] the hub's word on an ask tells endings that no event tells", () => {
    const log = new SessionLog().call("m1", bash).asks("r1", bash)
    const transcript = new Transcript()
    transcript.fold(log.events)
    transcript.ask({ requestId: "r1", state: "expired", settledAt: "2026-01-01T00:00:09.000Z", rule: "slow" })
    expect(only(transcript.rows(), "tool")).toMatchObject({
      state: "running",
      ask: { outcome: "expired", rule: "slow" },
    })
  })

  it("[TR4] a form of an MCP server is a row of its own, with its answer", () => {
    const log = new SessionLog()
    log.add({
      type: "control_request",
      request_id: "r9",
      request: { subtype: "elicitation", mcp_server_name: "db", message: "?" },
    })
    log.answer("r9", { action: "decline" }, "kim")
    expect(only(rowsOf(log), "ask")).toMatchObject({ key: "a:r9", ask: { outcome: "denied", by: "kim" } })
  })

  it("[TR5] quiet calls one after the other are one row; text, commands, failures and asks are never in it", () => {
    const read = (id: string, path: string) => ({ id, name: "Read", input: { file_path: path } })
    const log = new SessionLog()
    log
      .call("m1", read("a", "x"))
      .call("m1", read("b", "x"))
      .call("m1", { id: "c", name: "Grep", input: { pattern: "y" } })
    log.result("a", "").result("b", "").result("c", "")
    log.call("m2", read("d", "z")).result("d", "gone", { is_error: true })
    log.call("m2", read("e", "w")).asks("r", read("e", "w"))
    log.text("m3", "so").call("m3", read("f", "v")).result("f", "")
    log.add({ type: "tool_use_summary", uuid: "s", summary: "Looked around", preceding_tool_use_ids: ["a", "b"] })
    const rows = rowsOf(log)
    expect(rows.map(({ key }) => key)).toEqual(["g:t:a", "t:d", "t:e", "b:m3:0", "g:t:f"])
    expect(rows[0]).toMatchObject({
      summary: "Read 1 file, searched 1 pattern",
      caption: "Looked around",
      state: "done",
    })
  })
})

describe("the transcript: sub-agents", () => {
  it("[TR6] rows of two sub-agents never mix, and the call that started one tells how it goes", () => {
    const log = new SessionLog()
    log.call("m1", { id: "A", name: "Task", input: { description: "one" } }).call("m1", { id: "B", name: "Task" })
    log.system("task_started", { task_id: "ka", tool_use_id: "A", description: "one", subagent_type: "Explore" })
    for (const lane of ["A", "B", "A"]) log.text(`x${lane}${log.events.length}`, lane, { parent_tool_use_id: lane })
    log.system("task_progress", {
      task_id: "ka",
      tool_use_id: "A",
      description: "one",
      usage: { total_tokens: 9, tool_uses: 2, duration_ms: 5 },
      last_tool_name: "Read",
    })
    const [a] = rowsOf(log)
    expect(a).toMatchObject({
      kind: "tool",
      hasLane: true,
      task: { status: "running", tokens: 9, currentTool: "Read", subagentType: "Explore" },
    })
    expect(rowsOf(log, "A").map((row) => row.kind === "text" && row.text)).toEqual(["A", "A"])
    expect(rowsOf(log, "B")).toHaveLength(1)
    log
      .system("task_notification", { task_id: "ka", status: "completed", summary: "done", output_file: "" })
      .result("A", "ok")
    expect(rowsOf(log)[0]).toMatchObject({ state: "done", task: { status: "completed", summary: "done" } })
  })

  it("[TR6] a call in a lane that ended without a result is no longer running", () => {
    const log = new SessionLog().call("m1", { id: "A", name: "Task" })
    log.call("m2", { id: "c", name: "Bash" }, { parent_tool_use_id: "A" }).result("A", "gave up")
    expect(rowsOf(log, "A")).toMatchObject([{ key: "t:c", state: "missing" }])
  })

  it("[TR19] a use of a tool is had by its id, in whichever lane it is", () => {
    const log = new SessionLog().call("m1", { id: "A", name: "Task", input: { description: "one" } })
    log.call("m2", { id: "B", name: "Task" }, { parent_tool_use_id: "A" })
    const transcript = new Transcript()
    transcript.fold(log.events)
    expect(transcript.tool("B")).toMatchObject({ lane: "A", hasCall: true })
    expect(transcript.tool("A")).toBe(transcript.rows()[0])
    expect(transcript.tool("C")).toBeUndefined()
  })
})

describe("the transcript: turns", () => {
  it("[TR20] that the history is being compacted is told until something ends it, in whichever order it is loaded", () => {
    const begin = () => new SessionLog().init().system("status", { status: "compacting" })
    const isCompacting = (events: SessionLog["events"]) => {
      const transcript = new Transcript()
      transcript.fold(events)
      return transcript.isCompacting
    }
    expect(isCompacting(begin().text("m", "x").events)).toBe(true)
    const endings = [
      begin().system("compact_boundary"),
      begin().system("status", { status: null }),
      begin().ends(),
      begin().hub("ended"),
      begin().init(),
    ]
    for (const log of endings) {
      expect(isCompacting(log.events)).toBe(false)
      expect(isCompacting(log.events.toReversed())).toBe(false)
    }
    expect(isCompacting(endings[0]?.system("status", { status: "compacting" }).events ?? [])).toBe(true)
  })

  it("[TR7] the first beginning is told; a later one only by what changed", () => {
    const log = new SessionLog().init().ends().init().ends().init({ model: "haiku", permissionMode: "plan" })
    const rows = rowsOf(log).filter((row) => row.kind === "started")
    expect(rows).toMatchObject([
      { model: "opus", mode: "default", cwd: "/p" },
      {
        changes: [
          { what: "model", before: "opus", after: "haiku" },
          { what: "mode", before: "default", after: "plan" },
        ],
      },
    ])
  })

  it("[TR7] in the middle of a log that is not loaded from its beginning nothing says that it started", () => {
    const transcript = new Transcript()
    transcript.fold(new SessionLog().text("m", "x").init().events.slice(1))
    expect(transcript.rows()).toEqual([])
  })

  it("[TR8] a turn's cost is what it added to the process's, and unknown when the one before is not loaded", () => {
    const log = new SessionLog()
      .ends({ total_cost_usd: 0.1 })
      .ends({ total_cost_usd: 0.25 })
      .hub("ended")
      .ends({ total_cost_usd: 0.3 })
    const costs = rowsOf(log).flatMap((row) => (row.kind === "result" ? [row.costUsd?.toFixed(2)] : []))
    expect(costs).toEqual(["0.10", "0.15", "0.30"])
    const late = new Transcript()
    late.fold(log.events.slice(1, 2))
    expect(only(late.rows(), "result").costUsd).toBeUndefined()
  })

  it("[TR8] a result does not repeat the last text", () => {
    const log = new SessionLog().text("m1", "42").ends({ result: "42" }).text("m2", "43").ends({ result: "44" })
    const texts = rowsOf(log).flatMap((row) => (row.kind === "result" ? [row.text] : []))
    expect(texts).toEqual([undefined, "44"])
  })

  it("[TR9] a command that was killed by an interrupt is not one that failed", () => {
    const told = "Exit code 137\n[Request interrupted by user for tool use]"
    const log = new SessionLog().call("m1", { id: "t1", name: "Bash" }).result("t1", told, { is_error: true })
    expect(rowsOf(log)).toMatchObject([{ kind: "tool", state: "interrupted" }])
  })

  it("[TR9] what newer CLIs tell as rejected was interrupted, unless a person had denied it", () => {
    const told =
      "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the " +
      "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
    const log = new SessionLog()
    for (const id of ["a", "b", "c"]) log.call("m1", { id, name: "Bash" })
    log.asks("r", { id: "b", name: "Bash" }).answer("r", { behavior: "deny", message: "no", interrupt: true })
    log.asks("s", { id: "c", name: "Bash" }).answer("s", { behavior: "allow" })
    for (const id of ["a", "b", "c"])
      log.result(id, told, { is_error: true, tool_use_result: "User rejected tool use" })
    const states = rowsOf(log).flatMap((row) => (row.kind === "tool" ? [row.state] : []))
    expect(states).toEqual(["interrupted", "denied", "interrupted"])
  })

  it("[TR9] an interrupted turn is not a failed one, and tells who interrupted", () => {
    const log = new SessionLog().ends({ subtype: "error_during_execution", is_error: true, errors: ["x"] })
    log.add(
      { type: "control_request", request_id: "", request: { subtype: "interrupt" } },
      { from: "client", by: "ops-phone" },
    )
    log.ends({ subtype: "error_during_execution", is_error: true })
    log.ends({ subtype: "error_max_turns", is_error: true })
    const results = rowsOf(log).filter((row) => row.kind === "result")
    expect(results).toMatchObject([
      { state: "failed" },
      { state: "interrupted", interruptedBy: "ops-phone" },
      { state: "failed" },
    ])
  })

  it("[TR10] tries of one request are one row that tells how it went on", () => {
    const retry = { max_retries: 10, retry_delay_ms: 8000, error_status: 529, error: "overloaded" }
    const log = new SessionLog()
      .system("api_retry", { attempt: 1, ...retry })
      .system("api_retry", { attempt: 3, ...retry })
    expect(only(rowsOf(log), "retry")).toMatchObject({ key: "e:u1", state: "running", attempt: 3, status: 529 })
    log.text("m", "back")
    expect(only(rowsOf(log), "retry")).toMatchObject({ state: "recovered", attempt: 3 })
  })

  it("[BU10] events that a damaged database lost are one note for each run of them", () => {
    const log = new SessionLog()
      .text("m1", "hello")
      .hub("events_lost", { count: 2 })
      .hub("events_lost")
      .text("m2", "on")
    const notes = rowsOf(log).flatMap((row) => (row.kind === "note" ? [row.text] : []))
    expect(notes).toEqual(["2 events could not be saved from a damaged database"])
  })

  it("[TR11] that the agent is connected is told once, until it was away", () => {
    const log = new SessionLog().hub("connected").hub("connected").text("m", "hello").hub("connected")
    const transcript = new Transcript()
    transcript.fold(log.events)
    expect(transcript.rows()).toMatchObject([{ topic: "hub/connected", headSeq: 1 }, { kind: "text" }])
    transcript.fold(log.hub("disconnected").hub("connected").hub("connected").events)
    expect(transcript.rows().map(({ headSeq }) => headSeq)).toEqual([1, 3, 5, 6])
    // A part that begins in the middle tells it once too, and no longer when the part before it is there.
    const tail = new Transcript()
    tail.fold(log.events.slice(3))
    expect(tail.rows().map(({ headSeq }) => headSeq)).toEqual([4, 5, 6])
    tail.fold(log.events.slice(0, 3))
    expect(tail.rows().map(({ headSeq }) => headSeq)).toEqual([1, 3, 5, 6])
  })

  it("[TR11] why a process failed is told with its end, and nothing of one that ended well", () => {
    const log = new SessionLog()
      .hub("ended", { reason: "exit code 1", code: 1, stderrTail: "warning\nNo such mode: foo\n" })
      .hub("ended", { reason: "exit code 0", code: 0, stderrTail: "bye" })
    expect(rowsOf(log)).toMatchObject([
      { level: "warning", text: expect.stringMatching(/exit code 1.*Its last words: warning No such mode: foo$/) },
      { level: "info", text: expect.not.stringContaining("bye") },
    ])
  })

  it("[TR11] limits are told when they change, hooks as one row, compaction as a line", () => {
    const log = new SessionLog()
    for (const status of ["allowed", "allowed_warning", "allowed_warning", "rejected"]) {
      log.add({ type: "rate_limit_event", uuid: log.uuid(), rate_limit_info: { status, utilization: 0.9 } })
    }
    log.system("hook_started", { hook_id: "k", hook_name: "lint", hook_event: "PreToolUse" })
    log.system("hook_response", {
      hook_id: "k",
      hook_name: "lint",
      hook_event: "PreToolUse",
      output: "bad",
      outcome: "error",
    })
    log.system("compact_boundary", { compact_metadata: { trigger: "auto", pre_tokens: 168_000, post_tokens: 22_000 } })
    expect(rowsOf(log)).toMatchObject([
      { kind: "limit", status: "allowed_warning" },
      { kind: "limit", status: "rejected" },
      { kind: "hook", state: "failed", name: "lint", output: "bad", elapsedMs: 1000 },
      { kind: "compaction", preTokens: 168_000, postTokens: 22_000 },
    ])
  })

  it("[TR12] what is not known is shown, what tells only how things go is not, and the hub's notes are lines", () => {
    const log = new SessionLog().add({ type: "zebra", uuid: "z", stripes: 7 }).system("quagga", {})
    log
      .add({ type: "keep_alive" })
      .system("session_state_changed", { state: "idle" })
      .system("commands_changed", { commands: [] })
    log.hub("disconnected", { reason: "gone" }).hub("rotated", { next: "s2" })
    log.add({ type: "conversation_reset", uuid: "c", trigger: "clear" })
    log.add(
      { type: "control_request", request: { subtype: "set_model", model: "haiku" } },
      { from: "client", by: "kim" },
    )
    expect(rowsOf(log)).toMatchObject([
      { kind: "unknown", name: "zebra", message: { stripes: 7 } },
      { kind: "unknown", name: "quagga" },
      { kind: "note", topic: "hub/disconnected", level: "warning", text: "The agent is disconnected: gone" },
      { kind: "note", topic: "hub/rotated", isDivider: true },
      { kind: "note", topic: "conversation_reset", isDivider: true },
      { kind: "note", text: "kim set the model to haiku" },
    ])
  })
})

describe("the transcript: long sessions", () => {
  it("[TR16] one more event leaves every row before it as it is, the same objects", () => {
    const log = new SessionLog()
    for (let turn = 0; turn < 200; turn++) {
      log.prompt("do it").init().text(`m${turn}`, "hello")
      log.call(`m${turn}`, { id: `t${turn}`, name: "Bash", input: { command: "ls" } }).result(`t${turn}`, "ok")
      log.ends({ result: "hello" })
    }
    const transcript = new Transcript()
    transcript.fold(log.events)
    const before = transcript.rows()
    log.prompt("and again")
    transcript.fold(log.events.slice(-1))
    const after = transcript.rows()
    expect(after).toHaveLength(before.length + 1)
    // The last turn's end is the last no more, which shows on its row; nothing older is touched.
    expect(before.slice(0, -1).filter((row, index) => after[index] !== row)).toEqual([])
  })
})
