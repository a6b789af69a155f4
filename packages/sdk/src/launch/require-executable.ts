import { findClaude } from "@signalbox/transport/find-claude"
import { SdkError } from "../errors.ts"
import type { Options } from "../types/options.ts"

/** Throws at once when nobody said which agent to run and none is to be found anywhere, as the official package does. */
export function requireExecutable({ pathToClaudeCodeExecutable, spawnClaudeCodeProcess, env }: Options): void {
  if (pathToClaudeCodeExecutable !== undefined || spawnClaudeCodeProcess !== undefined) return
  try {
    findClaude({ env: env ?? process.env })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const details = "details" in error && typeof error.details === "object" ? { ...error.details } : {}
    throw new SdkError("process/not-found", error.message, { name: "ReferenceError", cause: error, details })
  }
}
