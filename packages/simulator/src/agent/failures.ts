import { textOf } from "@signalbox/protocol/envelope"
import type { TokenCount } from "@signalbox/protocol/usage"
import { errorBody, statusOf } from "../messages-api/json-answers.ts"
import type { Fields } from "../profiles/profile.ts"
import type { AgentCore } from "./core.ts"

/** The outcome of one reply of the model. */
export interface Spoken {
  readonly content: Fields[]
  readonly messageId: string
  readonly model: string
  readonly stopReason: string | null
  readonly stopDetails?: Readonly<Fields> | undefined
  readonly usage?: TokenCount | undefined
  readonly failure?: Failure
  readonly firstTokenMs?: number | undefined
  readonly uuids: readonly string[]
  readonly progress: Progress
  /** Asked for in one piece, not as a stream. */
  readonly isWhole: boolean
}

/** The text that a reply ended with. */
export function lastText({ content }: Spoken): string | undefined {
  const last = content.findLast((block) => block["type"] === "text")
  return textOf(last, "text")
}

/** How far a reply came: its head, a part of its first block, whole blocks. */
export type Progress = "nothing" | "begun" | "in-block" | "blocks"

/** `cut`: the connection ended within the reply. `isRepeated`: it failed in this way at every try. */
export type Failure =
  | { kind: "http"; status: number; type: string; message: string; isRepeated?: boolean }
  | { kind: "cut" }
  | { kind: "aborted" }

/**
 * The way a CLI mends a call that failed. `ask-whole`: the same again, to be answered in one piece instead of a stream.
 * `continue`: the model is told that its words were cut off, and goes on from there.
 */
export type Mending = "retry" | "ask-whole" | "continue" | "give-up"

/** Whether the reply broke off on its way, as against a call that was answered with an error. */
function isInStream(failure: Failure): boolean {
  return failure.kind === "cut" || (failure.kind === "http" && failure.status === 0)
}

/** By how far the reply had come: a block that was whole has been passed on, and cannot be taken back. */
export function mendingOf({ profile }: AgentCore, { failure, progress, isWhole }: Spoken): Mending {
  if (failure === undefined || !isInStream(failure) || isWhole || progress === "nothing") return "retry"
  const { brokenReply } = profile.quirks
  if (brokenReply === "ask-whole" || progress === "blocks") return brokenReply
  if (brokenReply === "give-up") return "ask-whole"
  return failure.kind === "cut" || progress === "begun" ? "retry" : "ask-whole"
}

const REPEATED = 3

/** Nobody is told of another try after a reply that began well and ended in an error. */
export function isQuiet(failure: Failure): boolean {
  return failure.kind === "http" && failure.status === 0
}

/** How often one call was tried again, and may be. */
export class Tries {
  /** Those that the host was told of. */
  made = 0
  allowed: number
  #quiet = 0

  constructor(allowed: number) {
    this.allowed = allowed
  }

  /** Whether there may be one more; then it counts. A quiet one leaves fewer of the others. */
  another(failure: Failure): boolean {
    if (!isQuiet(failure)) return ++this.made <= this.allowed
    this.#quiet++
    return --this.allowed >= -1
  }

  /** After the last one: what failed within a stream counts as the error that it named. */
  final(failure: Failure): Failure {
    if (failure.kind !== "http") return failure
    const isRepeated = this.made + this.#quiet >= REPEATED
    return { ...failure, status: failure.status || statusOf(failure.type), isRepeated }
  }
}

// A call that failed: whether a CLI tries again, and what it says in the model's place.

interface ApiProblem {
  readonly status: number | null
  readonly type: string
  /** The words of the CLI. */
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
  if (failure.status === 401 && !core.profile.quirks.retriesUnauthorized) return false
  return RETRIED.has(failure.status) || failure.status >= 500 || failure.status === 0
}

export function retryDelayMs(core: AgentCore, attempt: number): number {
  const base = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS)
  const delay = base * (1 + 0.25 * core.random.number())
  return core.profile.quirks.roundsDelays ? Math.round(delay) : delay
}

/** The name an `api_retry` gives the failure. */
export function retryName(core: AgentCore, failure: Failure): { status: number | null; name: string } {
  if (failure.kind !== "http" || failure.status === 0) return { status: null, name: "unknown" }
  const { status } = failure
  if (status === 529) return { status, name: core.profile.quirks.overloadName }
  if (status === 429) return { status, name: "rate_limit" }
  if (status === 401) return { status, name: "authentication_failed" }
  return { status, name: status >= 500 ? "server_error" : "unknown" }
}

export function problemOf(core: AgentCore, failure: Failure, progress: Progress): ApiProblem {
  const { hidesStreamErrors, brokenOffTag: tag, connectionError } = core.profile.quirks
  if (progress === "blocks" && isInStream(failure)) {
    const text = `API Error: ${hidesStreamErrors ? MID_RESPONSE : wordsInStream(core, failure)}`
    return { status: null, type: "", text, tag }
  }
  if (failure.kind !== "http" || failure.status === 0) {
    return { status: null, type: "", text: `API Error: ${connectionError}`, tag }
  }
  const { status, type, message } = failure
  const text = textOfProblem(core, failure)
  return { status, type, text, tag: message === "" ? "unknown" : tagOf(core, failure) }
}

/** Unlike the notice of another try, the last word calls 529 an error of the server's. */
function tagOf(core: AgentCore, failure: Failure & { kind: "http" }): string {
  if (failure.status === 401) return "authentication_failed"
  if (!core.profile.quirks.namesErrors) return "unknown"
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
  const { quirks, shapes } = core.profile
  const plain = shapes.apiError({ status, type, message, requestId: core.model.requestId() })
  if (status === 401) return `Failed to authenticate. ${plain}`
  if (!quirks.namesErrors) return plain
  if (status === 429) return `API Error: Request rejected (429) · ${message}`
  if (status < 500) return plain
  const gateway = core.launch.env["ANTHROPIC_BASE_URL"]
  const where =
    quirks.namesGateway && gateway !== undefined
      ? `check your inference gateway (${URL.canParse(gateway) ? new URL(gateway).host : gateway})`
      : "check status.claude.com"
  if (quirks.namesGateway && status === 529 && isRepeated === true) {
    return `API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. Try again in a moment. If it persists, ${where}.`
  }
  return `API Error: ${status} ${message}. This is a server-side issue, usually temporary — try again in a moment. If it persists, ${where}.`
}
