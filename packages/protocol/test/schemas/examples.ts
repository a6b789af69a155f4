/** One realistic line of every message of an agent, by type or type/subtype. */

const id = { uuid: "0b0a7f3e-6f2d-4a55-9d0c-2f6a1f4f9a01", session_id: "5a1c4c1e-1d1b-4f39-8a57-6e1f0a3c2b10" }

const usage = {
  input_tokens: 12,
  output_tokens: 7,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: null,
  service_tier: "standard",
}

export const apiMessage = {
  id: "msg_01",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  content: [{ type: "text", text: "Here are the files." }],
  stop_reason: null,
  stop_sequence: null,
  usage,
}

const resultCommon = {
  type: "result",
  ...id,
  duration_ms: 1234,
  duration_api_ms: 1000,
  is_error: false,
  num_turns: 1,
  total_cost_usd: 0.05,
  usage,
  modelUsage: {
    "claude-sonnet-4-5-20250929": {
      inputTokens: 12,
      outputTokens: 7,
      cacheReadInputTokens: 0,
      cacheCreationInputTokens: 0,
      webSearchRequests: 0,
      costUSD: 0.05,
      contextWindow: 200_000,
    },
  },
  permission_denials: [{ tool_name: "Bash", tool_use_id: "toolu_1", tool_input: { command: "rm x" } }],
}

const errorResult = (subtype: string) => ({ ...resultCommon, subtype, stop_reason: null, errors: ["it broke"] })
const system = (subtype: string, fields: object) => ({ type: "system", subtype, ...id, ...fields })

/** As 2.1.37 writes it; `init325` has what 2.1.325 adds. */
export const init37 = system("init", {
  cwd: "/srv",
  tools: ["Bash", "Read"],
  mcp_servers: [{ name: "local", status: "connected" }],
  model: "claude-sonnet-4-5-20250929",
  permissionMode: "default",
  slash_commands: ["compact"],
  apiKeySource: "ANTHROPIC_API_KEY",
  claude_code_version: "2.1.37",
  output_style: "default",
  agents: ["Explore"],
  skills: [],
  plugins: [{ name: "p", path: "/p" }],
})
const init325 = {
  ...init37,
  claude_code_version: "2.1.325",
  capabilities: ["interrupt_receipt_v1", "something_newer_v9"],
  fast_mode_state: "off",
  analytics_disabled: true,
  memory_paths: { auto: "/home/user/.claude/projects/-home-user-project/memory/" },
  original_cwd: "/home/user/project",
  additional_directories: [],
}

const retry = { attempt: 1, max_retries: 10, retry_delay_ms: 600 }
const refusal = { trigger: "refusal", original_model: "a", request_id: null, content: "Refused." }
const hook = { hook_id: "h1", hook_name: "PreToolUse:Bash", hook_event: "PreToolUse" }
const taskUsage = { total_tokens: 5, tool_uses: 1, duration_ms: 9 }

