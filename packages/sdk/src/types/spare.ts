import type { SDKUserMessage } from "./messages.ts"
import type { AgentDefinition } from "./options.ts"
import type { PermissionMode } from "./permissions.ts"
import type { Query } from "./query.ts"
import type { FlagSettings } from "./settings.ts"

/** What a process that was started ahead can still be told when it becomes a session. */
export interface ClaimOptions {
  additionalDirectories?: string[]
  agents?: Record<string, AgentDefinition>
  appendSystemPrompt?: string
  cwd: string
  /** The few variables of the agent's environment that it takes at this point. */
  env?: Record<string, string>
  maxThinkingTokens?: number | null
  model?: string
  permissionMode?: PermissionMode
  /** As `applyFlagSettings`. The prompt waits until they are accepted. Not those about hooks. */
  settings?: FlagSettings
  title?: string
}

export interface ClaimedSession {
  cwd: string
  sessionId: string
  parkedMs?: number
  sdkMcpSettled: boolean
}

/** A process that has started and is no session yet. For one. */
export interface SpareProcess {
  claim(params: { prompt: string | AsyncIterable<SDKUserMessage>; options: ClaimOptions }): Query
  /** Rejects if it cannot become the session; start it with `query()` then, unless the text begins with `option_not_applied`. */
  readonly claimed: Promise<ClaimedSession>
  close(): void
  /** Resolves when the process is gone, claimed or not. */
  readonly exited: Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
