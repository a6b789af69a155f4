import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

export type Environment = Readonly<Record<string, string | undefined>>

export interface ClaudeEnvironmentOptions {
  /** How the CLI names its caller in what it reports, unless the variable is set already. */
  readonly entrypoint?: string
  readonly debug?: boolean
  /** Needed for `rewind_files`. */
  readonly enableFileCheckpointing?: boolean
  /** The caller's own variables; `undefined` takes one away. */
  readonly env?: Environment
}

const OWN_VARIABLE = /^SIGNALBOX_(?!SIM_)/i

/** The environment of a `claude` process, made from the environment of ours. */
export function claudeProcessEnvironment(
  base: Environment,
  options: ClaudeEnvironmentOptions = {},
): Record<string, string> {
  const merged: Record<string, string | undefined> = {
    ...base,
    CLAUDE_CODE_ENTRYPOINT: base["CLAUDE_CODE_ENTRYPOINT"] || (options.entrypoint ?? "signalbox"),
    // Variables that configure our own Node (a debugger, a loader) would stop or slow the CLI's.
    NODE_OPTIONS: undefined,
    DEBUG: options.debug === true ? "1" : undefined,
    ...(options.enableFileCheckpointing === true ? { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" } : {}),
    ...options.env,
  }
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(merged)) {
    // Checked last, because callers often pass their whole environment on: our tokens must never reach an agent.
    if (value !== undefined && !OWN_VARIABLE.test(name)) result[name] = value
  }
  return result
}

const KEYS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]
const PROVIDERS = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"]

/** How a `claude` in this environment would sign in, never with what. Null: no way was found. Undefined: nobody can tell. */
export function signInOf(env: Environment, platform: NodeJS.Platform = process.platform): string | null | undefined {
  const isSet = (name: string) => (env[name] ?? "") !== ""
  const key = KEYS.find(isSet)
  if (key !== undefined) return `by the variable ${key}`
  const provider = PROVIDERS.find(isSet)
  if (provider !== undefined) return `by another provider (${provider})`
  const file = join(env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || homedir(), ".claude"), ".credentials.json")
  if (existsSync(file)) return `credentials in ${file}`
  // The keychain of a Mac may have it.
  return platform === "darwin" ? undefined : null
}
