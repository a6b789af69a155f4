import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { composeAllow, type Envelope, fieldOf } from "@signalbox/protocol"
import { expect } from "vitest"
import { type AgentHost, withAgent } from "./agent-host.ts"
import { allowTools, denyTools, question } from "./answers.ts"
import { conformance } from "./cells.ts"

const touch = (command = "touch made") => ({
  turns: [{ steps: [{ tool: "Bash", input: { command, description: "make a file" } }, { say: "Done." }] }],
})
const made = (agent: AgentHost, name = "made") => existsSync(join(agent.folder.cwd, name))

function toolResults(messages: readonly Envelope[]): Record<string, unknown>[] {
  return messages
    .filter((message) => message.type === "user")
    .flatMap((message) => (fieldOf(message, "message")?.["content"] as Record<string, unknown>[]) ?? [])
    .filter((block) => block["type"] === "tool_result")
}

conformance("permission allowed", (cell) =>
  withAgent(cell, { scenario: touch(), onRequest: allowTools }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.prompt("make a file")
    const asked = await agent.until("control_request", "can_use_tool")
    expect(asked["request"]).toMatchObject({
      tool_name: "Bash",
      input: { command: "touch made" },
      tool_use_id: expect.any(String),
    })
    expect(await agent.until("result")).toMatchObject({ subtype: "success", result: "Done.", permission_denials: [] })
    expect(made(agent)).toBe(true)
  }),
)

conformance("permission denied", (cell) =>
  withAgent(cell, { scenario: touch(), onRequest: denyTools("Not today.") }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const turn = await agent.turn("make a file")
    expect(toolResults(turn)).toMatchObject([{ is_error: true, content: "Not today." }])
    expect(turn.at(-1)).toMatchObject({ subtype: "success", permission_denials: [{ tool_name: "Bash" }] })
    expect(made(agent)).toBe(false)
  }),
)

conformance("permission denied with interrupt", (cell) =>
  withAgent(cell, { scenario: touch(), onRequest: denyTools("Stop it.", { interrupt: true }) }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const turn = await agent.turn("make a file")
    expect(turn.at(-1)).toMatchObject({ type: "result", subtype: "error_during_execution" })
    expect(made(agent)).toBe(false)
  }),
)

conformance("edited input", (cell) =>
  withAgent(
    cell,
    {
      scenario: touch(),
      onRequest: ({ request_id, subtype, request }) =>
        subtype === "can_use_tool"
          ? composeAllow(question(request_id, request), { updatedInput: { command: "echo edited > other" } })
          : null,
    },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      await agent.turn("make a file")
      expect(made(agent)).toBe(false)
      expect(readFileSync(join(agent.folder.cwd, "other"), "utf8")).toBe("edited\n")
    },
  ),
)

conformance("several tools at once", (cell) =>
  withAgent(
    cell,
    {
      scenario: {
        turns: [
          {
            steps: [
              {
                reply: [
                  { tool: "Bash", input: { command: "touch one" } },
                  { tool: "Bash", input: { command: "touch two" } },
                ],
              },
              { say: "Both." },
            ],
          },
        ],
      },
      onRequest: allowTools,
    },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      const turn = await agent.turn("make two files")
      expect(toolResults(turn)).toHaveLength(2)
      expect([made(agent, "one"), made(agent, "two")]).toEqual([true, true])
    },
  ),
)

const CHOICE = {
  question: "Which colour?",
  header: "Colour",
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cold" },
  ],
  multiSelect: false,
}

conformance("AskUserQuestion answered", (cell) =>
  withAgent(
    cell,
    {
      scenario: {
        turns: [{ steps: [{ tool: "AskUserQuestion", input: { questions: [CHOICE] } }, { say: "Blue it is." }] }],
      },
      onRequest: ({ request_id, subtype, request }) => {
        const asked = question(request_id, request)
        const updatedInput = { ...asked.request.input, answers: { "Which colour?": "Blue" } }
        return subtype === "can_use_tool" ? composeAllow(asked, { updatedInput }) : null
      },
    },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      await agent.prompt("ask me")
      const asked = await agent.until("control_request", "can_use_tool")
      expect(asked["request"]).toMatchObject({ tool_name: "AskUserQuestion", input: { questions: [CHOICE] } })
      await agent.until("result", "success")
      expect(JSON.stringify(toolResults(agent.seen))).toMatch(/Which colour\?.*Blue/)
    },
  ),
)

conformance(
  "connection dropped with a permission pending",
  (cell) =>
    withAgent(cell, { scenario: touch(), onRequest: () => null }, async (agent) => {
      await agent.request({ subtype: "initialize" })
      await agent.prompt("make a file")
      const asked = await agent.until("control_request", "can_use_tool")
      // Over hybrid the request's own POST must have been answered: a host that dies before that gets it again.
      await agent.ask({ subtype: "mcp_status" })
      await agent.link.goAway()
      await agent.link.listenAgain()
      // The request is not sent again: the answer to the old one is taken on the new connection.
      await agent.send(composeAllow(question(String(asked["request_id"]), fieldOf(asked, "request") ?? {})))
      expect(await agent.until("result")).toMatchObject({ subtype: "success" })
      expect(made(agent)).toBe(true)
      expect(agent.seen.filter((message) => message.type === "control_request")).toHaveLength(1)
      expect(agent.link.upgrades.length).toBeGreaterThan(1)
      // Hybrid writes nothing on the WebSocket, so there is no last message to name.
      if (cell.road === "websocket") expect(agent.link.upgrades.at(-1)).toHaveProperty("x-last-request-id")
    }),
  { roads: ["websocket", "hybrid"] },
)

conformance(
  "[V41] a skipped question is no error, and the result says how it went",
  (cell) =>
    withAgent(
      cell,
      {
        scenario: {
          turns: [{ steps: [{ tool: "AskUserQuestion", input: { questions: [CHOICE] } }, { say: "As you like." }] }],
        },
        onRequest: ({ request_id, subtype, request }) => {
          const asked = question(request_id, request)
          const skipped = {
            answers: { "Which colour?": "The user skipped this question." },
            annotations: { "Which colour?": { unanswered: "skipped" } },
          }
          return subtype === "can_use_tool"
            ? composeAllow(asked, { updatedInput: { ...asked.request.input, ...skipped } })
            : null
        },
      },
      async (agent) => {
        await agent.request({ subtype: "initialize" })
        const turn = await agent.turn("ask me")
        const init = agent.seen.find((message) => message.type === "system")
        expect(init?.["capabilities"]).toContain("ask_user_question_unanswered_v1")
        // No refusal: a result like any other, which says how the question went.
        const [result] = turn.filter((message) => message.type === "user")
        expect(result?.["tool_use_result"]).toMatchObject({
          annotations: { "Which colour?": { unanswered: "skipped" } },
        })
        const [told] = toolResults(turn)
        expect(told?.["is_error"]).toBeUndefined()
        expect(told?.["content"]).toContain("The user skipped this question.")
        expect(turn.at(-1)).toMatchObject({ subtype: "success", permission_denials: [] })
      },
    ),
  { versions: ["2.1.325"] },
)
