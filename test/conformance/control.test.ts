import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fieldOf } from "@signalbox/protocol"
import { expect } from "vitest"
import { withAgent } from "./agent-host.ts"
import { allowTools, hookOutput, shoutingServer } from "./answers.ts"
import { conformance, isNew, isOldest } from "./cells.ts"

const idle = { turns: [{ steps: [{ say: "Hello." }] }, { steps: [{ say: "Again." }] }] }

conformance("interrupt mid-stream", (cell) =>
  withAgent(
    cell,
    {
      scenario: {
        turns: [
          { steps: [{ say: "Once upon a time", unfinished: true }, { hang: true }] },
          { steps: [{ say: "Still here." }] },
        ],
      },
      flags: { includePartialMessages: true },
    },
    async (agent) => {
      await agent.request({ subtype: "initialize" })
      await agent.prompt("tell me a story")
      await agent.untilMatch((message) => JSON.stringify(message).includes("Once upon"), "the first words")
      expect(await agent.request({ subtype: "interrupt" })).toMatchObject({ subtype: "success" })
      expect(await agent.until("result")).toMatchObject({ subtype: "error_during_execution" })
      const next = await agent.turn("and now")
      expect(next.at(-1)).toMatchObject({ subtype: "success", result: "Still here." })
    },
  ),
)

conformance("set_model", (cell) =>
  withAgent(cell, { scenario: idle }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    expect(await agent.request({ subtype: "set_model", model: "claude-haiku-4-5" })).toMatchObject({
      subtype: "success",
    })
    await agent.prompt("who are you")
    expect(await agent.until("system", "init")).toMatchObject({ model: expect.stringContaining("haiku-4-5") })
    await agent.until("result")
    const asked = agent.api.requests.filter((request) => request.path.startsWith("/v1/messages"))
    expect(asked.at(-1)?.model).toContain("haiku-4-5")
  }),
)

conformance("set_permission_mode", (cell) =>
  withAgent(cell, { scenario: idle }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    expect(await agent.ask({ subtype: "set_permission_mode", mode: "acceptEdits" })).toMatchObject({
      mode: "acceptEdits",
    })
    await agent.prompt("go")
    expect(await agent.until("system", "init")).toMatchObject({ permissionMode: "acceptEdits" })
    await agent.until("result")
  }),
)

conformance("mcp_status", (cell) =>
  withAgent(cell, { scenario: idle }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    expect(await agent.ask({ subtype: "mcp_status" })).toEqual({ mcpServers: expect.any(Array) })
  }),
)

conformance("SDK-hosted MCP server", async (cell) => {
  const calls: unknown[] = []
  const scenario = {
    turns: [{ steps: [{ tool: "mcp__shouting__shout", input: { text: "hello" } }, { say: "Said." }] }],
  }
  await withAgent(cell, { scenario, onRequest: shoutingServer(calls) }, async (agent) => {
    await agent.request({ subtype: "initialize", sdkMcpServers: ["shouting"] })
    const turn = await agent.turn("shout")
    expect(calls).toMatchObject([{ name: "shout", arguments: { text: "hello" } }])
    expect(JSON.stringify(turn)).toContain("HELLO")
    const { mcpServers } = await agent.ask({ subtype: "mcp_status" })
    expect(mcpServers).toMatchObject([{ name: "shouting", status: "connected" }])
  })
})

const bashTurn = { turns: [{ steps: [{ tool: "Bash", input: { command: "touch made" } }, { say: "Done." }] }] }
const preToolUse = { PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["hook_0"], timeout: 30 }] }

conformance("PreToolUse hook that blocks", (cell) => {
  const output = {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: "Not here.",
    },
  }
  return withAgent(cell, { scenario: bashTurn, onRequest: hookOutput(output) }, async (agent) => {
    await agent.request({ subtype: "initialize", hooks: preToolUse })
    await agent.prompt("make a file")
    const called = await agent.until("control_request", "hook_callback")
    expect(fieldOf(called, "request")).toMatchObject({
      callback_id: "hook_0",
      input: { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "touch made" } },
    })
    await agent.until("result")
    expect(existsSync(join(agent.folder.cwd, "made"))).toBe(false)
    expect(JSON.stringify(agent.seen)).toContain("Not here.")
    expect(agent.seen.some((message) => fieldOf(message, "request")?.["subtype"] === "can_use_tool")).toBe(false)
  })
})

