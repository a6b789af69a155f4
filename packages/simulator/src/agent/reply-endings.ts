import { textOf } from "@signalbox/protocol/envelope"
import type { Fields, ResultError } from "../profiles/profile.ts"
import { type AgentCore, rememberMessage } from "./core.ts"
import { type Failure, mendingOf, type Progress, problemOf, type Spoken } from "./failures.ts"
import type { Ending, TurnReport } from "./turn-report.ts"

const MAX_TOKENS_NOTE =
  "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is " +
  "where the cut happened. Break remaining work into smaller pieces."

const CUT_OFF_NOTE = "Your response above was cut off mid-stream. Go on from there."
const MAX_CUT_OFF = 3
const TOO_LONG =
  "API Error: Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable."

/** The model that answers when this one has refused twice; seen with the newest generation's default model. */
const FALLBACKS: Readonly<Record<string, string>> = { "claude-opus-5-5": "claude-opus-4-8" }

/** The step after a refused reply. `insteadOf`: another model answers, in place of these messages. */
type AfterRefusal = { ending: Ending } | { again: true; insteadOf?: readonly string[] }

/** Decides how a turn goes on when a reply did not end as it should, and what the CLI says by itself in somebody's place. */
export class ReplyEndings {
  readonly #core: AgentCore
  readonly #report: TurnReport
  /** The uuid of the user's message that the turn is about. */
  readonly #userUuid: () => string
  #cutOff = 0
  #refusals = 0
  #isRetracted = false

  constructor(core: AgentCore, report: TurnReport, userUuid: () => string) {
    this.#core = core
    this.#report = report
    this.#userUuid = userUuid
  }

  /** Whether the model is to go on where its words broke off; a few times in a turn. */
  isCutOff(spoken: Spoken): boolean {
    return mendingOf(this.#core, spoken) === "continue" && ++this.#cutOff <= MAX_CUT_OFF
  }

  /** The API failed for good. */
  apiError(failure: Failure, progress: Progress): Ending {
    const core = this.#core
    const problem = problemOf(core, failure, progress)
    const { told, apiError } = accountOf(failure, progress)
    this.#sayAsModel(problem.text, { error: problem.tag, extra: { is_api_error_message: true, ...told } })
    this.#report.stopReason = "stop_sequence"
    return { kind: "done", text: problem.text, terminal: "api_error", apiError }
  }

  /** Ends after which the CLI asks the model, by itself, to go on. */
  mustContinue(spoken: Spoken): AfterRefusal | undefined {
    const { atMaxTokens } = this.#core.profile.quirks
    if (spoken.failure !== undefined) {
      this.sayAsUser(CUT_OFF_NOTE, { isSynthetic: true })
      return { again: true }
    }
    if (spoken.stopReason === "pause_turn") return { again: true }
    if (spoken.stopReason === "refusal") return this.#afterRefusal(spoken)
    if (spoken.stopReason !== "max_tokens") return undefined
    if (atMaxTokens === "tells-model") this.sayAsUser(MAX_TOKENS_NOTE, { isSynthetic: true })
    if (atMaxTokens === "tells-host") this.#sayAsModel(TOO_LONG)
    return { again: true }
  }

  /** To be called before the reply's end is passed on. True: the reply is taken back, and another model asked. */
  retracts(spoken: Spoken): boolean {
    const core = this.#core
    const fallback = FALLBACKS[core.state.model]
    const category = textOf(spoken.stopDetails, "category")
    const mayRetract = core.profile.quirks.continuesAfterRefusal && this.#refusals === 1
    if (!mayRetract || fallback === undefined || category === undefined) return false
    this.#isRetracted = true
    const [before, after] = [readable(spoken.model), readable(fallback)]
    core.wire.system("model_refusal_fallback", {
      trigger: "refusal",
      direction: "retry",
      scope: "session",
      original_model: spoken.model,
      fallback_model: fallback,
      request_id: core.model.requestId(),
      api_refusal_category: category,
      api_refusal_explanation: textOf(spoken.stopDetails, "explanation") ?? null,
      retracted_message_uuids: spoken.uuids,
      refused_user_message_uuid: this.#userUuid(),
      content: `${before}'s safeguards flagged this session. ${after} is answering instead.\n\nDetails: \`[${category}]\``,
    })
    core.state.refusedModel = core.state.model
    core.state.model = fallback
    return true
  }

  #afterRefusal(spoken: Spoken): AfterRefusal {
    const core = this.#core
    if (!core.profile.quirks.continuesAfterRefusal) return this.#older(spoken)
    core.state.safetyStops++
    this.#refusals++
    if (this.#isRetracted) return this.#answerInstead(spoken)
    if (this.#refusals === 1) {
      const content = `${readable(spoken.model)}'s safeguards stopped the response above · continuing once with that noted`
      core.wire.system("informational", { content, level: "notice" }, "uuid")
      const note = "Your response above was stopped by a safety classifier — this is not a tool or API error."
      this.sayAsUser(note, { isSynthetic: true, refused_message_id: spoken.messageId })
      return { again: true }
    }
    return this.#giveUp(spoken)
  }

  #answerInstead({ uuids, messageId }: Spoken): AfterRefusal {
    const { history, ledger } = this.#core
    this.#isRetracted = false
    // Paid for, but neither told among the turn's tokens nor to the other model.
    ledger.forgetLastCall()
    if (history.at(-1)?.["id"] === messageId) history.pop()
    return { again: true, insteadOf: uuids }
  }

