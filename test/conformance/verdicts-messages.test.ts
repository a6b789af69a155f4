import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Envelope, fieldOf, hookEvents } from "@signalbox/protocol"
import { describe, expect, it } from "vitest"
import { type AgentHost, withAgent } from "./agent-host.ts"
import { allowTools } from "./answers.ts"
import { type Cell, conformance, isNew, isOldest } from "./cells.ts"

const hello = { turns: [{ steps: [{ say: "Hello." }] }, { steps: [{ say: "Again." }] }] }
const bash = (command = "touch made") => ({
  turns: [{ steps: [{ tool: "Bash", input: { command } }, { say: "Done." }] }],
})
const ofType = (messages: readonly Envelope[], type: string) => messages.filter((message) => message.type === type)

/** One turn of "Hello." after an initialize. */
async function helloTurn(
  cell: Cell,
  check: (turn: Envelope[], agent: AgentHost) => void | Promise<void>,
): Promise<void> {
  await withAgent(cell, { scenario: hello }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await check(await agent.turn("hi"), agent)
  })
}

conformance("[V1] nothing is said on connect, and every turn begins with an init", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    await agent.ask({ subtype: "initialize" })
    expect(agent.seen.map((message) => message.type)).toEqual(["control_response"])
    for (const text of ["first", "second"]) {
      const turn = (await agent.turn(text)).filter((message) => message.type !== "command_lifecycle")
      expect(turn.find((message) => message.type !== "control_response")).toMatchObject({
        type: "system",
        subtype: "init",
      })
    }
  }),
)

conformance("[V2] [V9] [V38] a permission request has input, a tool_use_id, and suggestions that are objects", (cell) =>
  withAgent(cell, { scenario: bash(), onRequest: allowTools }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.prompt("go")
    const request = fieldOf(await agent.until("control_request", "can_use_tool"), "request") ?? {}
    expect(request).toMatchObject({ input: { command: "touch made" }, tool_use_id: expect.stringMatching(/^toolu_/) })
    expect(request).not.toHaveProperty("tool_input")
    const suggestions = request["permission_suggestions"]
    expect(suggestions).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: expect.any(String), destination: expect.any(String) })]),
    )
    const kinds = (suggestions as { type: string }[]).map(({ type }) => type)
    expect(kinds).toEqual(expect.arrayContaining(isNew(cell) ? ["addRules"] : ["setMode"]))
    await agent.until("result")
  }),
)

conformance("[V5] [V6] partial messages are asked for by their own flag, and hold the event as an object", (cell) =>
  withAgent(cell, { scenario: hello, flags: { includePartialMessages: true } }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const events = ofType(await agent.turn("hi"), "stream_event")
    expect(events.length).toBeGreaterThan(4)
    for (const event of events) {
      expect(event).toMatchObject({
        event: { type: expect.any(String) },
        parent_tool_use_id: null,
        uuid: expect.any(String),
        session_id: expect.any(String),
      })
    }
  }),
)

conformance("[V6] --verbose alone brings no partial messages", (cell) =>
  helloTurn(cell, (turn) => {
    expect(ofType(turn, "stream_event")).toEqual([])
  }),
)

conformance("[V7] [V31] a result has total_cost_usd, and its modelUsage counts tokens out and web searches", (cell) =>
  helloTurn(cell, (turn) => {
    const result = turn.at(-1)
    expect(result).toMatchObject({ total_cost_usd: expect.any(Number) })
    expect(result).not.toHaveProperty("cost_usd")
    const [usage] = Object.values(fieldOf(result, "modelUsage") ?? {})
    expect(usage).toMatchObject({
      maxOutputTokens: expect.any(Number),
      webSearchRequests: expect.any(Number),
      contextWindow: expect.any(Number),
    })
  }),
)

conformance("[V7] cost is cumulative for the process, usage is the turn's own", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const first = (await agent.turn("one")).at(-1) ?? { type: "" }
    const second = (await agent.turn("two")).at(-1) ?? { type: "" }
    expect(Number(second["total_cost_usd"])).toBeGreaterThan(Number(first["total_cost_usd"]))
    expect(fieldOf(second, "usage")?.["output_tokens"]).toBe(fieldOf(first, "usage")?.["output_tokens"])
  }),
)

conformance(
  "[V8] tool_progress names the tool and its seconds",
  (cell) =>
    withAgent(
      cell,
      { scenario: bash("sleep 5"), onRequest: allowTools, env: { CLAUDE_CODE_REMOTE: "1" } },
      async (agent) => {
        await agent.request({ subtype: "initialize" })
        await agent.prompt("go")
        const progress = await agent.until("tool_progress")
        expect(progress).toMatchObject({
          tool_name: "Bash",
          elapsed_time_seconds: expect.any(Number),
          tool_use_id: expect.any(String),
        })
        expect(progress).not.toHaveProperty("progress")
        await agent.until("result")
      },
    ),
  // 2.1.325 sends none for a command of a few seconds.
  { versions: ["2.1.37", "2.1.120"] },
)

