import { describe, expect, it } from "vitest"
import { markOf, Outlines } from "../../src/session/outline.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"

function marked(message: Record<string, unknown>, from: "agent" | "client" = "agent") {
  return markOf({ seq: 7, at: 0, from, line: JSON.stringify(message) })
}
const request = (subtype: string, facts: Record<string, unknown> = {}) => ({
  type: "control_request",
  request_id: "r",
  request: { subtype, ...facts },
})

describe("the outline of a session", () => {
  it("has what people said, what they were asked, what failed and where the history was made shorter", () => {
    const said = { type: "user", message: { role: "user", content: [{ type: "text", text: "make it\nso" }] } }
    expect(marked(said, "client")).toEqual({ seq: 7, kind: "prompt", label: "make it so" })
    expect(marked(request("can_use_tool", { tool_name: "Bash" }))).toMatchObject({ kind: "ask", label: "Bash" })
    expect(marked(request("elicitation", { mcp_server_name: "forms" }))).toMatchObject({ kind: "ask", label: "forms" })
    expect(marked({ type: "result", subtype: "error_max_turns", is_error: true })).toMatchObject({ kind: "error" })
    expect(marked({ type: "system", subtype: "api_retry" })).toMatchObject({ kind: "error" })
    expect(marked({ type: "system", subtype: "compact_boundary" })).toMatchObject({ kind: "compaction" })
    expect(marked({ type: "result", subtype: "success", result: "done" })).toMatchObject({
      kind: "result",
      label: "done",
    })
  })

  it("tells no interrupt as a failure", () => {
    const stopped = { type: "result", subtype: "error_during_execution", is_error: false }
    expect(marked(stopped)).toMatchObject({ kind: "result" })
    expect(marked({ ...stopped, is_error: true, terminal_reason: "aborted_streaming" })).toMatchObject({
      kind: "result",
    })
    expect(marked({ ...stopped, is_error: true })).toMatchObject({ kind: "error" })
  })

  it("has nothing of what an agent says in passing, or asks only its host", () => {
    for (const message of [request("hook_callback"), request("mcp_message"), { type: "keep_alive" }, { type: "user" }])
      expect(marked(message)).toBeUndefined()
    expect(marked(request("interrupt"), "client")).toBeUndefined()
  })
})

describe("outlines", () => {
  const prompt = (text: string) => ({
    at: 0,
    from: "client" as const,
    line: JSON.stringify({ type: "user", message: { role: "user", content: text } }),
  })

  it("are read once, and then only what came since", async () => {
    const log = new MemoryEventLog()
    const reads: (number | undefined)[] = []
    const outlines = new Outlines({
      read: (session, range) => {
        reads.push(range.after)
        return log.read(session, range)
      },
    })
    const { lastSeq } = await log.append("s", [prompt("one"), prompt("two")])
    const [first, second] = await Promise.all([outlines.of("s", lastSeq), outlines.of("s", lastSeq)])
    expect(first.map(({ label }) => label)).toEqual(["one", "two"])
    expect(second).toEqual(first)
    await log.append("s", [prompt("three")])
    expect((await outlines.of("s", 3)).map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(await outlines.of("s", 2)).toHaveLength(2)
    expect(reads).toEqual([0, 2])
  })
})
