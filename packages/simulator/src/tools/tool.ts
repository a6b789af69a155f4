import type { AgentCore } from "../agent/core.ts"
import type { Fields } from "../profiles/profile.ts"
import type { ToolStep } from "../scenario/schema.ts"

/** One call of a tool that may run. */
export interface ToolRun {
  readonly core: AgentCore
  readonly name: string
  readonly input: Readonly<Fields>
  readonly toolUseId: string
  readonly signal: AbortSignal
  readonly step: ToolStep | undefined
  readonly parent: string | null
}

/** What the model gets to read, and the tool's own form of it. */
export interface ToolOutcome {
  readonly content: string | readonly unknown[]
  /** Written on the result where the tool tells it; left out where it does not. */
  readonly isError?: boolean
  readonly structured: unknown
  /** Where the ids stand in the result's block: most tools begin with it. */
  readonly idLast?: boolean
  /** And where the kind of the block comes before both. */
  readonly typeFirst?: boolean
  /** What the model is told besides, in a message of its own. */
  readonly says?: string
  /** Runs when its hooks are done, right before the result is said. */
  readonly before?: () => void
  /** Runs after the result has been said. */
  readonly after?: () => Promise<void>
}

export interface Tool {
  /** What is wrong with the call, found before anyone is asked. */
  check?(run: ToolRun): string | undefined
  run(run: ToolRun): Promise<ToolOutcome>
}

/** A failure as a tool tells it. */
export function toolFailure(message: string): ToolOutcome {
  return { content: message, isError: true, structured: `Error: ${message}` }
}

/** A call that is wrong in itself. */
export function callFailure(message: string, structured = `Error: ${message}`): ToolOutcome {
  return { content: `<tool_use_error>${message}</tool_use_error>`, isError: true, structured }
}
