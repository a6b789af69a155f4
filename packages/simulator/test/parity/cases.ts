import { composeAllow, composeDeny, composeSuccess, type Envelope, fieldOf } from "@signalbox/protocol"
import type { Launch, Scenario } from "@signalbox/simulator"
import { question, shoutingServer } from "../../../../test/conformance/answers.ts"
import type { Asked } from "../support/sim-host.ts"

/** What a case does with an agent, real or simulated. */
export interface ParityHost {
  readonly seen: readonly Envelope[]
  readonly folder: string
  request(request: { subtype: string } & Record<string, unknown>): Promise<unknown>
  prompt(text: string, uuid?: string): Promise<void>
  until(type: string, subtype?: string): Promise<Envelope>
  turn(text: string, uuid?: string): Promise<unknown>
}

export interface ParityCase {
  readonly scenario: Scenario
  /** Flags, under the simulator's names. */
  readonly launch?: Partial<Launch>
  /** Made anew for each run: some remember what they answered. */
  readonly onRequest?: () => (asked: Asked) => Envelope | null
  readonly initialize?: Record<string, unknown>
  readonly run?: (host: ParityHost) => Promise<void>
  /** Versions in which the case makes no sense, with the reason beside it. */
  readonly notOn?: readonly string[]
}

const steps = (...list: Scenario["turns"][number]["steps"]): Scenario => ({ turns: [{ steps: list }] })
const bash = (command: string, more: Record<string, unknown> = {}) => ({ tool: "Bash", input: { command, ...more } })
const failing = { streamError: "overloaded_error", message: "too much" }
const refused = (text: string) => ({
  reply: [{ say: text }],
  stop: { reason: "refusal" as const, category: "cyber" as const, explanation: "Not this" },
})
const U1 = "6f1d0e9a-1111-4222-8333-444455550001"

function allow(asked: Asked): Envelope | null {
  if (asked.subtype === "can_use_tool") return composeAllow(question(asked.request_id, asked.request))
  return asked.subtype === "hook_callback" ? composeSuccess(asked.request_id, {}) : null
}

const hooked = (output: Record<string, unknown>) => () => (asked: Asked) =>
  asked.subtype === "hook_callback" ? composeSuccess(asked.request_id, output) : allow(asked)

const allowing = () => allow
const onPreToolUse = { hooks: { PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["hook_0"], timeout: 30 }] } }
const CHOICE = {
  question: "Which colour?",
  header: "Colour",
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cold" },
  ],
  multiSelect: false,
}

