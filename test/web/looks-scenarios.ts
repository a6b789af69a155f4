import type { Scenario } from "@signalbox/simulator"
import { searchedEvents } from "../gate.ts"

type Turn = Scenario["turns"][number]
type Step = Turn["steps"][number]

const read = (file: string): Step => ({
  tool: "Read",
  input: { file_path: `{{cwd}}/${file}` },
  result: "export const a = 1",
})

const flaky: Turn = {
  on: "deterministic",
  steps: [
    { think: "Which clock do the tests use? The real one, probably." },
    { say: "I will look at the tests first." },
    // Really read: what was not cannot be changed.
    { tool: "Read", input: { file_path: "{{cwd}}/src/auth.ts" } },
    read("src/clock.ts"),
    read("test/auth.test.ts"),
    read("test/clock.test.ts"),
    { tool: "Grep", input: { pattern: "sleep\\(" }, result: "src/auth.ts:13\ntest/auth.test.ts:40" },
    {
      tool: "Bash",
      input: { command: "npm test -- auth", description: "Run the tests of auth" },
      result:
        "FAIL test/auth.test.ts\n  a token expires after 50 ms\n    expected expired, got valid\n      at test/auth.test.ts:41",
      isError: true,
    },
    {
      tool: "Edit",
      input: { file_path: "{{cwd}}/src/auth.ts", old_string: "  sleep(50)", new_string: "  clock.tick(50)" },
    },
    {
      say: "The failure comes from a **real clock**: the test sleeps 50 ms and hopes that nothing else runs meanwhile.\n\n1. `src/auth.ts` takes its time from a clock it is given.\n2. The tests tick that clock by hand.\n\n```ts\nexport function isExpired(token: Token, clock: Clock): boolean {\n  return clock.now() >= token.expiresAt\n}\n```\n\nBefore I run everything again, the modules must be installed anew.",
    },
    {
      tool: "Bash",
      input: { command: "rm -rf node_modules && npm ci", description: "Install what the lock file names" },
      result: "added 312 packages",
    },
    { say: "All of them pass now." },
  ],
  costUsd: 1.92,
}

/** For README's film: little is said, then one command is asked for. */
const release: Turn = {
  on: "Release it",
  steps: [
    { say: "The tests pass and the changelog is written. Version 1.4 can go out." },
    {
      tool: "Bash",
      input: { command: "git tag v1.4.0 && git push origin v1.4.0", description: "Tag the release and push the tag" },
      result: "To github.com:acme/api.git\n * [new tag]         v1.4.0 -> v1.4.0",
    },
    { say: "Version 1.4 is out. The pipeline builds it now." },
  ],
}

const migrate: Turn = {
  on: "migration",
  steps: [
    { say: "The migration adds the column first and fills it in batches." },
    {
      tool: "Write",
      input: {
        file_path: "{{cwd}}/migrations/0042_add_method.sql",
        content:
          "alter table sessions add column method text;\n\nupdate sessions set method = 'password' where method is null;\n\nalter table sessions alter column method set not null;\n",
      },
    },
    { say: "Done." },
  ],
}

const edit: Turn = {
  on: "real clock",
  steps: [
    { say: "One line is enough." },
    { tool: "Read", input: { file_path: "{{cwd}}/src/auth.ts" } },
    {
      tool: "Edit",
      input: {
        file_path: "{{cwd}}/src/auth.ts",
        old_string: "export async function expire() {\n  sleep(50)\n}",
        new_string: "export async function expire(clock: Clock) {\n  clock.tick(50)\n}",
      },
    },
    { say: "Done." },
  ],
}

/** A change that comes with two rules to remember. */
const skill: Turn = {
  on: "release skill",
  steps: [
    { say: "The tag comes before the notes, so that they can link to it." },
    { tool: "Read", input: { file_path: "{{cwd}}/.claude/skills/release/SKILL.md" } },
    {
      tool: "Edit",
      input: {
        file_path: "{{cwd}}/.claude/skills/release/SKILL.md",
        old_string: "2. Write the release notes.\n3. Tag the commit.",
        new_string: "2. Tag the commit: `git tag -s v$VERSION`.\n3. Write the release notes and link to the tag.",
      },
    },
    { say: "Done." },
  ],
}

const streaming: Turn = {
  on: "documentation",
  repeat: true,
  steps: [
    { say: "I have read the guide. Three pages are out of date." },
    {
      say: `## What changes\n\nThe hub keeps **every event** it ever got, so the page that tells people to raise a limit is wrong now. In its place:\n\n\`\`\`ts\nimport { connectHub } from "@signalbox/client"\n\nconst hub = connectHub({ url })\nfor await (const item of hub.watch()) {\n  ${"// and so on, line by line\n  ".repeat(400)}`,
      deltas: 4000,
      pauseMs: 400,
    },
  ],
}

