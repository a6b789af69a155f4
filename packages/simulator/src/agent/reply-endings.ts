import type { ResultError } from "../profiles/profile.ts"
import { type ApiProblem, problemOf } from "./api-errors.ts"
import { mendingOf } from "./broken-reply.ts"
import type { AgentCore } from "./core.ts"
import type { AfterRefusal, Refusals } from "./refusals.ts"
import type { Failure, Progress, Spoken } from "./spoken.ts"
import type { StandIn } from "./stand-in.ts"
import type { Ending, TurnReport } from "./turn-report.ts"

const MAX_TOKENS_NOTE =
  "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is " +
  "where the cut happened. Break remaining work into smaller pieces."

const CUT_OFF_NOTE = "Your response above was cut off mid-stream. Go on from there."
const MAX_CUT_OFF = 3

/** What becomes of a turn when a reply did not end as it should. */
export class ReplyEndings {
  readonly #core: AgentCore
  readonly #report: TurnReport
  readonly #standIn: StandIn
  readonly #refusals: Refusals
  #cutOff = 0

  constructor(core: AgentCore, turn: { report: TurnReport; standIn: StandIn; refusals: Refusals }) {
    this.#core = core
    this.#report = turn.report
    this.#standIn = turn.standIn
    this.#refusals = turn.refusals
  }

  /** Whether the model is to go on where its words broke off; a few times in a turn. */
  isCutOff(spoken: Spoken): boolean {
    return mendingOf(this.#core.profile.generation, spoken) === "continue" && ++this.#cutOff <= MAX_CUT_OFF
  }

  /** The API failed for good. */
  apiError(failure: Failure, progress: Progress): Ending {
    const core = this.#core
    const problem = problemOf(core, failure, progress)
    const http = failure.kind === "http" && failure.status > 0 ? failure : undefined
    if (http === undefined && progress === "blocks") return this.#endedMidReply(problem)
    const told =
      http === undefined
        ? { api_error: "connection_failed" }
        : { api_error_status: http.status, api_error_type: http.type }
    this.#standIn.sayAsModel(problem.text, { error: problem.tag, extra: { is_api_error_message: true, ...told } })
    this.#report.stopReason = "stop_sequence"
    const apiError: ResultError =
      http === undefined ? { status: null, code: "connection_failed" } : { status: http.status, type: http.type }
    return { kind: "done", text: problem.text, terminal: "api_error", apiError }
  }

  #endedMidReply({ text, tag }: ApiProblem): Ending {
    // No request is named: there was one, and it was answered.
    this.#standIn.sayAsModel(text, {
      error: tag,
      extra: { request_id: undefined, is_api_error_message: true },
    })
    this.#report.stopReason = "stop_sequence"
    return { kind: "done", text, terminal: "api_error", apiError: { status: null } }
  }

  /** Ends after which the CLI asks the model, by itself, to go on. */
  mustContinue(spoken: Spoken): AfterRefusal | undefined {
    const { generation } = this.#core.profile
    if (spoken.failure !== undefined) {
      this.#standIn.sayAsUser(CUT_OFF_NOTE, { isSynthetic: true })
      return { again: true }
    }
    if (spoken.stopReason === "pause_turn") return { again: true }
    if (spoken.stopReason === "refusal") return this.#refusals.after(spoken)
    if (spoken.stopReason !== "max_tokens") return undefined
    if (generation === 325) this.#standIn.sayAsUser(MAX_TOKENS_NOTE, { isSynthetic: true })
    if (generation === 37) this.#standIn.sayAsModel(tooLong())
    return { again: true }
  }
}

function tooLong(): string {
  return "API Error: Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable."
}
