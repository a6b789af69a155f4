import type { Envelope } from "@signalbox/protocol"
import { expect } from "vitest"
import { subtypeOf, withAgent } from "./agent-host.ts"
import { conformance, isOldest } from "./cells.ts"

const says = (...texts: string[]) => ({ turns: texts.map((text) => ({ steps: [{ say: text }] })) })

/** Types in order, without what comes and goes with versions. */
function course(messages: readonly Envelope[]): string[] {
  return messages
    .filter((message) => ["system", "assistant", "user", "result"].includes(message.type))
    .filter((message) => message.type !== "system" || message["subtype"] === "init")
    .map((message) =>
      message.type === "assistant" || message.type === "user" ? message.type : `${message.type}/${subtypeOf(message)}`,
    )
}

conformance("initialize", (cell) =>
  withAgent(cell, { scenario: says("unused") }, async (agent) => {
    const reply = await agent.ask({ subtype: "initialize" })
    expect(reply).toMatchObject({
      commands: expect.any(Array),
      models: expect.any(Array),
      output_style: expect.any(String),
      available_output_styles: expect.any(Array),
      account: expect.any(Object),
    })
    expect(agent.seen.filter((message) => message.type === "system")).toEqual([])
  }),
)

conformance("one turn", (cell) =>
  withAgent(cell, { scenario: says("Hello there.") }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const turn = await agent.turn("Hi")
    expect(course(turn)).toEqual(["system/init", "assistant", "result/success"])
    expect(turn.at(-1)).toMatchObject({ result: "Hello there.", is_error: false, num_turns: 1 })
    const closed = await agent.end()
    expect(closed.error).toBeUndefined()
  }),
)

conformance("three turns", (cell) =>
  withAgent(cell, { scenario: says("One.", "Two.", "Three.") }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const results: unknown[] = []
    for (const text of ["first", "second", "third"]) {
      const turn = await agent.turn(text)
      expect(course(turn)).toEqual(["system/init", "assistant", "result/success"])
      results.push(turn.at(-1)?.["result"])
    }
    expect(results).toEqual(["One.", "Two.", "Three."])
    expect(new Set(agent.seen.flatMap((message) => message["session_id"] ?? [])).size).toBe(1)
  }),
)

conformance("partial messages", (cell) =>
  withAgent(
    cell,
    {
      scenario: { turns: [{ steps: [{ think: "Let me see." }, { say: "A b c d e f.", deltas: 6, pauseMs: 5 }] }] },
      flags: { includePartialMessages: true },
    },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      const turn = await agent.turn("go")
      const events = turn.filter((message) => message.type === "stream_event")
      const kinds = events.map((message) => (message["event"] as { type: string }).type)
      expect(kinds.filter((kind) => kind !== "content_block_delta" && kind !== "ping")).toEqual([
        "message_start",
        "content_block_start",
        "content_block_stop",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_stop",
      ])
      const text = events
        .flatMap((message) => (message["event"] as { delta?: { text?: string } }).delta?.text ?? [])
        .join("")
      expect(text).toBe("A b c d e f.")
      for (const message of events)
        expect(message).toMatchObject({ parent_tool_use_id: null, uuid: expect.any(String) })
    },
  ),
)

conformance("very long output", (cell) =>
  withAgent(
    cell,
    { scenario: { turns: [{ steps: [{ say: { repeat: "word ", bytes: 100_000 } }] }] } },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      const turn = await agent.turn("go")
      expect(String(turn.at(-1)?.["result"]).trim()).toHaveLength(99_999)
    },
  ),
)

conformance("errors of the API", (cell) =>
  withAgent(
    cell,
    {
      scenario: {
        turns: [
          { steps: [{ error: 529, times: 1 }, { say: "After all." }] },
          { steps: [{ error: 400, message: "no good" }] },
        ],
      },
    },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      const retried = await agent.turn("try")
      expect(retried.at(-1)).toMatchObject({ subtype: "success", result: "After all." })
      const failed = await agent.turn("fail")
      expect(failed.at(-1)).toMatchObject({ type: "result", is_error: true })
      expect(failed.some((message) => message.type === "assistant" && message["error"] !== undefined)).toBe(true)
    },
  ),
)

conformance("error_max_turns", (cell) =>
  withAgent(
    cell,
    {
      scenario: {
        turns: [
          {
            steps: [
              { tool: "Glob", input: { pattern: "*" } },
              { tool: "Glob", input: { pattern: "*" } },
              { say: "never" },
            ],
          },
        ],
      },
      flags: { maxTurns: 1 },
    },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      await agent.prompt("go")
      const result = await agent.until("result")
      expect(result).toMatchObject({ subtype: "error_max_turns" })
      expect(result).not.toHaveProperty("result")
      if (!isOldest(cell)) expect(result["errors"]).toEqual(expect.any(Array))
    },
  ),
)