const dependencies: Turn = {
  on: "dependencies",
  repeat: true,
  steps: [
    {
      say: "All dependencies are at their **latest** version, and the tests pass.\n\n| Package | Before | Now |\n|---|---|---|\n| react | 18.3 | 19.2 |\n| vite | 7.1 | 8.0 |\n\nNothing else had to be changed.",
    },
  ],
  costUsd: 0.31,
}

const question: Turn = {
  on: "export",
  steps: [
    { say: "Two things the code cannot tell me." },
    {
      tool: "AskUserQuestion",
      input: {
        questions: [
          {
            question: "Which format should the export have?",
            header: "Format",
            multiSelect: false,
            options: [
              { label: "CSV", description: "One file per table, opens in any spreadsheet" },
              { label: "JSON Lines", description: "Keeps nesting, easy to stream" },
            ],
          },
          {
            question: "Which data belongs in it?",
            header: "Contents",
            multiSelect: true,
            options: [
              { label: "Orders", description: "About 2.1 million rows for the largest customer" },
              { label: "Invoices", description: "With a link to each PDF" },
              { label: "Contacts", description: "Personal data: the export must be logged" },
            ],
          },
        ],
      },
    },
    { say: "Thank you." },
  ],
}

const plan: Turn = {
  on: "e-mail link",
  steps: [
    { tool: "EnterPlanMode", input: {} },
    {
      tool: "Write",
      input: {
        file_path: "{{planFile}}",
        content:
          '# Sign-in by e-mail link\n\n"E-mail me a link" stands beside the password form. The link works once, for 15 minutes.\n\n## Steps\n\n1. **Table `login_links`**: only the hash of a token is stored.\n2. **`POST /auth/link`** always answers 202, so nobody learns which addresses have accounts.\n3. **`GET /auth/link/:token`** shows a page with one button: mail scanners open links.\n\n## Tests\n\n- a token works once, also when two requests race\n- expired, used and unknown tokens get the same answer\n',
      },
    },
    { tool: "ExitPlanMode", input: {} },
    { say: "I begin." },
  ],
}

const form: Turn = {
  on: "incident",
  steps: [
    { say: "The tracker's server asks for what I should not guess." },
    {
      elicit: "How bad is it, and who should be called?",
      server: "incident-tracker",
      schema: {
        type: "object",
        required: ["summary", "affected"],
        properties: {
          summary: { type: "string", title: "One line for the status page", maxLength: 120 },
          severity: {
            type: "string",
            title: "Severity",
            enum: ["sev1", "sev2", "sev3"],
            enumNames: ["Everybody is affected", "Many are affected", "A few are affected"],
          },
          affected: { type: "integer", title: "Customers affected", minimum: 1, maximum: 100000 },
          since: { type: "string", title: "Since", format: "date" },
          contact: { type: "string", title: "Who is in charge", format: "email" },
          runbook: { type: "string", title: "Runbook", format: "uri" },
          page: { type: "boolean", title: "Call the payments team now", default: true },
        },
      },
    },
    { say: "It is open." },
  ],
}

/** Every built-in tool, on a day when all of them are allowed. */
const tools: Turn = {
  on: "every tool",
  steps: [
    { tool: "Glob", input: { pattern: "src/**/*.ts" }, result: "src/auth.ts\nsrc/clock.ts" },
    { tool: "Grep", input: { pattern: "TODO", path: "src" }, result: "src/auth.ts:12" },
    { say: "Here is one of each." },
    {
      tool: "Bash",
      input: { command: "npm run build && npm run size", description: "Build it" },
      result: "\u001b[32m✓\u001b[0m built in 2.1 s\ndist/index.js  41.2 kB",
      durationMs: 300,
    },
    { tool: "Write", input: { file_path: "{{cwd}}/src/clock.ts", content: "export const now = () => Date.now()\n" } },
    {
      tool: "Edit",
      input: { file_path: "{{cwd}}/src/clock.ts", old_string: "Date.now()", new_string: "performance.now()" },
    },
    {
      tool: "WebFetch",
      input: { url: "https://example.com/changes", prompt: "What changed?" },
      result: "Version 3 drops the old options.",
    },
    { tool: "WebSearch", input: { query: "monotonic clock node" }, result: "performance.now() is monotonic" },
    {
      todos: [
        { content: "Read the tests", status: "completed", activeForm: "Reading the tests" },
        { content: "Mend the clock", status: "in_progress", activeForm: "Mending the clock" },
        { content: "Run everything", status: "pending", activeForm: "Running everything" },
      ],
      result: "Todos have been modified successfully.",
    },
    { tool: "mcp__tracker__search", input: { query: "flaky", limit: 5 }, result: "3 issues: 14, 22, 31" },
    { tool: "Skill", input: { skill: "changelog" }, result: "Skill loaded" },
    { tool: "Frobnicate", input: { target: "main", level: 3 }, result: "frobnicated" },
    { say: "That was all of them." },
  ],
  costUsd: 0.12,
}

