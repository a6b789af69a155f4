import type { PermissionDenial } from "@signalbox/protocol"
import type { ResultError, ResultFacts, Timing } from "../profiles/profile.ts"
import type { QueuedMessage } from "../wire/message-queue.ts"
import type { AgentCore } from "./core.ts"
import type { CallEnd } from "./tool-call.ts"

/** How a turn ends. */
export type Ending =
  | { kind: "done"; text: string; terminal: string; apiError?: ResultError }
  /** `isError`: also where a version does not call it one when a turn is broken off. */
  | { kind: "error"; subtype: string; errors: readonly string[]; terminal?: string; isError?: true }
  | { kind: "interrupted"; during: "streaming" | "tools" }

/** Gathers, while a turn runs, what its result will tell. */
export class TurnReport {
  readonly startedAt: number
  readonly denials: PermissionDenial[] = []
  readonly timing: { -readonly [K in keyof Timing]?: Timing[K] } = {}
  /** Messages said in the user's place: a CLI counts them as turns. */
  userMessages = 0
  stopReason: string | null = null
  hasUsage = false
  structuredOutput: unknown
  readonly #core: AgentCore

  constructor(core: AgentCore) {
    this.#core = core
    this.startedAt = core.clock.now()
  }

  /** Reports a turn in which the model was not asked. */
  tellLocal(messages: readonly QueuedMessage[], text: string, command?: string): void {
    this.#emit({ kind: "success", text }, { messages, numTurns: 0, localCommand: command })
  }

  tell(messages: readonly QueuedMessage[], ending: Ending): void {
    const about = { messages, numTurns: 1 + this.userMessages }
    if (ending.kind === "done") {
      const { text, apiError, terminal } = ending
      return this.#emit({ kind: "success", text, apiError }, { ...about, terminalReason: terminal })
    }
    const { interruptIsError } = this.#core.profile.quirks
    if (ending.kind === "error") {
      const { subtype, errors, terminal, isError = interruptIsError } = ending
      return this.#emit({ kind: "error", subtype, errors, isError }, { ...about, terminalReason: terminal })
    }
    if (ending.during !== "tools") this.stopReason = null
    const diagnostic = `[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=${this.stopReason}`
    const subtype = "error_during_execution"
    const errors = interruptIsError ? [diagnostic] : []
    const terminalReason = ending.during === "tools" ? "aborted_tools" : "aborted_streaming"
    this.#emit({ kind: "error", subtype, errors, isError: interruptIsError }, { ...about, terminalReason })
  }

  #emit(
    outcome: ResultFacts["outcome"],
    about: Pick<ResultFacts, "numTurns" | "terminalReason" | "localCommand"> & { messages: readonly QueuedMessage[] },
  ): void {
    const core = this.#core
    const { messages, ...told } = about
    const facts: ResultFacts = {
      sessionId: core.wire.sessionId,
      uuid: core.random.uuid(),
      outcome,
      ...told,
      stopReason: this.stopReason,
      timing: { ...this.timing, durationMs: Math.max(1, core.clock.now() - this.startedAt), apiMs: core.ledger.apiMs },
      bill: core.ledger,
      hasUsage: this.hasUsage,
      denials: this.denials,
      userUuids: messages.flatMap(({ uuid }) => uuid ?? []),
      index: core.state.results++,
      counts: core.state,
      structuredOutput: this.structuredOutput,
      origin: messages[0]?.origin,
    }
    const result = core.profile.shapes.result(facts)
    core.state.lastFailed = result["is_error"] === true
    core.wire.emit(result)
  }
}

const TOOL = "StructuredOutput"
const DEFAULT_ATTEMPTS = 5
/** A real CLI of the older generations reminds its model for ever. */
const MAX_REMINDERS = 100
const REMINDER = "You MUST call the StructuredOutput tool to complete this request. Call this tool now."

/** Follows the output that a host wants in a form of its own. */
export class StructuredOutput {
  readonly #core: AgentCore
  #attempts = 0
  #reminders = 0
  #lastError = ""
  /** Set once it came as it was wanted. */
  value: unknown

  constructor(core: AgentCore) {
    this.#core = core
  }

  note(use: { name: string; input: unknown }, { ok, block }: CallEnd): void {
    if (use.name !== TOOL || this.#core.state.jsonSchema === undefined) return
    if (ok) this.value = use.input
    else {
      this.#attempts++
      this.#lastError = typeof block["content"] === "string" ? block["content"] : ""
    }
  }

  /** The model has tried often enough. */
  givenUp(): Ending | undefined {
    const most = Number(this.#core.launch.env["MAX_STRUCTURED_OUTPUT_RETRIES"]) || DEFAULT_ATTEMPTS
    if (this.value !== undefined || this.#attempts < most) return undefined
    const failed = `Failed to provide valid structured output after ${this.#attempts} attempts`
    const subtype = "error_max_structured_output_retries"
    if (!this.#core.profile.quirks.detailsSchemaErrors)
      return { kind: "error", subtype, errors: [failed], isError: true }
    // The last call is paid for, and not counted.
    this.#core.ledger.forgetLastCall()
    const errors = [`${failed} — last StructuredOutput error: ${this.#lastError}`]
    return { kind: "error", subtype, errors, terminal: "structured_output_retry_exhausted", isError: true }
  }

  /** The reminder for a model that wants to end without it. The newest generation sends it once. */
  reminder(): string | undefined {
    const { state, profile } = this.#core
    if (state.jsonSchema === undefined || this.value !== undefined) return undefined
    const { remindsOnce } = profile.quirks
    if (this.#reminders++ >= (remindsOnce ? 1 : MAX_REMINDERS)) return undefined
    return remindsOnce ? `[structured-output-enforce] ${REMINDER}` : `Stop hook feedback:\n${REMINDER}`
  }
}
