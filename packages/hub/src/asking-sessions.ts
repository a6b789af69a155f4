import type { Rule } from "@signalbox/policy"
import type { Envelope } from "@signalbox/protocol"
import { type AskVerdict, answerWire } from "./asks/answer.ts"
import type { AskingSessions as AsDeskKnowsThem } from "./asks/ask-desk.ts"
import { briefAsk } from "./asks/whole-ask.ts"
import type { Enforcement } from "./clients/enforcement.ts"
import { ACTOR } from "./model/access.ts"
import type { Ask, AskRecord } from "./model/ask.ts"
import type { HubMetrics } from "./operations/metrics.ts"
import type { GrantDesk, PolicyDesk, RuleUses } from "./policy-desk.ts"
import { isEnforcing } from "./session/kept-record.ts"
import type { SessionRegistry } from "./session/session-registry.ts"
import { movedError } from "./store/store-failure.ts"
import type { FanOut } from "./viewers/fan-out.ts"

export interface AskingSessionsOptions {
  readonly registry: SessionRegistry
  readonly policy: PolicyDesk
  readonly grants: GrantDesk<Rule>
  readonly uses: RuleUses
  readonly enforcement: Enforcement
  readonly fanOut: FanOut
  readonly metrics: HubMetrics
}

/** A request and the session that asks: judged by its policy, answered over its wire, told to its viewers and its history. */
export class AskingSessions implements AsDeskKnowsThem {
  readonly #options: AskingSessionsOptions

  constructor(options: AskingSessionsOptions) {
    this.#options = options
  }

  async load(sessionId: string): Promise<void> {
    await this.#options.registry.get(sessionId)
  }

  judge(ask: Ask): AskVerdict {
    const { registry, policy, grants, uses, enforcement } = this.#options
    const { sessionId } = ask
    const session = registry.loaded(sessionId)
    // It may have gone to another hub since it was loaded.
    if (session === undefined) throw movedError(sessionId)
    const { record, kept } = session
    const verdict = policy.judge(ask, record, { grants: grants.rulesOf(sessionId), used: uses.of(sessionId) })
    return isEnforcing(kept) ? enforcement.atMostAsked(session, ask, verdict) : verdict
  }

  async recall({ sessionId, toolUseId }: AskRecord): Promise<void> {
    const session = this.#options.registry.loaded(sessionId)
    if (session !== undefined && isEnforcing(session.kept)) await this.#options.enforcement.recall(session, toolUseId)
  }

  async send(incarnation: string, message: Envelope): Promise<boolean> {
    const wire = this.#options.registry.wireOf(incarnation)
    if (wire === undefined) return false
    return wire.send(message).then(
      () => true,
      () => false,
    )
  }

  publish(ask: Ask): void {
    const { registry, fanOut, metrics } = this.#options
    fanOut.asked(ask)
    const session = registry.loaded(ask.sessionId)
    session?.touch()
    if (ask.settledAt === undefined) return
    const waitedSeconds = (Date.parse(ask.settledAt) - Date.parse(ask.askedAt)) / 1000
    metrics.askSettled({ state: ask.state, via: ask.via ?? "hub", waitedSeconds })
    if (ask.answer === undefined || session === undefined) return
    const from = ask.via === "person" ? "client" : "hub"
    // The answer stands in the ask, synced; the event is for those who read the history, where it stands beside the question.
    void session.history
      .recordAnswer(answerWire(briefAsk(ask)), ask.settledBy ?? ACTOR.hub, from)
      .catch(() => undefined)
  }

  startedBy(sessionId: string): string | undefined {
    return this.#options.registry.loaded(sessionId)?.record.startedBy
  }
}