const lanes: Turn = {
  on: "job queues",
  steps: [
    { say: "Three options, each looked into by itself, with the same questions." },
    ...["Postgres-backed queues", "Redis streams", "A managed queue"].map(
      (description): Step => ({
        tool: "Task",
        input: { description, prompt: `Look into ${description}`, subagent_type: "general-purpose" },
        agent: [
          { say: "Reading the current jobs first." },
          { tool: "Bash", input: { command: "ls deploy/cron" }, result: "exports.yaml\ninvoices.yaml\nnightly.yaml" },
          { tool: "Grep", input: { pattern: "SKIP LOCKED" }, result: "src/outbox/claim.sql:4" },
          { say: `**${description}**: fits our size, at least once, nothing new to run.` },
        ],
      }),
    ),
    { say: "**Postgres** it is: the job commits with the data it belongs to, and we run it already." },
  ],
  costUsd: 0.87,
}

const notices: Turn = {
  on: "interviews",
  steps: [
    {
      rateLimit: "allowed_warning",
      type: "five_hour",
      utilization: 0.91,
      resetsAt: Math.floor(Date.now() / 1000) + 5400,
    },
    { error: 529, message: "Overloaded", times: 2, retryAfter: 0 },
    { say: "Reading all fourteen transcripts first." },
    { tool: "Bash", input: { command: "wc -w research/*.md | tail -1" }, result: "61240 total" },
    { compact: "auto", preTokens: 168_000, postTokens: 22_000 },
    {
      emit: {
        type: "system",
        subtype: "hook_response",
        hook_id: "h1",
        hook_name: "PreToolUse:lint",
        hook_event: "PreToolUse",
        output: "",
        stdout: "",
        stderr: "lint: no such file",
        exit_code: 2,
        outcome: "error",
      },
    },
    { emit: { type: "zebra", subtype: "stripe", stripes: 3 } },
    { say: { repeat: "Theme after theme, as they were told. ", times: 12 }, deltas: 400, pauseMs: 3000 },
  ],
}

/** How often the long audit is told to go on: what an agent says at once keeps it from hearing its hub. */
export const AUDIT_TURNS = 10
/** What one file comes to: a sentence, and two calls with their results. */
const EVENTS_A_FILE = 5

const long: Turn = {
  on: "audit",
  repeat: true,
  steps: [
    { compact: "auto", preTokens: 164_000, postTokens: 9000, durationMs: 0 },
    {
      loop: Math.ceil(searchedEvents / AUDIT_TURNS / EVENTS_A_FILE),
      as: "n",
      vary: {
        area: ["http", "jobs", "store", "export", "admin"],
        words: [
          "logs the whole request. **Finding:** its session token goes with it.",
          "logs nothing personal.",
          "logs names, but only while debugging:\n\n```ts\nif (isDebug) log.debug(request.user.name)\n```",
        ],
      },
      steps: [
        { say: "`{{area}}/handler-{{n}}.ts` {{words}}" },
        {
          tool: "Grep",
          input: { pattern: "log\\.", path: "src/{{area}}/handler-{{n}}.ts" },
          result: "src/handler-{{n}}.ts:12",
        },
        { tool: "Read", input: { file_path: "{{cwd}}/src/{{area}}/handler-{{n}}.ts" }, result: "log.warn(request)" },
      ],
    },
    { say: "That was this part of them." },
  ],
  costUsd: 1.12,
}

/** What an agent of the pictures does is chosen by a word of what it is told. */
export const LOOKS: Scenario = {
  files: {
    ".claude/skills/release/SKILL.md":
      "# Release\n\nOnly from `main`, with everything green.\n\n1. Run the whole test suite.\n2. Write the release notes.\n3. Tag the commit.\n4. Publish, and tell the channel.\n",
    "src/auth.ts": "import { clock } from './clock.ts'\n\nexport async function expire() {\n  sleep(50)\n}\n",
  },
  turns: [
    flaky,
    release,
    migrate,
    edit,
    skill,
    streaming,
    dependencies,
    question,
    plan,
    form,
    tools,
    lanes,
    notices,
    long,
    { on: "<task-notification>", repeat: true, steps: [{ say: "Noted." }] },
    {
      on: "prompt that is too long",
      steps: [{ error: 400, type: "invalid_request_error", message: "prompt is too long" }],
    },
    {
      on: "long command",
      steps: [
        {
          tool: "Bash",
          input: {
            command: Array.from(
              { length: 60 },
              (_, n) => `kubectl --context prod rollout restart deploy/service-${n}`,
            ).join(" &&\n"),
            description: "Restart every service",
          },
          result: "ok",
        },
      ],
    },
  ],
}
