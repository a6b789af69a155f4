import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Environment } from "./environment.ts"

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
