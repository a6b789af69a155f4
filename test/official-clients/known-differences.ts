import type { Improvement } from "../differential/improvements.ts"

/** A program whose two sides cannot be alike. */
interface NotCompared {
  readonly program: string
  /** Left out: with every client. */
  readonly sdk?: string
  readonly why: string
}

export const notCompared: readonly NotCompared[] = [
  {
    program: "prewarm",
    sdk: "0.3.325",
    why: "the simulator plays no process that waits for its session (`--await-claim`, `claim_session`)",
  },
  { program: "folder-not-found", why: "what the SDK says of a native binary it does not say of a script" },
  { program: "spawn-claude-code-process", why: "a script is started by way of node" },
  { program: "unknown-flag", why: "the simulator names a flag it does not know on stderr and goes on; a CLI exits" },
]

const ABSENT = /^"<absent>"$/
const THERE = /^"<there>"$/

/** Where the simulator differs and is meant to; `official` is the real CLI, `ours` the simulator. */
export const knownDifferences: readonly Improvement[] = [
  ...[
    { program: "session-store", at: /^stored\[0\]\.(atis-latch|attachment|last-prompt|queue-operation)$/ },
    {
      program: "import-to-store",
      at: /^types\[\d\]\.(api-request(-blob|-shape)?|atis-latch|attachment|last-prompt|queue-operation|tools-used)$/,
    },
  ].map((each) => ({
    ...each,
    official: THERE,
    ours: ABSENT,
    why: "of a transcript's entries the simulator writes the messages, the cost and the title: the others hold the vendor's prompts, or serve its own terminal",
  })),
  {
    program: "import-to-store",
    at: /^types\[[34]\]\.(assistant|cost-state)$/,
    official: ABSENT,
    ours: THERE,
    why: "as above: among the first five entries of a CLI's transcript are so many others that these do not come yet",
  },
  {
    program: "agents",
    at: /subagent_stats\.by_type\.counter$/,
    official: /^1$/,
    ours: ABSENT,
    why: "which kinds of sub-agents are counted by their names was not found out",
  },
  {
    program: "mcp-contents",
    sdk: "0.3.325",
    at: /^message\[2\]\.(message\.content\[0\]\.content|tool_use_result)\[1\]$/,
    official: /\[Image: source: .*\/tool-results\/mcp-things-blob-/,
    ours: ABSENT,
    why: "the newest CLI keeps a copy of a picture on disk and tells where; the simulator keeps none",
  },
  {
    program: "compact",
    at: /outputTokens$/,
    official: /^\d+$/,
    ours: /^\d+$/,
    why: "the simulator asks no model for a summary, so it is not billed for the script's words",
  },
]