  #giveUp(spoken: Spoken): AfterRefusal {
    const core = this.#core
    const category = textOf(spoken.stopDetails, "category") ?? null
    const explanation = textOf(spoken.stopDetails, "explanation") ?? null
    const request_id = core.model.requestId()
    core.wire.emit({
      type: "system",
      subtype: "model_refusal_no_fallback",
      uuid: core.random.uuid(),
      original_model: spoken.model,
      request_id,
      api_refusal_category: category,
      api_refusal_explanation: explanation,
      refused_user_message_uuid: this.#userUuid(),
      content: "",
      session_id: core.wire.sessionId,
    })
    const details = `Request ID: ${request_id}\n\nMessage ID: ${spoken.messageId}`
    const text = `API Error: ${readable(spoken.model)}'s safeguards flagged this message.\n\n${details}`
    this.#sayAsModel(text, {
      error: "invalid_request",
      extra: { is_api_error_message: true, refused_message_id: spoken.messageId },
      ending: { stop_details: { type: "refusal", category, explanation }, stop_reason: "refusal" },
    })
    return { ending: { kind: "done", text, terminal: "api_error", apiError: { status: null } } }
  }

  #older(spoken: Spoken): AfterRefusal {
    const { explainsRefusals } = this.#core.profile.quirks
    const because = textOf(spoken.stopDetails, "explanation")
    const policy = "https://www.anthropic.com/legal/aup"
    const rest = explainsRefusals && because !== undefined ? `${because}.` : "Try rephrasing the request."
    const text = `API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (${policy}). ${rest}`
    const extra = { is_api_error_message: true, refused_message_id: spoken.messageId }
    this.#sayAsModel(text, { error: "invalid_request", extra })
    if (!explainsRefusals) this.#report.stopReason = "stop_sequence"
    return { ending: { kind: "done", text, terminal: "api_error", apiError: { status: null } } }
  }

  /** `ending`: what the message tells of its own end, where that is not the usual. */
  #sayAsModel(text: string, about: { error?: string; extra?: Fields; ending?: Fields } = {}): void {
    const core = this.#core
    const { error, extra, ending } = about
    const message = { ...core.profile.shapes.syntheticMessage(core.random.uuid(), text), ...ending }
    core.wire.assistant(message, { error, request_id: core.model.requestId(), ...extra })
  }

  sayAsUser(text: string, extra: Fields = {}): void {
    const core = this.#core
    const message = { role: "user", content: [{ type: "text", text }] }
    const said = core.wire.user(message, extra)
    rememberMessage(core, message, said)
    this.#report.userMessages++
  }
}

/** A failure as the message about it tells it, and as the result does. */
function accountOf(failure: Failure, progress: Progress): { told: Fields; apiError: ResultError } {
  if (failure.kind === "http" && failure.status > 0) {
    const { status, type } = failure
    return { told: { api_error_status: status, api_error_type: type }, apiError: { status, type } }
  }
  // No request is named where a reply broke off: there was one, and it was answered.
  if (progress === "blocks") return { told: { request_id: undefined }, apiError: { status: null } }
  return { told: { api_error: "connection_failed" }, apiError: { status: null, code: "connection_failed" } }
}

/** `claude-opus-5-5` is "Opus 5.5" to people. */
function readable(model: string): string {
  const [, family = "", major, minor] = /^claude-([a-z]+)-(\d+)-(\d+)/.exec(model) ?? []
  return family === "" ? model : `${family.charAt(0).toUpperCase()}${family.slice(1)} ${major}.${minor}`
}
