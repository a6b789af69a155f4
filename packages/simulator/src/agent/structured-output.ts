import type { AgentCore } from "./core.ts"
import type { CallEnd } from "./tool-call.ts"
import type { Ending } from "./turn-report.ts"

const TOOL = "StructuredOutput"
const DEFAULT_ATTEMPTS = 5
/** A real CLI of the older generations reminds its model for ever. */
const MAX_REMINDERS = 100
const REMINDER = "You MUST call the StructuredOutput tool to complete this request. Call this tool now."

/** What became of the output that a host wants in a form of its own. */
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

  /** What a model is told that wants to end without it. The newest generation tells it once. */
  reminder(): string | undefined {
    const { state, profile } = this.#core
    if (state.jsonSchema === undefined || this.value !== undefined) return undefined
    const { remindsOnce } = profile.quirks
    if (this.#reminders++ >= (remindsOnce ? 1 : MAX_REMINDERS)) return undefined
    return remindsOnce ? `[structured-output-enforce] ${REMINDER}` : `Stop hook feedback:\n${REMINDER}`
  }
}
