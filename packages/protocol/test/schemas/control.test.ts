import {
  type AgentControlRequest,
  AuthLine,
  type ControlReplyOf,
  type ControlRequestOf,
  ControlResponse,
  type ControlSubtype,
  type ControlSubtypeOf,
  controlRequests,
  schemaFor,
  UpdateEnvironmentVariables,
  UpdateEnvironmentVariablesReply,
} from "@signalbox/protocol/schemas"
import { describe, expect, expectTypeOf, test } from "vitest"

type Example = { request: object; reply: unknown }
const bare: Example = { request: {}, reply: undefined }
const rpc = { jsonrpc: "2.0", id: 1, method: "tools/list" }
const hookInput = { session_id: "s", transcript_path: "/t", cwd: "/", hook_event_name: "Stop", stop_hook_active: false }
const initialized = {
  commands: [{ name: "compact", description: "Compact", argumentHint: "" }],
  output_style: "default",
  available_output_styles: ["default"],
  models: [{ value: "default", displayName: "Default", description: "x" }],
  account: { tokenSource: "none", apiKeySource: "ANTHROPIC_API_KEY" },
  pid: 12,
}

const examples: Record<ControlSubtype, Example> = {
  initialize: {
    request: {
      hooks: { PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["hook_0"], timeout: 30 }] },
      sdkMcpServers: ["local"],
      systemPrompt: [""],
      agents: { tester: { description: "Tests", prompt: "You test.", tools: ["Bash"] } },
    },
    reply: initialized,
  },
  interrupt: { request: { cancel_queued: true }, reply: { still_queued: [], cancelled: ["u"] } },
  set_permission_mode: { request: { mode: "acceptEdits" }, reply: { mode: "acceptEdits" } },
  set_model: { request: { model: null }, reply: { model: "m" } },
  set_max_thinking_tokens: { request: { max_thinking_tokens: null }, reply: {} },
  mcp_status: { request: {}, reply: { mcpServers: [{ name: "x", status: "needs-auth" }] } },
  mcp_set_servers: {
    request: { servers: { x: { type: "stdio", command: "node" } } },
    reply: { added: ["x"], removed: [], errors: {} },
  },
  rewind_files: { request: { user_message_id: "u", dry_run: true }, reply: { canRewind: true, filesChanged: ["/a"] } },
  mcp_message: { request: { server_name: "s", message: rpc }, reply: { mcp_response: { jsonrpc: "2.0", id: 1 } } },
  can_use_tool: {
    request: {
      tool_name: "Bash",
      input: { command: "touch a" },
      tool_use_id: "toolu_1",
      permission_suggestions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
      decision_reason: "outside",
    },
    reply: { behavior: "allow", updatedInput: { command: "touch a" } },
  },
  hook_callback: { request: { callback_id: "hook_0", input: hookInput }, reply: { continue: true } },
  mcp_reconnect: { request: { serverName: "x" }, reply: undefined },
  mcp_toggle: { request: { serverName: "x", enabled: false }, reply: undefined },
  rename_session: { request: { title: "T" }, reply: undefined },
  set_color: { request: { color: "red" }, reply: undefined },
  get_context_usage: {
    request: { detail: "summary" },
    reply: {
      categories: [{ name: "Messages", tokens: 5 }],
      totalTokens: 5,
      maxTokens: 200_000,
      percentage: 0,
      model: "m",
      apiUsage: null,
    },
  },
  get_session_cost: { request: {}, reply: { text: "$0" } },
  list_models: { request: {}, reply: { models: initialized.models } },
  get_usage: {
    request: {},
    reply: { session: {}, subscription_type: null, rate_limits_available: false, rate_limits: null, behaviors: null },
  },
  get_binary_version: { request: {}, reply: { version: "2.1.325" } },
  mcp_call: { request: { tool: "mcp__x__y", arguments: {} }, reply: { content: [] } },
  file_suggestions: { request: { query: "a" }, reply: { suggestions: [], cwd: "/" } },
  cancel_async_message: { request: { message_uuid: "u" }, reply: { cancelled: true } },
  read_file: { request: { path: "a" }, reply: { contents: "", absPath: "/a", requested_path: "a" } },
  seed_read_state: { request: { path: "a", mtime: 1 }, reply: undefined },
  register_repo_root: { request: { directory: "/r" }, reply: undefined },
  reload_plugins: {
    request: {},
    reply: { commands: [], agents: [], plugins: [], mcpServers: [], error_count: 0 },
  },
  reload_skills: { request: {}, reply: { skills: [] } },
  reload_output_styles: { request: {}, reply: { available_output_styles: [] } },
  set_has_subscribers: { request: { has_subscribers: null }, reply: undefined },
  stop_task: { request: { task_id: "t" }, reply: {} },
  background_tasks: { request: {}, reply: {} },
  get_task_output: { request: { task_id: "t" }, reply: { output: "", total_bytes: 0, truncated: false } },
  apply_flag_settings: { request: { settings: {} }, reply: undefined },
  get_settings: { request: {}, reply: { effective: {}, sources: [], applied: { model: "m", effort: null } } },
  get_hooks_listing: { request: {}, reply: { events: [], hooks: [], eventCatalog: [], policy: {} } },
  update_settings: { request: { source: "localSettings", settings: {} }, reply: undefined },
  list_permission_rules: {
    request: {},
    reply: { state: { rules: [], workspaceDirectories: [], originalCwd: "/", managedOnly: false } },
  },
  mcp_read_resource: {
    request: { serverName: "x", uri: "file:///a" },
    reply: { contents: [{ uri: "file:///a", text: "" }] },
  },
  elicitation: {
    request: { mcp_server_name: "s", message: "Name?", mode: "form", requested_schema: {}, property_order: ["name"] },
    reply: { action: "decline" },
  },
  request_user_dialog: { request: { dialog_kind: "pick", payload: {} }, reply: { behavior: "cancelled" } },
  end_session: bare,
  set_cwd: { request: { path: "/x" }, reply: { status: "ok", cwd: "/x", changed: true } },
  generate_session_title: bare,
  side_question: bare,
  get_plan: { request: {}, reply: { exists: false, content: null, path: null } },
  get_status: bare,
  export_conversation: bare,
  fork_conversation: bare,
  rewind_conversation: { request: { target_message_uuid: "u" }, reply: undefined },
  add_directory: bare,
  get_workspace_diff: bare,
}

