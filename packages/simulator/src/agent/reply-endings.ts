import { textOf } from "@signalbox/protocol/envelope"
import type { ResultError } from "../profiles/profile.ts"
import { problemOf } from "./api-errors.ts"
import type { AgentCore } from "./core.ts"
import type { Failure, Spoken } from "./spoken.ts"
import type { StandIn } from "./stand-in.ts"
import type { Ending, TurnReport } from "./turn-report.ts"

const MAX_TOKENS_NOTE =
  "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is " +
  "where the cut happened. Break remaining work into smaller pieces."

/** What becomes of a turn when a reply did not end as it should. */
export class ReplyEndings {
  readonly #core: AgentCore
  readonly #report: TurnReport
  readonly #standIn: StandIn
  #refusals = 0

  constructor(core: AgentCore, report: TurnReport, standIn: StandIn) {
    this.#core = core
    this.#report = report
    this.#standIn = standIn
  }

  /** The API failed for good. */
  apiError(failure: Failure): Ending {
    const core = this.#core
    const problem = problemOf(core, failure)
    const http = failure.kind === "http" && failure.status > 0 ? failure : undefined
    this.#standIn.sayAsModel(problem.text, problem.tag, {
      is_api_error_message: true,
      ...(http === undefined
        ? { api_error: "connection_failed" }
        : { api_error_status: http.status, api_error_type: http.type }),
    })
    this.#report.stopReason = "stop_sequence"
    const apiError: ResultError =
      http === undefined ? { status: null, code: "connection_failed" } : { status: http.status, type: http.type }
    return { kind: "done", text: problem.text, terminal: "api_error", apiError }
  }

  /** Ends after which the CLI asks the model, by itself, to go on. */
  mustContinue(spoken: Spoken): { ending: Ending } | { again: true } | undefined {
    const { generation } = this.#core.profile
    if (spoken.stopReason === "pause_turn") return { again: true }
    if (spoken.stopReason === "refusal") return this.#refused(spoken)
    if (spoken.stopReason !== "max_tokens") return undefined
    if (generation === 325) this.#standIn.sayAsUser(MAX_TOKENS_NOTE, { isSynthetic: true })
    if (generation === 37) this.#standIn.sayAsModel(tooLong(), undefined, {})
    return { again: true }
  }

  #refused(spoken: Spoken): { ending: Ending } | { again: true } {
    const core = this.#core
    const { generation } = core.profile
    const because = textOf(spoken.stopDetails, "explanation")
    if (generation === 325 && ++this.#refusals === 1) {
      const content = "The model's safeguards stopped the response above · continuing once with that noted"
      core.wire.system("informational", { content, level: "notice" }, "uuid")
      const note = "Your response above was stopped by a safety classifier — this is not a tool or API error."
      this.#standIn.sayAsUser(note, { isSynthetic: true, refused_message_id: spoken.messageId })
      return { again: true }
    }
    const policy = "https://www.anthropic.com/legal/aup"
    const rest = generation === 37 || because === undefined ? "Try rephrasing the request." : `${because}.`
    const text = `API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (${policy}). ${rest}`
    if (generation === 325) this.#tellRefusal(spoken)
    const extra = { is_api_error_message: true, refused_message_id: spoken.messageId }
    this.#standIn.sayAsModel(text, "invalid_request", extra)
    if (generation === 37) this.#report.stopReason = "stop_sequence"
    return { ending: { kind: "done", text, terminal: "api_error", apiError: { status: null } } }
  }

  #tellRefusal(spoken: Spoken): void {
    const core = this.#core
    core.wire.system(
      "model_refusal_no_fallback",
      {
        original_model: spoken.model,
        request_id: core.model.requestId(),
        api_refusal_category: textOf(spoken.stopDetails, "category"),
        api_refusal_explanation: textOf(spoken.stopDetails, "explanation"),
        content: "",
      },
      "uuid",
    )
  }
}

function tooLong(): string {
  return "API Error: Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable."
}
