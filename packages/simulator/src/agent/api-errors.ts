import { errorBody } from "../messages-api/json-answers.ts"
import { isInStream } from "./broken-reply.ts"
import type { AgentCore } from "./core.ts"
import type { Failure, Progress } from "./spoken.ts"

// What a CLI makes of a call that failed: whether it tries again, and what it says in the model's place.

export interface ApiProblem {
  readonly status: number | null
  readonly type: string
  /** What it says. */
  readonly text: string
  /** The `error` of the assistant message that says it. */
  readonly tag: string
}

const RETRIED = new Set([401, 408, 409, 429])
const DEFAULT_RETRIES = 10
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 32_000

export function maxRetries(core: AgentCore): number {
  const given = Number(core.launch.env["CLAUDE_CODE_MAX_RETRIES"])
  return Number.isInteger(given) && given >= 0 ? given : DEFAULT_RETRIES
}

export function isRetried(core: AgentCore, failure: Failure): boolean {
  if (failure.kind === "cut") return true
  if (failure.kind === "aborted") return false
  if (failure.status === 401 && core.profile.generation === 37) return false
  return RETRIED.has(failure.status) || failure.status >= 500 || failure.status === 0
}

export function retryDelayMs(core: AgentCore, attempt: number): number {
  const base = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS)
  const delay = base * (1 + 0.25 * core.random.number())
  return core.profile.generation === 325 ? Math.round(delay) : delay
}

/** The name an `api_retry` gives the failure. */
export function retryName(core: AgentCore, failure: Failure): { status: number | null; name: string } {
  if (failure.kind !== "http" || failure.status === 0) return { status: null, name: "unknown" }
  const { status } = failure
  if (status === 529) return { status, name: core.profile.generation === 325 ? "overloaded" : "rate_limit" }
  if (status === 429) return { status, name: "rate_limit" }
  if (status === 401) return { status, name: "authentication_failed" }
  return { status, name: status >= 500 ? "server_error" : "unknown" }
}

export function problemOf(core: AgentCore, failure: Failure, progress: Progress): ApiProblem {
  const { generation } = core.profile
  if (progress === "blocks" && isInStream(failure)) {
    const text = `API Error: ${generation === 325 ? MID_RESPONSE : wordsInStream(core, failure)}`
    return { status: null, type: "", text, tag: generation === 325 ? "server_error" : "unknown" }
  }
  if (failure.kind !== "http" || failure.status === 0) {
    const words = { 37: "Unable to connect to API (UND_ERR_SOCKET)", 120: "Unable to connect to API (ECONNRESET)" }
    const newest = "Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again."
    const text = `API Error: ${generation === 325 ? newest : words[generation]}`
    return { status: null, type: "", text, tag: generation === 325 ? "server_error" : "unknown" }
  }
  const { status, type, message } = failure
  const text = textOfProblem(core, failure)
  const tag = tagOf(core, failure)
  return { status, type, text, tag: message === "" ? "unknown" : tag }
}

/** Unlike the notice of another try, the last word calls 529 an error of the server's. */
function tagOf(core: AgentCore, failure: Failure & { kind: "http" }): string {
  if (failure.status === 401) return "authentication_failed"
  if (core.profile.generation === 37) return "unknown"
  return failure.status === 529 ? "server_error" : retryName(core, failure).name
}

const MID_RESPONSE = "Server error mid-response. The response above may be incomplete."

/** As the API, or the library that speaks to it, says it. */
function wordsInStream(core: AgentCore, failure: Failure): string {
  if (failure.kind === "http") {
    return JSON.stringify(errorBody(failure.type, failure.message, core.model.requestId()))
  }
  return "The socket connection was closed unexpectedly. For more information, pass `verbose: true` in the second argument to fetch()"
}

function textOfProblem(core: AgentCore, { status, type, message, isRepeated }: Failure & { kind: "http" }): string {
  const { generation, shapes } = core.profile
  const plain = shapes.apiError({ status, type, message, requestId: core.model.requestId() })
  if (status === 401) return `Failed to authenticate. ${plain}`
  if (generation === 37) return plain
  if (status === 429) return `API Error: Request rejected (429) · ${message}`
  if (status < 500) return plain
  const gateway = core.launch.env["ANTHROPIC_BASE_URL"]
  const where =
    generation === 325 && gateway !== undefined
      ? `check your inference gateway (${hostAndPort(gateway)})`
      : "check status.claude.com"
  if (generation === 325 && status === 529 && isRepeated === true) {
    return `API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. Try again in a moment. If it persists, ${where}.`
  }
  return `API Error: ${status} ${message}. This is a server-side issue, usually temporary — try again in a moment. If it persists, ${where}.`
}

function hostAndPort(url: string): string {
  try {
    return new URL(url).host
  } catch {
    return url
  }
}