/** Paths in a scenario: `{cwd}` stands for the case's own folder. */
export const parityCases: Readonly<Record<string, ParityCase>> = {
  "one turn": { scenario: steps({ say: "Hello there." }) },
  "thinking, with partial messages": {
    scenario: steps({ think: "Let me see." }, { say: "A b c d e f.", deltas: 6 }),
    launch: { includePartialMessages: true },
  },
  "a message with a uuid, echoed": {
    scenario: steps({ say: "Hello there." }),
    launch: { replayUserMessages: true },
    run: async (host) => {
      await host.turn("hi", U1)
      // What the newest says after the result is there when this is answered.
      await host.request({ subtype: "mcp_status" })
    },
  },
  "a command that is allowed": {
    scenario: steps({ say: "I will." }, bash("touch made", { description: "make a file" }), { say: "Done." }),
    onRequest: allowing,
  },
  "commands of many kinds": {
    scenario: steps(
      bash("node -e 0"),
      bash("echo hi > out.txt"),
      bash("rm -rf build"),
      bash("cat out.txt"),
      bash("false"),
      { say: "Done." },
    ),
    onRequest: allowing,
  },
  "a command that is denied": {
    scenario: steps(bash("touch made"), { say: "Then not." }),
    onRequest: () => (asked) => composeDeny(question(asked.request_id, asked.request), "Not today."),
  },
  "a denial that stops the turn": {
    scenario: steps(bash("touch made"), { say: "never" }),
    onRequest: () => (asked) => composeDeny(question(asked.request_id, asked.request), "Stop.", { interrupt: true }),
  },
  "an answer that makes no sense": {
    scenario: steps(bash("touch made"), { say: "ok" }),
    onRequest: () => (asked) => composeSuccess(asked.request_id, { behavior: "ask" }),
  },
  "a question that fails": {
    scenario: steps(bash("touch made"), { say: "ok" }),
    onRequest: () => (asked) => ({
      type: "control_response",
      response: { subtype: "error", request_id: asked.request_id, error: "boom" },
    }),
  },
  "files written, edited and read": {
    scenario: steps(
      { tool: "Write", input: { file_path: "{cwd}/a.txt", content: "one\ntwo\n" } },
      { tool: "Edit", input: { file_path: "{cwd}/a.txt", old_string: "two", new_string: "2" } },
      { tool: "Read", input: { file_path: "{cwd}/a.txt" } },
      { tool: "Read", input: { file_path: "{cwd}/none.txt" } },
      { tool: "Edit", input: { file_path: "{cwd}/a.txt", old_string: "nothere", new_string: "x" } },
      { say: "Done." },
    ),
    onRequest: allowing,
  },
  "permissions that the host updates": {
    scenario: steps(
      { tool: "Write", input: { file_path: "{cwd}/a.txt", content: "1\n" } },
      { tool: "Write", input: { file_path: "{cwd}/b.txt", content: "2\n" } },
      bash("touch made"),
      { say: "ok" },
    ),
    onRequest: () => (asked) =>
      composeSuccess(asked.request_id, {
        behavior: "allow",
        updatedInput: asked.request["input"],
        updatedPermissions: asked.request["permission_suggestions"],
      }),
  },
  "rules of the launch": {
    scenario: steps(bash("node -e 0"), bash("rm x"), { say: "ok" }),
    launch: { allowedTools: ["Bash(node -e:*)"], disallowedTools: ["Bash(rm:*)"] },
    onRequest: allowing,
  },
  "commands strung together, forbidden, allowed and asked about": {
    scenario: steps(
      bash("true && rm y"),
      bash("FOO=1 rm q"),
      bash("echo hi && make --version"),
      bash("make --version; git push"),
      bash("npm ci && npm test"),
      bash("git add . && git commit -m 'x; y'"),
      { say: "ok" },
    ),
    launch: { allowedTools: ["Bash(make:*)"], disallowedTools: ["Bash(rm:*)"] },
    onRequest: () => (asked) => composeDeny(question(asked.request_id, asked.request), "Not today."),
  },
  "commands that no rule can allow, and looks outside": {
    scenario: steps(
      bash("curl -s http://127.0.0.1:9/ | sh"),
      bash("echo $(whoami)"),
      bash("find . -name a -delete"),
      bash("ls | head -3 && echo done > /tmp/not-written"),
      bash("cd sub && git status; npm test"),
      bash("cat /etc/hostname"),
      { say: "ok" },
    ),
    onRequest: () => (asked) => composeDeny(question(asked.request_id, asked.request), "Not today."),
    // The others have words of their own for each, which were not found out.
    notOn: ["2.1.37", "2.1.120"],
  },
  "files that others run, and one outside": {
    scenario: steps(
      { tool: "Write", input: { file_path: "{cwd}/.git/hooks/x", content: "1" } },
      { tool: "Write", input: { file_path: "{cwd}/.claude/skills/a/SKILL.md", content: "1" } },
      { tool: "Write", input: { file_path: "{cwd}/.env", content: "1" } },
      { tool: "Write", input: { file_path: "/nowhere-at-all/outside.txt", content: "1" } },
      { say: "ok" },
    ),
    launch: { permissionMode: "acceptEdits" },
    onRequest: () => (asked) => composeDeny(question(asked.request_id, asked.request), "Not there."),
    notOn: ["2.1.37", "2.1.120"],
  },
  "files that rules deny": {
    scenario: steps(
      { tool: "Write", input: { file_path: "{cwd}/a.txt", content: "1\n" } },
      { tool: "Read", input: { file_path: "{cwd}/b.env" } },
      { tool: "Write", input: { file_path: "{cwd}/gen/c.txt", content: "1\n" } },
      { say: "ok" },
    ),
    launch: { permissionMode: "acceptEdits", disallowedTools: ["Read(./b.env)", "Edit(gen/**)"] },
    onRequest: allowing,
  },
  "a folder that is left, and lines of a file": {
    scenario: steps(
      bash("mkdir -p sub && cd sub"),
      bash("pwd"),
      bash("cd /; pwd"),
      bash("pwd"),
      bash("printf '\\n\\n  x\\n'"),
      { tool: "Write", input: { file_path: "{cwd}/a.txt", content: "one\ntwo\nthree\n" } },
      { tool: "Read", input: { file_path: "{cwd}/a.txt", offset: 2, limit: 1 } },
      { say: "ok" },
    ),
    launch: { allowedTools: ["Bash"], permissionMode: "acceptEdits" },
  },
  "the mode that asks nobody": {
    scenario: steps(bash("touch made"), { say: "ok" }),
    launch: { permissionMode: "dontAsk" },
    onRequest: allowing,
  },
  "the mode that accepts edits": {
    scenario: steps({ tool: "Write", input: { file_path: "{cwd}/a.txt", content: "1\n" } }, bash("touch made"), {
      say: "ok",
    }),
    launch: { permissionMode: "acceptEdits" },
    onRequest: allowing,
  },
  "a hook that denies": {
    scenario: steps(bash("touch made"), { say: "ok" }),
    initialize: onPreToolUse,
    onRequest: hooked({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: "Not here.",
      },
    }),
  },
  "a hook whose answer names no event": {
    scenario: steps(bash("touch made"), { say: "ok" }),
    initialize: onPreToolUse,
    onRequest: hooked({ hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "Not here." } }),
  },
  "a hook that rewrites": {
    scenario: steps(bash("touch made"), { say: "ok" }),
    initialize: onPreToolUse,
    onRequest: hooked({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "allow",
        updatedInput: { command: "touch other" },
      },
    }),
  },
  "a hook that wants it asked": {
    scenario: steps(bash("touch made"), { say: "ok" }),
    initialize: onPreToolUse,
    onRequest: hooked({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "ask",
        permissionDecisionReason: "Better ask first.",
      },
    }),
  },
  "a hook that stops the turn": {
    scenario: steps(bash("touch made"), { say: "never" }),
    initialize: onPreToolUse,
    onRequest: hooked({ continue: false, stopReason: "enough" }),
  },
  "a hook that blocks with a message": {
    scenario: steps(bash("touch made"), { say: "ok" }),
    initialize: onPreToolUse,
    onRequest: hooked({ decision: "block", reason: "nope", systemMessage: "look out" }),
  },
  "hooks all along a turn": {
    scenario: steps(bash("touch made"), bash("false"), { say: "ok" }),
    initialize: {
      hooks: Object.fromEntries(
        ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop"].map((event) => [
          event,
          [{ hookCallbackIds: [event], timeout: 30 }],
        ]),
      ),
    },
    onRequest: allowing,
  },
  "a hook that does not let it end": {
    scenario: { turns: [{ steps: [{ say: "first" }] }, { steps: [{ say: "second" }] }] },
    initialize: { hooks: { Stop: [{ hookCallbackIds: ["stop"] }] } },
    onRequest: () => {
      let calls = 0
      return (asked) => composeSuccess(asked.request_id, calls++ === 0 ? { decision: "block", reason: "not yet" } : {})
    },
  },
  "a tool of a server in the host": {
    scenario: steps({ tool: "mcp__shouting__shout", input: { text: "hello" } }, { say: "Said." }),
    initialize: { sdkMcpServers: ["shouting"] },
    onRequest: () => shoutingServer([]),
    run: async (host) => {
      await host.turn("shout")
      await host.request({ subtype: "mcp_status" })
    },
  },
  "a question to the user": {
    scenario: steps({ tool: "AskUserQuestion", input: { questions: [CHOICE] } }, { say: "Blue it is." }),
    onRequest: () => (asked) => {
      const input = fieldOf(asked.request, "input") ?? {}
      return composeSuccess(asked.request_id, {
        behavior: "allow",
        updatedInput: { ...input, answers: { "Which colour?": "Blue" } },
      })
    },
  },
  "into plan mode and out of it": {
    scenario: steps({ tool: "EnterPlanMode", input: {} }, { tool: "ExitPlanMode", input: {} }, { say: "ok" }),
    onRequest: allowing,
  },
  "a tool that is not there": { scenario: steps({ tool: "Nonsense", input: { x: 1 } }, { say: "ok" }) },
  "a list of todos": {
    scenario: steps({ todos: [{ content: "a", status: "in_progress", activeForm: "doing a" }] }, { say: "ok" }),
  },
  "several tools at once": {
    scenario: steps({ reply: [bash("touch one"), bash("touch two")] }, { say: "Both." }),
    onRequest: allowing,
    // The newest begins with the first while the second is still being streamed: what comes first is a matter of luck.
    notOn: ["2.1.325"],
  },
  "a sub-agent": {
    scenario: {
      turns: [
        {
          steps: [
            {
              tool: "Task",
              input: { description: "look around", prompt: "Look around please.", subagent_type: "general-purpose" },
            },
            { say: "ok" },
          ],
        },
        { on: "task-notification", steps: [{ say: "It has ended." }] },
      ],
      side: { agent: "I looked." },
    },
    // On the newest the agent runs beside the turn, and when it is heard depends on the machine.
    notOn: ["2.1.325"],
  },
  "a sub-agent that calls a tool": {
    scenario: {
      turns: [
        {
          steps: [
            {
              tool: "Task",
              input: { description: "look", prompt: "Look around please.", subagent_type: "general-purpose" },
              agent: [{ say: "I look." }, bash("touch seen"), { say: "I looked." }],
            },
            { say: "ok" },
          ],
        },
      ],
    },
    onRequest: allowing,
    notOn: ["2.1.325"],
  },
  "an overloaded API, and one that says no": {
    scenario: {
      turns: [
        { steps: [{ error: 529, times: 1 }, { say: "After all." }] },
        { steps: [{ error: 400, message: "no good" }] },
      ],
    },
    launch: { env: { CLAUDE_CODE_MAX_RETRIES: "2" } },
    run: async (host) => {
      await host.turn("try")
      await host.turn("fail")
    },
  },
  "words at a pace, in pieces": {
    scenario: steps(
      { think: "One thing after the other.", chunk: 9, pauseMs: 5 },
      { say: "Slowly does it, word by word by word.", chunk: 7, pauseMs: 5 },
    ),
    launch: { includePartialMessages: true },
  },
  "a reply that is refused, and another that is not": {
    scenario: steps(
      { reply: [{ say: "I would rather" }], stop: { reason: "refusal", category: "cyber", explanation: "Not this" } },
      { say: "Something else then." },
    ),
  },
  "refused twice: another model answers, and stays": {
    scenario: {
      turns: [
        { steps: [refused("Not this"), refused("Nor this"), { say: "Something else then." }] },
        { steps: [refused("Never"), { say: "This, then." }] },
      ],
    },
    launch: { includePartialMessages: true },
    run: async (host) => {
      await host.turn("go")
      await host.turn("and now")
    },
    // They end a turn at its first refusal.
    notOn: ["2.1.37", "2.1.120"],
  },
  "refused by the other model too": {
    scenario: steps(refused("one"), refused("two"), refused("three"), { say: "never" }),
  },
  "refused without a category": {
    scenario: steps({ reply: [{ say: "No" }], stop: "refusal" }, { reply: [{ say: "No" }], stop: "refusal" }),
  },
  "a reply that hits the limit and goes on": {
    scenario: steps({ reply: [{ say: "The first half" }], stop: "max_tokens" }, { say: "and the second." }),
  },
  "a rate limit, and another try": {
    scenario: steps({ error: 429, type: "rate_limit_error", message: "slow down", retryAfter: 0.1 }, { say: "Now." }),
    launch: { env: { CLAUDE_CODE_MAX_RETRIES: "3" } },
  },
  "a connection that breaks before the first word": {
    scenario: steps({ reply: [{ cut: true }] }, { say: "Again." }),
    launch: { includePartialMessages: true, env: { CLAUDE_CODE_MAX_RETRIES: "3" } },
  },
  "a connection that breaks in the middle of the words": {
    scenario: steps({ reply: [{ say: "Some wo", unfinished: true }, { cut: true }] }, { say: "Again." }),
    launch: { includePartialMessages: true, env: { CLAUDE_CODE_MAX_RETRIES: "3" } },
  },
  "a connection that breaks after the words": {
    scenario: steps({ reply: [{ say: "Some words." }, { cut: true }] }, { say: "Again." }),
    launch: { includePartialMessages: true, env: { CLAUDE_CODE_MAX_RETRIES: "3" } },
  },
  "an error in the stream before the first word, and another try": {
    scenario: steps({ reply: [failing] }, { say: "Again." }),
    launch: { includePartialMessages: true, env: { CLAUDE_CODE_MAX_RETRIES: "3" } },
  },
  "an error in the middle of the words": {
    scenario: steps({ reply: [{ say: "Some wo", unfinished: true }, failing] }, { say: "Again." }),
    launch: { includePartialMessages: true, env: { CLAUDE_CODE_MAX_RETRIES: "3" } },
  },
  "errors after the words, until it is enough": {
    scenario: steps(...Array.from({ length: 5 }, () => ({ reply: [{ say: "Some words." }, failing] }))),
    launch: { env: { CLAUDE_CODE_MAX_RETRIES: "3" } },
  },
  "a reply in one piece, with a tool": {
    scenario: steps(
      { reply: [failing] },
      { error: 529, times: 1 },
      { reply: [{ think: "Hm." }, { say: "Look." }, bash("echo hi")] },
      { say: "Done." },
    ),
    launch: { includePartialMessages: true, env: { CLAUDE_CODE_MAX_RETRIES: "3" } },
  },
  "an API that stays overloaded": {
    scenario: steps({ error: 529, message: "too much", times: 9 }),
    launch: { env: { CLAUDE_CODE_MAX_RETRIES: "2" } },
    // The newest names the address of the API, and the simulator has none.
    notOn: ["2.1.325"],
  },
  "steps in a loop": {
    scenario: steps(
      { loop: 3, vary: { name: ["ant", "bee"] }, steps: [bash("echo {{n}} {{name}}"), { say: "{{n}}: {{name}}." }] },
      { say: "All." },
    ),
    onRequest: allowing,
  },
  "a command in the background": {
    scenario: {
      turns: [
        // Long enough that it ends after the turn, on a busy machine too: what comes first is a matter of luck otherwise.
        { steps: [bash("sleep 2", { run_in_background: true, description: "nothing much" }), { say: "Started." }] },
        { on: "task-notification", steps: [{ say: "It has ended." }] },
      ],
    },
    onRequest: allowing,
    run: async (host) => {
      await host.turn("go")
      await host.until("result")
    },
    // The end of a task starts no turn there.
    notOn: ["2.1.37"],
  },
  "two questions at once, one with several answers": {
    scenario: steps(
      {
        tool: "AskUserQuestion",
        input: { questions: [CHOICE, { ...CHOICE, question: "Which others?", header: "More", multiSelect: true }] },
      },
      { say: "Noted." },
    ),
    onRequest: () => (asked) => {
      const input = fieldOf(asked.request, "input") ?? {}
      const answers = { "Which colour?": "Red", "Which others?": "Red, Blue" }
      return composeSuccess(asked.request_id, { behavior: "allow", updatedInput: { ...input, answers } })
    },
  },
  "too many turns": {
    scenario: steps(bash("true"), bash("true"), { say: "never" }),
    launch: { maxTurns: 1 },
  },
  "too much money": {
    scenario: steps(
      { reply: [bash("true")], usage: { inputTokens: 1_000_000, outputTokens: 100_000 } },
      { say: "never" },
    ),
    launch: { maxBudgetUsd: 0.5 },
  },
  "output in the form of a schema": {
    scenario: steps({ tool: "StructuredOutput", input: { answer: 42 } }, { say: "ok" }),
    launch: { jsonSchema: { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] } },
  },
  "an interrupt in the middle of the words": {
    scenario: {
      turns: [
        { steps: [{ say: "Once upon a time", unfinished: true }, { hang: true }] },
        { steps: [{ say: "Still here." }] },
      ],
    },
    launch: { includePartialMessages: true },
    run: async (host) => {
      await host.prompt("tell me")
      await untilDelta(host)
      await host.request({ subtype: "interrupt" })
      await host.until("result")
      await host.turn("and now")
    },
  },
  "an interrupt while permission is asked": {
    scenario: { turns: [{ steps: [bash("touch made"), { say: "never" }] }, { steps: [{ say: "Still here." }] }] },
    onRequest: () => () => null,
    run: async (host) => {
      await host.prompt("go")
      await host.until("control_request", "can_use_tool")
      await host.request({ subtype: "interrupt" })
      await host.until("result")
      await host.turn("and now")
    },
  },
  "the history compacted by command": {
    scenario: { turns: [{ steps: [{ say: "one" }] }, { steps: [{ say: "two" }] }] },
    run: async (host) => {
      await host.turn("hello")
      await host.turn("/compact")
      await host.turn("after")
    },
    // It counts the messages of the whole session as turns of the command.
    notOn: ["2.1.37"],
  },
  "modes and models changed by request": {
    scenario: { turns: [{ steps: [{ say: "one" }] }, { steps: [{ say: "two" }] }] },
    run: async (host) => {
      await host.request({ subtype: "set_permission_mode", mode: "acceptEdits" })
      await host.request({ subtype: "set_permission_mode", mode: "delegate" })
      await host.request({ subtype: "set_permission_mode", mode: "bypassPermissions" })
      await host.turn("first")
      await host.request({ subtype: "set_model", model: "opus" })
      await host.turn("second")
      await host.request({ subtype: "set_max_thinking_tokens", max_thinking_tokens: 1000 })
      await host.request({ subtype: "mcp_reconnect", serverName: "none" })
      await host.request({ subtype: "mcp_set_servers", servers: {} })
      await host.request({ subtype: "rewind_files", user_message_id: "none" })
      await host.request({ subtype: "rewind_files", user_message_id: "none", dry_run: true })
      await host.request({ subtype: "initialize" })
      await host.request({ subtype: "mcp_status" })
    },
  },
}

async function untilDelta(host: ParityHost): Promise<void> {
  for (;;) {
    const event = fieldOf(await host.until("stream_event"), "event")
    if (event?.["type"] === "content_block_delta") return
  }
}
