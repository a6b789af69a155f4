import type { Scenario } from "@signalbox/simulator"

type Message = { readonly type: string; readonly [field: string]: unknown }

/** What the agent says, and the rows it becomes: the row's name, and what else stands in it. None: it has no row of its own. */
interface Case {
  readonly says: readonly Message[]
  readonly rows: readonly (readonly [name: string, ...texts: readonly string[]])[]
}

let nextId = 0
const assistant = (content: readonly unknown[], extra: Record<string, unknown> = {}): Message => ({
  type: "assistant",
  parent_tool_use_id: null,
  message: { id: `row-${++nextId}`, role: "assistant", model: "x", content },
  ...extra,
})
const text = (words: string, extra: Record<string, unknown> = {}) => assistant([{ type: "text", text: words }], extra)
const system = (subtype: string, facts: Record<string, unknown> = {}): Message => ({
  type: "system",
  subtype,
  ...facts,
})

interface Told {
  readonly content?: unknown
  readonly structured?: unknown
  readonly isError?: boolean
}

/** A call and its result. */
function used(name: string, input: Record<string, unknown>, told: Told = {}): readonly Message[] {
  const id = `use-${++nextId}`
  const { content = "ok", structured, isError = false } = told
  return [
    assistant([{ type: "tool_use", id, name, input }]),
    {
      type: "user",
      parent_tool_use_id: null,
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error: isError }] },
      ...(structured === undefined ? {} : { tool_use_result: structured }),
    },
  ]
}
const one = (row: readonly [name: string, ...texts: readonly string[]], ...says: readonly Message[]): Case => ({
  says,
  rows: [row],
})

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } }
/** How CLIs before the newest tell a page of a document. */
const page: Message = {
  type: "user",
  isSynthetic: true,
  parent_tool_use_id: null,
  message: { role: "user", content: [image] },
}
const patch = [{ oldStart: 3, oldLines: 1, newStart: 3, newLines: 1, lines: ["-before", "+after"] }]
const todo = (content: string, status: string) => ({ content, status, activeForm: content })
const agentCall = {
  type: "tool_use",
  id: "agent-1",
  name: "Task",
  input: { description: "Look around", subagent_type: "Explore" },
}

const SPEECH: readonly Case[] = [
  one(["Claude: Here it begins."], text("Here it begins.")),
  one(
    ["Thinking", "Thinking · 6.0 s"],
    assistant([{ type: "thinking", thinking: "Hm.", signature: "s" }], { thinking_duration_ms: 6000 }),
  ),
  one(["Thinking", "hidden by the model"], assistant([{ type: "redacted_thinking", data: "x" }])),
  one(["Request failed", "Rate limit reached.", "Wait for it to reset"], text("429", { error: "rate_limit" })),
  {
    says: [
      text("Old words", { uuid: "00000000-0000-4000-8000-000000000001" }),
      text("New words", { supersedes: ["00000000-0000-4000-8000-000000000001"] }),
    ],
    rows: [["Claude: Old words", "Retracted by the model"], ["Claude: New words"]],
  },
  one(
    ["opus refused; haiku goes on.", "opus refused; haiku goes on."],
    system("model_refusal_fallback", { original_model: "opus", fallback_model: "haiku", content: "" }),
  ),
  one(["Added automatically"], {
    type: "user",
    isSynthetic: true,
    parent_tool_use_id: null,
    message: { role: "user", content: [{ type: "text", text: "A reminder." }] },
  }),
  one(["Image"], assistant([image])),
]

