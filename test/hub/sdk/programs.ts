import type { Improvement } from "../../differential/improvements.ts"

/**
 * Programs about turns, permissions, hooks, in-process servers, interrupts and controls. Not here: what is about a process
 * (its end, its exit code, its files), and a callback that throws, which on a hub leaves the question to somebody else.
 */
export const programs: readonly string[] = [
  "one-question",
  "several-messages",
  "content-blocks",
  "partial-messages",
  "tool-allowed",
  "tool-denied",
  "tool-denied-with-interrupt",
  "tool-input-edited",
  "can-use-tool-slow",
  "ask-user-question",
  "exit-plan-mode",
  "hook-pre-tool-allow",
  "hook-pre-tool-deny",
  "hook-pre-tool-rewrite",
  "hook-post-tool",
  "hook-matchers",
  "hook-stop",
  "hook-throws",
  "hook-user-prompt",
  "mcp-one-tool",
  "mcp-two-servers",
  "mcp-own-server",
  "mcp-tool-throws",
  "mcp-validation",
  "mcp-contents",
  "mcp-set-servers",
  "interrupt-mid-stream",
  "interrupt-when-idle",
  "set-model",
  "set-permission-mode",
  "set-max-thinking-tokens",
  "supported-things",
  "stream-input",
  "structured-output",
  "context-usage",
]

/** "official" is the side with a process of its own. */
export const differences: readonly Improvement[] = [
  {
    program: "tool-denied-with-interrupt",
    at: /^ending\[0\]$/,
    official: /"result\/error"/,
    ours: /"ended"/,
    why: "a process ends with a failure after such a turn; a hub's agent lives on, and the result itself is the same",
  },
]
