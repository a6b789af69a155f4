import { join } from "node:path"
import { SimulatorError } from "../simulator-error.ts"

export interface ClaudeEnvironmentOptions {
  /** An empty directory; the CLI's settings and transcripts go there. */
  home: string
  /** `url` of a scripted API. */
  apiUrl: string
  /** Laid over the rest; `undefined` takes a variable out. */
  extra?: Record<string, string | undefined>
}

/** Just what a program needs to be found and to write temporary files. */
const INHERITED = ["PATH", "TMPDIR", "LANG"]

/**
 * The whole environment of a CLI that must not leave this machine. It is built from nothing, so that neither a real key
 * nor a user's settings get in.
 */
export function claudeEnvironment(options: ClaudeEnvironmentOptions): Record<string, string> {
  const { home, apiUrl, extra = {} } = options
  const environment: Record<string, string | undefined> = {
    ...Object.fromEntries(INHERITED.map((name) => [name, process.env[name]])),
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    ANTHROPIC_BASE_URL: requireLoopbackUrl(apiUrl),
    ANTHROPIC_API_KEY: "sk-not-a-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_UPDATES: "1",
    DISABLE_INSTALLATION_CHECKS: "1",
    DO_NOT_TRACK: "1",
    // 2.1.37 asks the vendor two things no switch turns off: they end at a port where nobody listens.
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost,::1",
    CLAUDE_CODE_MAX_RETRIES: "2",
    ...extra,
  }
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\]|localhost)$/

export function requireLoopbackHost(host: string): string {
  if (LOOPBACK.test(host)) return host
  throw new SimulatorError("messages-api/not-loopback", `"${host}" is not a loopback address; use 127.0.0.1 or ::1.`)
}

export function requireLoopbackUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol === "http:" && LOOPBACK.test(parsed.hostname)) return url
  throw new SimulatorError("messages-api/not-loopback", `"${url}" is not an http URL on loopback.`)
}