const TOOLS: readonly Case[] = [
  one(
    ["Command npm test", "Run the tests", "12 passed", "stderr", "a warning"],
    ...used(
      "Bash",
      { command: "npm test", description: "Run the tests" },
      { structured: { stdout: "12 passed", stderr: "a warning" } },
    ),
  ),
  one(
    ["Command git commit -m x", "commit 4be1c7d"],
    ...used("Bash", { command: "git commit -m x" }, { content: "[main 4be1c7d] x" }),
  ),
  one(
    ["Command npm run lint", "exit 1 · Failed"],
    ...used("Bash", { command: "npm run lint" }, { content: "Exit code 1\nno", isError: true }),
  ),
  {
    says: [
      ...used("Read", { file_path: "/src/a.ts" }, { structured: { type: "text", file: { numLines: 12 } } }),
      ...used("Glob", { pattern: "**/*.ts" }, { structured: { numFiles: 100, truncated: true } }),
      ...used("Grep", { pattern: "x" }, { structured: { mode: "files_with_matches", numFiles: 2 } }),
      ...used(
        "WebSearch",
        { query: "news" },
        { structured: { results: [{ content: [{ title: "Here", url: "https://a.example/" }] }] } },
      ),
      { type: "tool_use_summary", summary: "Looked around first", preceding_tool_use_ids: [] },
    ],
    rows: [["Read 1 file, searched 2 patterns, searched the web"]],
  },
  one(
    ["Edit /src/a.ts", "+1", "−1", "edited by you", "before", "after"],
    ...used(
      "Edit",
      { file_path: "/src/a.ts", old_string: "before", new_string: "after" },
      { structured: { structuredPatch: patch, userModified: true } },
    ),
  ),
  {
    says: [
      ...used(
        "Read",
        { file_path: "/docs/whole.pdf" },
        { content: "PDF file read", structured: { type: "pdf", file: { base64: "JVBERi0x", originalSize: 6 } } },
      ),
      ...used(
        "Read",
        { file_path: "/docs/parts.pdf", pages: "3-4" },
        { content: "PDF pages extracted", structured: { type: "parts", file: { count: 2, originalSize: 6 } } },
      ),
      page,
      page,
    ],
    rows: [["Read 2 files", "whole.pdf", "PDF · 6 B", "Download", "parts.pdf, pages 3-4", "2 pages"]],
  },
  one(
    ["Write /src/new.ts", "+60", "Show 20 more lines"],
    ...used("Write", { file_path: "/src/new.ts", content: "line\n".repeat(60) }),
  ),
  one(
    ["Edit /src/a.ipynb", "cell c1", "insert"],
    ...used("NotebookEdit", { notebook_path: "/src/a.ipynb", cell_id: "c1", edit_mode: "insert", new_source: "1 + 1" }),
  ),
  one(["Fetch https://a.example/page"], ...used("WebFetch", { url: "https://a.example/page", prompt: "What?" })),
  one(
    ["To-do list 1 of 2 done, 1 started", "1 done, 1 started"],
    ...used(
      "TodoWrite",
      { todos: [todo("Look", "completed"), todo("Mend", "in_progress")] },
      { structured: { oldTodos: [todo("Look", "in_progress"), todo("Mend", "pending")], newTodos: [] } },
    ),
  ),
  one(["New task Sweep", "New task"], ...used("TaskCreate", { subject: "Sweep" }, { content: "Task #7 created" })),
  one(["Task 7 started"], ...used("TaskUpdate", { taskId: "7", status: "in_progress" })),
  one(
    ["Explore Look around", "1 tool call", "9 tokens"],
    assistant([agentCall]),
    system("task_started", {
      task_id: "k1",
      tool_use_id: "agent-1",
      description: "Look around",
      subagent_type: "Explore",
    }),
    text("In the lane.", { parent_tool_use_id: "agent-1" }),
    system("task_progress", {
      task_id: "k1",
      tool_use_id: "agent-1",
      usage: { total_tokens: 9, tool_uses: 1, duration_ms: 5 },
      last_tool_name: "Read",
    }),
    {
      type: "user",
      parent_tool_use_id: null,
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "agent-1", content: "Nothing." }] },
    },
  ),
  one(
    ["Question Which colour?", "Which colour?", "Red"],
    ...used(
      "AskUserQuestion",
      { questions: [{ question: "Which colour?", header: "Colour", options: [] }] },
      { structured: { answers: { "Which colour?": "Red" } } },
    ),
  ),
  one(["Plan mode"], ...used("EnterPlanMode", {})),
  one(["Plan", "First look"], ...used("ExitPlanMode", { plan: "First look, then leap." })),
  one(["Skill review"], ...used("Skill", { skill: "review" })),
  one(
    ["files · list /x", "files"],
    ...used(
      "mcp__files__list",
      { path: "/x" },
      {
        content: [
          { type: "text", text: "one" },
          image,
          { type: "resource_link", uri: "https://a.example/r", name: "r" },
        ],
      },
    ),
  ),
  one(["Zebra stripes"], ...used("Zebra", { pattern: "stripes" })),
  one(
    ["Search broken", "Failed"],
    ...used("Grep", { pattern: "broken" }, { content: "no such folder", isError: true }),
  ),
  {
    says: [
      assistant([{ type: "tool_use", id: "denied-1", name: "Bash", input: { command: "rm -rf /" } }]),
      system("permission_denied", {
        tool_name: "Bash",
        tool_use_id: "denied-1",
        decision_reason_type: "rule",
        decision_reason: "no-rm",
        message: "Not allowed here",
      }),
    ],
    rows: [["Command rm -rf /", "Denied by rule no-rm: Not allowed here"]],
  },
  one(
    ["Command sleep 1", "No result recorded"],
    assistant([{ type: "tool_use", id: "open-1", name: "Bash", input: { command: "sleep 1" } }]),
  ),
]

