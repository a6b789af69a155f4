import {
  HOOK_EVENTS,
  HOOK_EVENTS_BY_GENERATION,
  HookInput,
  type HookInputOf,
  HookOutput,
  HookRegistration,
  type HookSpecificOutputOf,
  hookInputs,
  hookSpecificOutputs,
} from "@signalbox/protocol/schemas"
import { describe, expect, expectTypeOf, test } from "vitest"

const base = { session_id: "s", transcript_path: "/t.jsonl", cwd: "/srv", permission_mode: "default" }
const tool = { tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "toolu_1" }
const modelSwitch = {
  from_model: "a",
  to_model: "b",
  requested_model: "b",
  source: "user",
  context_tokens: 10,
  prompt_cache_warm: true,
  cache_ttl: "5m",
  estimated_cache_write_usd: 0.1,
  pricing: {},
}
const task = { task_id: "t", task_subject: "Do it" }
const stop = { stop_hook_active: false }

const inputs: Record<(typeof HOOK_EVENTS)[number], object> = {
  PreToolUse: tool,
  PostToolUse: { ...tool, tool_response: { stdout: "" }, duration_ms: 3 },
  PostToolUseFailure: { ...tool, error: "exit 1", is_interrupt: false },
  PostToolBatch: { tool_calls: [tool] },
  Notification: { message: "Waiting", notification_type: "idle_prompt" },
  UserPromptSubmit: { prompt: "Hi" },
  UserPromptExpansion: { expansion_type: "slash", command_name: "x", command_args: "", prompt: "/x" },
  SessionStart: { source: "startup", model: "m" },
  SessionEnd: { reason: "other" },
  Stop: stop,
  StopFailure: { error: "overloaded" },
  SubagentStart: { agent_id: "a", agent_type: "Explore" },
  SubagentStop: { ...stop, agent_id: "a", agent_transcript_path: "/a.jsonl", agent_type: "Explore" },
  PreCompact: { trigger: "manual", custom_instructions: null },
  PostCompact: { trigger: "auto", compact_summary: "short" },
  PreModelSwitch: modelSwitch,
  PostModelSwitch: modelSwitch,
  PermissionRequest: { tool_name: "Bash", tool_input: {}, permission_suggestions: [] },
  PermissionDenied: { ...tool, reason: "rule" },
  Setup: { trigger: "init" },
  TeammateIdle: { teammate_name: "t", team_name: "x" },
  TaskCreated: task,
  TaskCompleted: task,
  Elicitation: { mcp_server_name: "s", message: "Name?", requested_schema: { type: "object" } },
  ElicitationResult: { mcp_server_name: "s", action: "accept", content: { name: "x" } },
  ConfigChange: { source: "user_settings" },
  WorktreeCreate: { name: "w" },
  WorktreeRemove: { worktree_path: "/w" },
  InstructionsLoaded: { file_path: "/CLAUDE.md", memory_type: "Project", load_reason: "session_start" },
  CwdChanged: { old_cwd: "/a", new_cwd: "/b" },
  FileChanged: { file_path: "/a", event: "change" },
  DirectoryAdded: { directory: "/d", source: "user" },
  MessageDisplay: { turn_id: "t", message_id: "m", index: 0, final: true, delta: "x" },
}

describe("hook events", () => {
  test("are 12, 15 and 33 in the three generations", () => {
    const { "2.0.77": A, "2.1.37": B, "2.1.325": N } = HOOK_EVENTS_BY_GENERATION
    expect([A.length, B.length, N.length]).toEqual([12, 15, 33])
    expect(N).toEqual(HOOK_EVENTS)
    expect(B.filter((event) => !A.includes(event))).toEqual(["Setup", "TeammateIdle", "TaskCompleted"])
  })
})

describe("a hook's input", () => {
  test.each(Object.entries(inputs))("for %s validates and keeps what nobody knows", (hook_event_name, fields) => {
    const input = { ...base, hook_event_name, ...fields, effort: { level: "high" }, extra: 1 }
    expect(HookInput.parse(input)).toEqual(input)
  })

  test("for an event of tomorrow validates", () => {
    expect(HookInput.safeParse({ ...base, hook_event_name: "MoonRise" }).success).toBe(true)
  })

  test("for a known event without its fields is refused", () => {
    expect(HookInput.safeParse({ ...base, hook_event_name: "PreToolUse" }).success).toBe(false)
    expect(HookInput.safeParse({ hook_event_name: "Stop", stop_hook_active: true }).success).toBe(false)
  })

  test("is typed by its event", () => {
    expectTypeOf<HookInputOf<"PreToolUse">["tool_input"]>().toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<HookInputOf<"PreToolUse">["hook_event_name"]>().toEqualTypeOf<"PreToolUse">()
    expectTypeOf<HookInputOf<"Stop">["cwd"]>().toEqualTypeOf<string>()
    // @ts-expect-error the base holds no number where the path is
    const wrong: HookInputOf<"Stop">["transcript_path"] = 1
    expect(hookInputs.Stop.shape.transcript_path.safeParse(wrong).success).toBe(false)
    const input = HookInput.parse({ ...base, hook_event_name: "UserPromptSubmit", prompt: "Hi" })
    if (input.hook_event_name !== "UserPromptSubmit") throw new Error("not narrowed")
    expectTypeOf(input.prompt).toEqualTypeOf<string>()
  })
})

describe("a hook's output", () => {
  test.each([
    {},
    { continue: false, stopReason: "enough" },
    { decision: "block", reason: "no", systemMessage: "blocked" },
    { async: true, asyncTimeout: 5000 },
    { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "defer", extra: 1 } },
    { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "deny", message: "no" } } },
    { hookSpecificOutput: { hookEventName: "MoonRise", tide: "high" } },
  ])("validates: %j", (output) => {
    expect(HookOutput.parse(output)).toEqual(output)
  })

  test.each([
    { async: "yes" },
    { continue: "no" },
    { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput: "ls" } },
    { hookSpecificOutput: { permissionDecision: "allow" } },
    { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "ask" } } },
  ])("of the wrong shape is refused: %j", (output) => {
    expect(HookOutput.safeParse(output).success).toBe(false)
  })

  test("is typed by its event", () => {
    expectTypeOf<HookSpecificOutputOf<"PreToolUse">["updatedInput"]>().toEqualTypeOf<
      Record<string, unknown> | undefined
    >()
    expect(Object.keys(hookSpecificOutputs)).not.toContain("SessionEnd")
  })
})

test("a hook registration may have a null matcher, which matches everything", () => {
  expect(HookRegistration.safeParse({ matcher: null, hookCallbackIds: ["hook_2"] }).success).toBe(true)
  expect(HookRegistration.safeParse({ matcher: "Bash" }).success).toBe(false)
})