export const agentLines: Record<string, { type: string; [field: string]: unknown }> = {
  "system/init": init325,
  "system/status": system("status", { status: null, permissionMode: "plan" }),
  "system/compact_boundary": system("compact_boundary", {
    compact_metadata: { trigger: "auto", pre_tokens: 168_000, post_tokens: 22_000 },
  }),
  "system/hook_started": system("hook_started", hook),
  "system/hook_progress": system("hook_progress", { ...hook, stdout: "", stderr: "", output: "" }),
  "system/hook_response": system("hook_response", {
    ...hook,
    stdout: "",
    stderr: "",
    output: "",
    exit_code: 0,
    outcome: "success",
  }),
  "system/task_notification": system("task_notification", {
    task_id: "t1",
    status: "completed",
    output_file: "/tmp/t1",
    summary: "done",
    usage: taskUsage,
  }),
  "system/files_persisted": system("files_persisted", {
    files: [{ filename: "a", file_id: "f1" }],
    failed: [{ filename: "b", error: "too big" }],
    processed_at: "2026-01-01T00:00:00Z",
  }),
  "system/api_retry": system("api_retry", { ...retry, error_status: 529, error: "overloaded" }),
  "system/control_request_progress": system("control_request_progress", { request_id: "r1", status: "started" }),
  "system/model_refusal_fallback": system("model_refusal_fallback", {
    ...refusal,
    direction: "retry",
    fallback_model: "b",
    retracted_message_uuids: ["u1"],
  }),
  "system/model_refusal_no_fallback": system("model_refusal_no_fallback", refusal),
  "system/local_command_output": system("local_command_output", { content: "Total cost: $0" }),
  "system/plugin_install": system("plugin_install", { status: "failed", name: "p", error: "no" }),
  "system/task_started": system("task_started", { task_id: "t1", description: "Explore", spawn_depth: 1 }),
  "system/task_updated": system("task_updated", { task_id: "t1", patch: { status: "killed", end_time: 1 } }),
  "system/task_progress": system("task_progress", { task_id: "t1", description: "Explore", usage: taskUsage }),
  "system/background_tasks_changed": system("background_tasks_changed", {
    tasks: [{ task_id: "t1", task_type: "local_bash", description: "sleep" }],
  }),
  "system/thinking_tokens": system("thinking_tokens", { estimated_tokens: 40, estimated_tokens_delta: 10 }),
  "system/session_state_changed": system("session_state_changed", { state: "idle", sdk_host_only: true }),
  "system/worker_shutting_down": system("worker_shutting_down", { reason: "sigterm" }),
  "system/commands_changed": system("commands_changed", {
    commands: [{ name: "compact", description: "Compact", argumentHint: "" }],
  }),
  "system/notification": system("notification", { key: "k", text: "Hello", priority: "low" }),
  "system/memory_recall": system("memory_recall", { mode: "select", memories: [{ path: "/m", scope: "team" }] }),
  "system/elicitation_complete": system("elicitation_complete", { mcp_server_name: "s", elicitation_id: "e1" }),
  "system/permission_denied": system("permission_denied", {
    tool_name: "Bash",
    tool_use_id: "toolu_1",
    message: "Denied by rule",
  }),
  "system/mirror_error": system("mirror_error", { error: "disk", key: { projectKey: "p", sessionId: "s" } }),
  "system/informational": system("informational", { content: "Note", level: "warning", tag: "hook_callback_failed" }),
  "system/session_writes_lost": system("session_writes_lost", { error_code: "ENOSPC", lost: ["transcript"] }),
  "system/session_title_changed": { type: "system", subtype: "session_title_changed", title: "New" },
  assistant: {
    type: "assistant",
    ...id,
    message: apiMessage,
    parent_tool_use_id: null,
    error: "rate_limit",
    supersedes: ["u0"],
  },
  user: {
    type: "user",
    ...id,
    message: {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok", is_error: false }],
    },
    parent_tool_use_id: null,
    tool_use_result: { stdout: "ok" },
    isReplay: true,
  },
  stream_event: {
    type: "stream_event",
    ...id,
    event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "He" } },
    parent_tool_use_id: null,
    ttft_ms: 12,
  },
  "result/success": { ...resultCommon, subtype: "success", result: "Done.", terminal_reason: "completed" },
  "result/error_during_execution": errorResult("error_during_execution"),
  "result/error_max_turns": errorResult("error_max_turns"),
  "result/error_max_budget_usd": errorResult("error_max_budget_usd"),
  "result/error_max_structured_output_retries": errorResult("error_max_structured_output_retries"),
  tool_progress: {
    type: "tool_progress",
    ...id,
    tool_use_id: "toolu_1",
    tool_name: "Bash",
    parent_tool_use_id: null,
    elapsed_time_seconds: 15,
  },
  tool_use_summary: { type: "tool_use_summary", ...id, summary: "Read 2 files", preceding_tool_use_ids: ["toolu_1"] },
  auth_status: { type: "auth_status", ...id, isAuthenticating: true, output: ["Authenticating..."], error: null },
  streamlined_text: { type: "streamlined_text", ...id, text: "Hi" },
  streamlined_tool_use_summary: { type: "streamlined_tool_use_summary", ...id, tool_summary: "Read 2 files" },
  rate_limit_event: {
    type: "rate_limit_event",
    ...id,
    rate_limit_info: { status: "allowed", resetsAt: 1_770_000_000, overageStatus: "rejected" },
  },
  prompt_suggestion: { type: "prompt_suggestion", ...id, suggestion: "Run the tests" },
  conversation_reset: { type: "conversation_reset", ...id, new_conversation_id: "c2", trigger: "clear" },
  active_goal: { type: "active_goal", value: null },
  autocompact_state: {
    type: "autocompact_state",
    value: {
      enabled: true,
      effective_window: 980_000,
      threshold: 967_000,
      enforced: true,
      source: "model-default",
    },
    ...id,
  },
  command_lifecycle: { type: "command_lifecycle", ...id, command_uuid: "u1", state: "queued" },
  transcript_mirror: { type: "transcript_mirror", filePath: "/t.jsonl", entries: [{}] },
  "control_request/can_use_tool": {
    type: "control_request",
    request_id: "r1",
    request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "toolu_1" },
  },
  control_response: { type: "control_response", response: { subtype: "success", request_id: "r1" } },
  control_cancel_request: { type: "control_cancel_request", request_id: "r1" },
  keep_alive: { type: "keep_alive" },
}
