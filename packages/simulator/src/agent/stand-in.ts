import type { Fields } from "../profiles/profile.ts"
import type { AgentCore } from "./core.ts"
import { rememberResult } from "./tool-call.ts"
import type { TurnReport } from "./turn-report.ts"

/** What a CLI says by itself in somebody else's place. */
export class StandIn {
  readonly #core: AgentCore
  readonly #report: TurnReport

  constructor(core: AgentCore, report: TurnReport) {
    this.#core = core
    this.#report = report
  }

  /** `ending`: what the message tells of its own end, where that is not the usual. */
  sayAsModel(text: string, about: { error?: string; extra?: Fields; ending?: Fields } = {}): void {
    const core = this.#core
    const { error, extra, ending } = about
    const message = { ...core.profile.shapes.syntheticMessage(core.random.uuid(), text), ...ending }
    core.wire.assistant(message, { error, request_id: core.model.requestId(), ...extra })
  }

  sayAsUser(text: string, extra: Fields = {}): void {
    const core = this.#core
    const message = { role: "user", content: [{ type: "text", text }] }
    const said = core.wire.user(message, extra)
    rememberResult(core, message, said)
    this.#report.userMessages++
  }
}