conformance("PreToolUse hook that rewrites", (cell) => {
  const output = {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "allow",
      updatedInput: { command: "echo hook > rewritten" },
    },
  }
  return withAgent(cell, { scenario: bashTurn, onRequest: hookOutput(output) }, async (agent) => {
    await agent.request({ subtype: "initialize", hooks: preToolUse })
    await agent.turn("make a file")
    expect(existsSync(join(agent.folder.cwd, "made"))).toBe(false)
    expect(readFileSync(join(agent.folder.cwd, "rewritten"), "utf8")).toBe("hook\n")
  })
})

conformance("[V10] rewind_files", async (cell) => {
  const scenario = (file: string) => ({
    turns: [
      {
        steps: [
          { tool: "Read", input: { file_path: file } },
          { tool: "Edit", input: { file_path: file, old_string: "before", new_string: "after" } },
          { say: "Edited." },
        ],
      },
    ],
  })
  const { makeFolder } = await import("./agent-host.ts")
  const folder = await makeFolder()
  const file = join(folder.cwd, "notes.txt")
  writeFileSync(file, "before\n")
  const options = {
    folder,
    scenario: scenario(file),
    onRequest: allowTools,
    env: { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" },
    flags: { replayUserMessages: true },
  }
  const uuid = "6f1d0e9a-1111-4222-8333-444455556666"
  await withAgent(cell, options, async (agent) => {
    await agent.request({ subtype: "initialize" })
    await agent.turn("edit it", uuid)
    expect(readFileSync(file, "utf8")).toBe("after\n")
    const dry = await agent.ask({ subtype: "rewind_files", user_message_id: uuid, dry_run: true })
    expect(dry).toMatchObject({ canRewind: true, filesChanged: [file] })
    expect(readFileSync(file, "utf8")).toBe("after\n")
    expect(await agent.ask({ subtype: "rewind_files", user_message_id: uuid })).toMatchObject({ canRewind: true })
    expect(readFileSync(file, "utf8")).toBe("before\n")
  })
  await folder.remove()
})

conformance("an unknown control request", (cell) =>
  withAgent(cell, { scenario: idle }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const silent = Symbol("no reply")
    const answer = agent.request({ subtype: "never_heard_of" }).catch(() => silent)
    // A second request shows that the first one was passed over, where it was.
    await agent.ask({ subtype: "mcp_status" })
    if (isOldest(cell)) {
      const replies = agent.seen.filter((message) => fieldOf(message, "response")?.["request_id"] === "host-2")
      expect(replies).toEqual([])
      return
    }
    expect(await answer).toMatchObject({ subtype: "error" })
    if (isNew(cell)) expect(await answer).toMatchObject({ error_code: "unsupported_request" })
  }),
)

/** Requests that only read, or change nothing that matters to a session that ends anyway. */
const NEWER_REQUESTS: readonly ({ subtype: string } & Record<string, unknown>)[] = [
  { subtype: "get_context_usage" },
  { subtype: "get_session_cost" },
  { subtype: "list_models" },
  { subtype: "get_usage", skip_behaviors: true },
  { subtype: "get_binary_version" },
  { subtype: "file_suggestions", query: "no" },
  { subtype: "read_file", path: "notes.txt" },
  { subtype: "get_settings" },
  { subtype: "get_hooks_listing" },
  { subtype: "list_permission_rules" },
  { subtype: "reload_skills" },
  { subtype: "reload_output_styles" },
  { subtype: "reload_plugins" },
  { subtype: "rename_session", title: "A better name" },
  { subtype: "set_max_thinking_tokens", max_thinking_tokens: 2000 },
  { subtype: "set_has_subscribers", has_subscribers: true },
  { subtype: "cancel_async_message", message_uuid: "6f1d0e9a-1111-4222-8333-444455556666" },
  { subtype: "apply_flag_settings", settings: {} },
  { subtype: "background_tasks" },
  { subtype: "mcp_set_servers", servers: {} },
  { subtype: "get_plan" },
  { subtype: "get_status" },
]

conformance(
  "newer control requests",
  (cell) =>
    withAgent(cell, { scenario: idle }, async (agent) => {
      writeFileSync(join(agent.folder.cwd, "notes.txt"), "a note\n")
      await agent.request({ subtype: "initialize" })
      await agent.turn("hi")
      // Each reply is held against its schema on the way.
      for (const request of NEWER_REQUESTS) {
        expect({ request, ...(await agent.request(request)) }).toMatchObject({ request, subtype: "success" })
      }
      expect(await agent.request({ subtype: "end_session" })).toMatchObject({ subtype: "success" })
      expect((await agent.exited()).error).toBeUndefined()
    }),
  { versions: ["2.1.325"] },
)