describe("control requests", () => {
  const exampleOf: Partial<Record<string, Example>> = examples

  test.each(Object.entries(controlRequests))(
    "%s and its reply validate and keep what nobody knows",
    (subtype, entry) => {
      const example = exampleOf[subtype]
      const line = {
        type: "control_request",
        request_id: "r1",
        request: { subtype, ...example?.request, extra: 1 },
        traceparent: "00-1",
      }
      expect(schemaFor(line)?.parse(line)).toEqual(line)
      expect(entry.response.parse(example?.reply)).toEqual(example?.reply)
    },
  )

  test("are 11, 13 and 41 in the three generations, by subtype", () => {
    const count = (since: string) => Object.values(controlRequests).filter((entry) => entry.since === since).length
    expect([count("2.0.77"), count("2.1.37"), count("2.1.325")]).toEqual([11, 2, 28])
  })

  test("stand in the table under the subtype that they carry", () => {
    for (const [subtype, { request }] of Object.entries(controlRequests)) {
      expect(request.shape.subtype.value).toBe(subtype)
    }
  })

  test("are known only from the side that may ask", () => {
    const ask = { type: "control_request", request_id: "r", request: { subtype: "can_use_tool" } }
    expect(schemaFor(ask, "agent")).toBeDefined()
    expect(schemaFor(ask, "host")).toBeUndefined()
    expectTypeOf<"mcp_message">().toExtend<ControlSubtypeOf<"host"> & ControlSubtypeOf<"agent">>()
    expectTypeOf<ControlSubtypeOf<"agent">>().toEqualTypeOf<
      "mcp_message" | "can_use_tool" | "hook_callback" | "elicitation" | "request_user_dialog"
    >()
  })

  test("of the wrong shape are refused", () => {
    const request = { subtype: "can_use_tool", tool_name: "Bash", tool_input: {}, tool_use_id: "t" }
    const line = { type: "control_request", request_id: "r", request }
    expect(schemaFor(line)?.safeParse(line).success).toBe(false)
  })

  test("and their replies are typed by the subtype", () => {
    expectTypeOf<ControlRequestOf<"set_model">["model"]>().toEqualTypeOf<string | null | undefined>()
    expectTypeOf<NonNullable<ControlReplyOf<"set_model">>["model"]>().toEqualTypeOf<string | null | undefined>()
    expectTypeOf<ControlReplyOf<"rewind_files">["canRewind"]>().toEqualTypeOf<boolean>()
    expectTypeOf<ControlReplyOf<"can_use_tool">["behavior"]>().toEqualTypeOf<"allow" | "deny">()
    const narrow = ({ request }: AgentControlRequest) => {
      if (request.subtype === "can_use_tool") expectTypeOf(request.tool_name).toEqualTypeOf<string>()
    }
    expect(narrow).toBeTypeOf("function")
  })
})

describe("a control response", () => {
  const reply = (response: object) => ({ type: "control_response", response })
  const pending = {
    type: "control_request",
    request_id: "p1",
    request: { subtype: "can_use_tool", tool_name: "Bash", input: {}, tool_use_id: "t" },
  }

  test.each([
    { subtype: "success", request_id: "r" },
    { subtype: "success", request_id: "r", response: { mode: "plan" }, pending_permission_requests: [pending] },
    { subtype: "error", request_id: "r", error: "Already initialized", pending_permission_requests: [] },
    { subtype: "error", request_id: "r", error: "no", error_code: "code_of_tomorrow" },
  ])("validates: %j", (response) => {
    expect(ControlResponse.parse(reply(response))).toEqual(reply(response))
  })

  test.each([
    { type: "control_response" },
    { type: "control_response", request_id: "r", permission: "allow" },
    reply({ subtype: "can_use_tool_result", request_id: "r", result: {} }),
    reply({ subtype: "success" }),
    reply({ subtype: "error", request_id: "r" }),
  ])("in a form that no CLI understands is refused: %j", (line) => {
    expect(ControlResponse.safeParse(line).success).toBe(false)
  })
})

test("environment variables are strings, and the reply names those applied", () => {
  expect(UpdateEnvironmentVariablesReply.safeParse({ applied: ["2.0.77"] }).success).toBe(true)
  const line = { type: "update_environment_variables", variables: { A: "1" } }
  expect(UpdateEnvironmentVariables.parse(line)).toEqual(line)
  expect(UpdateEnvironmentVariables.safeParse({ ...line, variables: { A: 1 } }).success).toBe(false)
})

test("the browser client's auth line stands outside the registry: it never reaches a CLI", () => {
  const line = { type: "auth", credential: { type: "oauth", token: "t" } }
  expect(AuthLine.parse(line)).toEqual(line)
  expect(AuthLine.safeParse({ type: "auth", credential: { type: "oauth" } }).success).toBe(false)
  expect(schemaFor(line)).toBeUndefined()
})
