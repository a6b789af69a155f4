/** A difference to the official SDK that is meant, named by program and place. Both sides are matched as JSON. */
export interface Improvement {
  /** A program, or "every" one. */
  readonly program: string
  /** Left out: with every release the program runs on. */
  readonly sdk?: string
  readonly at: RegExp
  readonly official: RegExp
  readonly ours: RegExp
  readonly why: string
}

const ABSENT = /^"<absent>"$/

export const improvements: readonly Improvement[] = [
  {
    program: "every",
    at: /\.code$/,
    official: ABSENT,
    ours: /^"[a-z]+\/[a-z-]+"$/,
    why: "every error of ours has a code to tell it by, where the official ones have only a message",
  },
  {
    program: "late-question",
    at: /^message\[4\]\.message\.content\[0\]\.text$|^message\[5\]\.result$/,
    official: /Nobody was there to answer/,
    ours: /The answer was allow/,
    why: "the official SDK ends stdin at the first result, so a question of a background task finds nobody; ours stays",
  },
  {
    program: "late-question",
    at: /^asked\[0\]$/,
    official: ABSENT,
    ours: /Bash/,
    why: "as above: the callback is asked",
  },
  {
    program: "late-hook",
    at: /^message\[12\]\./,
    official: /The user doesn't want|true|"cancelled"|absent/,
    ours: /completed with no output|false|absent|"stdout"|"accept"/,
    why: "the same with a real CLI: the turn that a background task begins is refused its tool by the official SDK",
  },
  {
    program: "late-hook",
    at: /^(hook\[1\]|asked\[0\])$/,
    official: ABSENT,
    ours: /touch after/,
    why: "as above: hook and callback are asked",
  },
  {
    program: "iterable-throws",
    at: /^ending\[0\]\.(message|abort)$/,
    official: /"Operation aborted"|"Claude Code process aborted by user"|true/,
    ours: /the source of prompts broke|false/,
    why: "the official SDK says the query was aborted when the program's own iterable threw; ours says what was thrown",
  },
  {
    program: "iterable-throws-later",
    at: /^ending\[[01]\]\.(message|abort)$/,
    official: /"Operation aborted"|"Claude Code process aborted by user"|true/,
    ours: /the source of prompts broke|false/,
    why: "as above",
  },
  {
    program: "abort-while-asked",
    at: /^message\[\d\]$/,
    official: /^\{/,
    ours: ABSENT,
    why: "an abort ends the iteration at once; the official SDK goes on with what the process says until it is gone",
  },
  {
    program: "abort-while-asked",
    at: /^ending\[0\]\.message$/,
    official: /"Operation aborted"/,
    ours: /"Claude Code process aborted by user"/,
    why: "the same kind of error; theirs says so when a write finds the signal aborted, ours whenever a process ran",
  },
  {
    program: "calls-cut-off",
    at: /^(call\[[23]\]\.error|ending\[[23]\])\.message$/,
    official: /"Operation aborted"/,
    ours: /"Claude Code process aborted by user"/,
    why: "the same kind of error; theirs depends on how the process then exits, which ours does not wait for",
  },
  ...["sessions-not-there", "stored-sessions", "import-to-store"].map((program) => ({
    program,
    at: /\.error\.name$/,
    official: /"TelemetrySafeError"/,
    ours: /"Error"/,
    why: "a name that is about the vendor's own records",
  })),
  {
    program: "after-the-end",
    at: /^call\[\d+\]\.error\.message$/,
    official: /"ProcessTransport is not ready for writing"/,
    ours: /"Query closed before response received"/,
    why: "one kind of error for everything that is asked of a query that is over; theirs names a part of its own",
  },
  ...["api-error", "resume-unknown", "session-id", "v2-endings"].map((program) => ({
    program,
    sdk: "0.2.37",
    at: /^ending\[\d\]\.message$/,
    official: /^"Claude Code process exited with code 1"$/,
    ours: /returned an error result: |exited with code 1\. stderr: /,
    why: "0.3 says why the process failed, and so does ours with an older CLI",
  })),
  {
    program: "tool-allowed",
    sdk: "0.2.37",
    at: /^asked\[0\]\.options\.requestId$/,
    official: ABSENT,
    ours: /<request>/,
    why: "a field of 0.3",
  },
  {
    program: "binary-not-found",
    at: /^(ending|call)\[0\]\.(error\.)?(message|code)$/,
    official: /not found at \/nowhere\/claude|"ENOENT"/,
    ours: /not found at \/nowhere\/claude|"process\/not-found"/,
    why: "the message says where was looked; ENOENT would not tell a missing agent from a missing folder (folder-not-found)",
  },
  {
    program: "options-reused",
    at: /^message\[2\]\.line\.request\.(hooks|jsonSchema|toolAliases|agents|plugins)[.[]/,
    official: /second|timeout":2|^"<absent>"$/,
    ours: /first|timeout":1|^"<absent>"$/,
    why: "the official SDK reads some nested objects late, so the first query gets hooks, agents and plugins of the second",
  },
  ...["startup", "prewarm"].map((program) => ({
    program,
    at: /^call\[\d\]\.error\.(message|code)$/,
    official: /not found at \/nowhere\/claude|"ENOENT"/,
    ours: /not found at \/nowhere\/claude|"process\/not-found"/,
    why: "as above",
  })),
  {
    program: "folder-not-found",
    at: /^ending\[0\]\.(message|code)$/,
    official: /does not match this system's libc|"ENOENT"/,
    ours: /nowhere\/at\/all|"process\/spawn-failed"/,
    why: "the official message blames the binary; ours names the folder that is missing",
  },
  ...[
    "after-the-end",
    "bad-prompts",
    "environment-switches",
    "iterators-of-all-kinds",
    "options-left-undefined",
    "options-of-other-kinds",
    "options-that-meet",
    "options-that-say-nothing",
    "prompt-in-a-list",
    "spawned-with-options",
    "wire-of-a-turn",
    "wire-of-mcp-servers",
    "wire-of-methods",
    "wire-of-newer-options",
  ].map((program) => ({
    program,
    at: /^message\[\d+\]\.line\.request\.systemPrompt$/,
    official: /^\[/,
    ours: /^"/,
    why: "2.1.37 passes over a system prompt in a list and uses its own; a text means the same to 2.1.325 and works on both",
  })),
  {
    program: "reinitialized",
    at: /^call\[2\]\.gave\[0\]\.value$/,
    official: /"model 1"/,
    ours: /"model 2"/,
    why: "after a reinitialize the models, commands and agents are those that the agent has now",
  },
  {
    program: "long-timeouts",
    at: /^warning\[[01]\]$/,
    official: /"TimeoutOverflowWarning"/,
    ours: ABSENT,
    why: "there a store's load has no time at all then, and is in luck when it needs none; here it has all the time given",
  },
  {
    program: "refused-options",
    at: /^call\[[34]\]\.error\.message$/,
    official:
      /^"(sessionStore cannot be used with persistSession: false|enableFileCheckpointing is not yet supported with)/,
    ours: /^"(sessionStore cannot be used with persistSession: false|enableFileCheckpointing is not yet supported with)/,
    why: "the same refusals; the advice the official texts add is not copied",
  },
  ...["mcp-validation", "wire-of-answers"].map((program) => ({
    program,
    at: /\.(content|text|tool_use_result)$/,
    official: /Invalid arguments for tool \w+: \[\\n/,
    ours: /Invalid arguments for tool \w+: Invalid input: expected number, received string at a/,
    why: "the text is the MCP library's in its present version; the official package has an older one built in",
  })),
]