conformance("[V11] the reply to initialize has commands, styles, models and the account", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    const reply = await agent.ask({ subtype: "initialize" })
    expect(reply).toMatchObject({
      commands: expect.any(Array),
      models: expect.any(Array),
      account: { apiKeySource: "ANTHROPIC_API_KEY" },
    })
    expect(reply).not.toHaveProperty("supported_commands")
    // The newest generation names some capabilities here already, and all of them on the init.
    if (!isNew(cell)) expect(reply).not.toHaveProperty("capabilities")
  }),
)

conformance("[V11] the init of the newest generation names its capabilities", (cell) =>
  helloTurn(cell, (turn) => {
    const init = turn.find((message) => message.type === "system" && message["subtype"] === "init")
    if (isNew(cell)) expect(init?.["capabilities"]).toEqual(expect.arrayContaining(["interrupt_receipt_v1"]))
    else expect(init).not.toHaveProperty("capabilities")
  }),
)

conformance(
  "[V12] the newest generation's own catalogue of hook events is our list",
  (cell) =>
    withAgent(cell, { scenario: hello }, async (agent) => {
      await agent.request({ subtype: "initialize" })
      const { eventCatalog } = await agent.ask({ subtype: "get_hooks_listing" })
      const names = (eventCatalog as { event?: string; name?: string }[]).map((entry) => entry.event ?? entry.name)
      expect(names.map(String).toSorted()).toEqual([...hookEvents["2.1.325"]].toSorted())
      expect([hookEvents["2.0.77"].length, hookEvents["2.1.37"].length, hookEvents["2.1.325"].length]).toEqual([
        12, 15, 33,
      ])
    }),
  { versions: ["2.1.325"] },
)

conformance("[V24] after an interrupt the result's is_error differs by version", (cell) =>
  withAgent(cell, { scenario: { turns: [{ steps: [{ hang: true }] }] } }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.prompt("go")
    await agent.api.untilHanging()
    await agent.ask({ subtype: "interrupt" })
    const result = await agent.until("result", "error_during_execution")
    expect(result["is_error"]).toBe(!isOldest(cell))
    if (isNew(cell)) expect(result).toMatchObject({ terminal_reason: "aborted_streaming" })
  }),
)

const settings = { hooks: { SessionStart: [{ hooks: [{ type: "command", command: "echo from-the-hook" }] }] } }

async function checkHookResponse(cell: Cell): Promise<void> {
  const flags = { settings, ...(isNew(cell) ? { includeHookEvents: true } : {}) }
  await withAgent(cell, { scenario: hello, flags }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.turn("hi")
    const response = agent.seen.find((message) => message["subtype"] === "hook_response")
    expect(response).toMatchObject({
      hook_id: expect.any(String),
      hook_event: "SessionStart",
      outcome: "success",
      output: expect.stringContaining("from-the-hook"),
      stdout: expect.stringContaining("from-the-hook"),
      exit_code: 0,
    })
  })
}

// On stdio alone: the hook runs at the start, and 2.1.37 loses what it says before its socket is open.
conformance("[V30] a hook's response carries its id, output and outcome", checkHookResponse, { roads: ["stdio"] })

conformance("[V32] apiKeySource tells the variable the key came from", (cell) =>
  helloTurn(cell, (turn) => {
    expect(turn.find((message) => message["subtype"] === "init")).toMatchObject({ apiKeySource: "ANTHROPIC_API_KEY" })
  }),
)

conformance("[V34] a tool's result comes as a user message, never inside an assistant's", (cell) =>
  withAgent(cell, { scenario: bash(), onRequest: allowTools }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const turn = await agent.turn("go")
    expect(JSON.stringify(ofType(turn, "user"))).toContain('"tool_result"')
    expect(JSON.stringify(ofType(turn, "assistant"))).not.toContain('"tool_result"')
  }),
)

const fixtures = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  "packages",
  "protocol",
  "test",
  "fixtures",
)

describe("in all that was recorded", () => {
  const messages = readdirSync(fixtures, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ndjson"))
    .flatMap((file) => readFileSync(join(fixtures, file), "utf8").trimEnd().split("\n"))
    .map((line): Envelope => JSON.parse(line))

  it("[V17] no keep_alive was ever seen in the course of a turn", () => {
    expect(messages.length).toBeGreaterThan(500)
    expect(ofType(messages, "keep_alive")).toEqual([])
  })

  it("[V35] no CLI sends a top-level status: that is a relay's invention", () => {
    expect(ofType(messages, "status")).toEqual([])
  })
})