const NOTICES: readonly Case[] = [
  one(
    ["Started", "model: ", "→ Plan"],
    system("init", { model: "another", permissionMode: "plan", cwd: "/elsewhere", tools: [], mcp_servers: [] }),
  ),
  one(
    ["Context compacted", "Context compacted, 168k → 22k tokens, automatic"],
    system("status", { status: "compacting" }),
    system("compact_boundary", { compact_metadata: { trigger: "auto", pre_tokens: 168_000, post_tokens: 22_000 } }),
  ),
  one(
    ["Hook PreToolUse:lint", "Hook PreToolUse:lint ok"],
    system("hook_started", { hook_id: "h1", hook_name: "PreToolUse:lint", hook_event: "PreToolUse" }),
    system("hook_response", {
      hook_id: "h1",
      hook_name: "PreToolUse:lint",
      hook_event: "PreToolUse",
      outcome: "success",
      exit_code: 0,
      output: "",
    }),
  ),
  one(
    ["Hook Stop:check", "Hook Stop:check failed", "broken glass"],
    system("hook_response", {
      hook_id: "h2",
      hook_name: "Stop:check",
      hook_event: "Stop",
      outcome: "error",
      exit_code: 1,
      output: "broken glass",
    }),
  ),
  one(["Rate limit", "5-hour limit reached, 100 % used"], {
    type: "rate_limit_event",
    rate_limit_info: { status: "rejected", rateLimitType: "five_hour", utilization: 1 },
  }),
  one(
    ["Retry", "Recovered after 2 retries"],
    system("api_retry", { attempt: 1, max_retries: 10, retry_delay_ms: 500, error_status: 529, error: "overloaded" }),
    system("api_retry", { attempt: 2, max_retries: 10, retry_delay_ms: 1000, error_status: 529, error: "overloaded" }),
  ),
  one(["New conversation begins"], { type: "conversation_reset", new_conversation_id: "n" }),
  one(
    ["2 files stored", "a", "b"],
    system("files_persisted", { files: [{ filename: "a" }, { filename: "b" }], failed: [] }),
  ),
  one(["Recalled 1 memory", "m"], system("memory_recall", { memories: [{ path: "m" }], mode: "select" })),
  one(["Look here"], system("notification", { key: "k", text: "Look here", priority: "high" })),
  one(["For your information"], system("informational", { content: "For your information", level: "info" })),
  one(["Done by hand"], system("local_command_output", { content: "Done by hand" })),
  one(["Plugin lint installed"], system("plugin_install", { name: "lint", status: "installed" })),
  one(["Suggested: Run it again"], { type: "prompt_suggestion", suggestion: "Run it again" }),
  one(
    ["The disk is full (ENOSPC): parts of the session are not on disk"],
    system("session_writes_lost", { error_code: "ENOSPC" }),
  ),
  one(["Sign-in failed expired Sign in on its machine: run claude and then /login", "expired"], {
    type: "auth_status",
    isAuthenticating: false,
    output: [],
    error: "expired",
  }),
  {
    says: [
      { type: "keep_alive" },
      { type: "command_lifecycle", command_uuid: "c", state: "started" },
      system("session_state_changed", { state: "running" }),
      system("background_tasks_changed", { tasks: [] }),
      {
        type: "tool_progress",
        tool_use_id: "open-1",
        tool_name: "Bash",
        parent_tool_use_id: null,
        elapsed_time_seconds: 1,
      },
    ],
    rows: [],
  },
  one(["Unknown event zebra"], { type: "zebra", stripes: 3 }),
  one(["Unknown event quagga"], system("quagga")),
]

const CASES = [...SPEECH, ...TOOLS, ...NOTICES]

/** Every kind of message that there is, one after the other. */
export const everyMessage: Scenario = {
  turns: [{ steps: [...CASES.flatMap(({ says }) => says.map((emit) => ({ emit }))), { say: "Here it ends." }] }],
}

/** … and the rows that must come of it, no more and no fewer. */
export const everyRow: readonly (readonly [name: string, ...texts: readonly string[]])[] = [
  ...CASES.flatMap(({ rows }) => rows),
  ["Claude: Here it ends."],
]
