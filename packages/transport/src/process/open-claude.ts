import { type ChildBehaviour, type ChildTransport, openChildProcess } from "./child-process.ts"
import { type ClaudeEnvironmentOptions, claudeProcessEnvironment, type Environment } from "./environment.ts"
import { findClaude } from "./find-claude.ts"
import { type ClaudeFlags, claudeArguments } from "./flags.ts"

export interface OpenClaudeOptions extends ChildBehaviour, ClaudeEnvironmentOptions {
  /** The executable to run; looked for if it is left out. */
  readonly executable?: string
  readonly cwd?: string
  readonly flags?: ClaudeFlags
  /** The environment that the process's own is made from; ours if it is left out. */
  readonly baseEnv?: Environment
}

/** Finds the Claude Code CLI and starts it on stdio. */
export async function openClaude(options: OpenClaudeOptions = {}): Promise<ChildTransport> {
  const { executable, flags = {}, baseEnv = process.env, ...rest } = options
  const debug = options.debug ?? (flags.debug === true || flags.debugToStderr === true)
  const env = claudeProcessEnvironment(baseEnv, { ...rest, debug })
  const claude = findClaude({ env, explicit: executable })
  return openChildProcess({
    ...rest,
    command: claude.command,
    args: [...claude.args, ...claudeArguments(flags)],
    env,
  })
}
