import { readdirSync } from "node:fs"
import { programsFolder } from "./packages.ts"

/** A release of the official SDK with the CLI of its time, against ours with the same CLI. */
export interface Pairing {
  readonly sdk: string
  readonly cli: string
}

export const NEWEST: Pairing = { sdk: "0.3.325", cli: "2.1.325" }
export const OLDER: Pairing = { sdk: "0.2.37", cli: "2.1.37" }

/** Every file of the folder is a program. */
const all: readonly string[] = readdirSync(programsFolder)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length))
  .sort()

/** What 0.3 no longer has and ours still offers. */
const olderOnly: readonly string[] = ["v2-endings", "v2-session"]

/** Programs for the newest release. */
export const newest: readonly string[] = all.filter((program) => !olderOnly.includes(program))

/** Programs that use nothing newer than 0.2.37 and where 2.1.37 has the same things to show. */
export const older: readonly string[] = [
  ...olderOnly,
  "api-error",
  "api-error-streaming",
  "ask-user-question",
  "can-use-tool-throws",
  "continue",
  "extra-args",
  "fork-session",
  "hook-matchers",
  "hook-post-tool",
  "hook-pre-tool-allow",
  "hook-pre-tool-deny",
  "hook-pre-tool-rewrite",
  "hook-stop",
  "hook-throws",
  "hook-user-prompt",
  "interrupt-mid-stream",
  "max-turns",
  "mcp-contents",
  "mcp-one-tool",
  "mcp-own-server",
  "mcp-set-servers",
  "mcp-stdio",
  "mcp-tool-throws",
  "mcp-validation",
  "one-question",
  "partial-messages",
  "permission-modes",
  "reads-at-once",
  "resume",
  "resume-session-at",
  "resume-unknown",
  "rewind-files",
  "session-id",
  "set-max-thinking-tokens",
  "set-model",
  "set-permission-mode",
  "several-messages",
  "stderr-callback",
  "structured-output",
  "supported-things",
  "system-prompt",
  "system-prompt-append",
  "thinking",
  "tool-allowed",
  "tool-denied",
  "tool-denied-with-interrupt",
  "tool-input-edited",
  "tool-lists",
  "updated-permissions",
]
