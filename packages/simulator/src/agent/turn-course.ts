import type { Batch, QueuedMessage } from "../wire/message-queue.ts"
import { localCommand } from "./asides.ts"
import { type AgentCore, rememberMessage, tellInit } from "./core.ts"
import { lastText, type Spoken } from "./failures.ts"
import { beforePrompt, beforeStop, notifyOfStop, tellBlocked } from "./hook-verdicts.ts"
import { ModelCalls, type Why } from "./model-calls.ts"
import { ReplyEndings } from "./reply-endings.ts"
import { callTool, toolUsesOf } from "./tool-call.ts"
import { type Ending, StructuredOutput, TurnReport } from "./turn-report.ts"

const INTERRUPTED = "[Request interrupted by user]"
const INTERRUPTED_TOOL = "[Request interrupted by user for tool use]"

/** How a turn is broken into. */
export interface Interruption {
  readonly abort: AbortController
  /** Another message takes its place, so nobody is told of an interruption. */
  isQuiet: boolean
}

/** One turn, from the user's message to its result. */
export class TurnCourse {
  readonly #core: AgentCore
  readonly #messages: QueuedMessage[]
  readonly #interruption: Interruption
  readonly #signal: AbortSignal
  readonly #report: TurnReport
  readonly #calls: ModelCalls
  readonly #endings: ReplyEndings
  readonly #structured: StructuredOutput
  #stopHookRuns = 0
  #joined: string[] = []
  /** Uuid of the last message that the model was told. */
  #userUuid = ""

  constructor(core: AgentCore, messages: Batch, interruption: Interruption) {
    this.#core = core
    this.#messages = [...messages]
    this.#report = new TurnReport(core)
    this.#interruption = interruption
    const { signal } = interruption.abort
    this.#signal = signal
    const report = this.#report
    const endings = new ReplyEndings(core, report, () => this.#userUuid)
    this.#endings = endings
    const retracts = (spoken: Spoken) => endings.retracts(spoken)
    this.#calls = new ModelCalls(core, { report, signal, retracts, userUuids: () => this.#uuids() })
    this.#structured = new StructuredOutput(core)
  }

  async run(): Promise<void> {
    const core = this.#core
    core.ledger.beginTurn()
    for (const { uuid } of this.#messages) core.wire.lifecycle(uuid, "started")
    core.wire.tellState("running")
    core.state.promptId = core.random.uuid()
    if (!core.profile.quirks.connectsMcpAtOnce) await core.mcp.connect()
    const [first] = this.#messages
    const command = first === undefined || first.isVerbatim === true ? undefined : localCommand(core, first.text)
    const blocked = command === undefined ? await beforePrompt(core, this.#messages, this.#signal) : undefined
    await core.mcp.connect()
    await command?.before?.(core, this.#signal)
    tellInit(core, this.#uuids())
    this.#replay()
    const blockedText = blocked === undefined ? "" : tellBlocked(core, this.#messages, blocked)
    if (command !== undefined) this.#report.tellLocal(this.#messages, command.after(core), command.name)
    else if (blocked !== undefined || this.#messages.every(({ isQuery }) => !isQuery)) {
      // A message that asks for nothing is heard all the same, and told with the next question.
      if (blocked === undefined) this.#remember(this.#messages)
      this.#report.tellLocal(this.#messages, blockedText)
    } else {
      this.#remember(this.#messages)
      const ending = await this.#converse()
      for (const uuid of this.#joined) core.wire.lifecycle(uuid, "completed")
      this.#report.tell(this.#messages, ending)
    }
    const state = this.#signal.aborted ? "cancelled" : "completed"
    for (const { uuid } of this.#messages) if (!this.#joined.includes(uuid ?? "")) core.wire.lifecycle(uuid, state)
    if (core.queue.length === 0) core.wire.tellState("idle")
  }

  #replay(): void {
    const core = this.#core
    if (!core.launch.replayUserMessages) return
    for (const { sent, uuid, origin } of this.#messages) if (origin === undefined) core.wire.replay(sent, uuid)
  }

  #remember(messages: readonly QueuedMessage[]): void {
    const core = this.#core
    for (const { content, uuid } of messages) {
      const message = { role: "user", content }
      this.#userUuid = uuid ?? core.random.uuid()
      rememberMessage(core, message, { uuid: this.#userUuid }, { permissionMode: core.state.permissions.mode })
      if (uuid !== undefined) core.toolbox.checkpoints.begin(uuid)
    }
  }

  async #converse(): Promise<Ending> {
    let why: Why = "said"
    let text = this.#messages.map((message) => message.text).join("\n")
    for (;;) {
      const spoken = await this.#calls.call(why, text)
      const over = this.#afterCall(spoken)
      if (over !== undefined) return over
      const again = this.#endings.mustContinue(spoken)
      if (again !== undefined) {
        if ("ending" in again) return again.ending
        if (again.insteadOf !== undefined) this.#calls.superseded = again.insteadOf
        ;[why, text] = ["continue", ""]
        continue
      }
      const uses = toolUsesOf(spoken)
      if (uses.length === 0) {
        const said = lastText(spoken) ?? ""
        const feedback = await this.#beforeStop(said)
        if (feedback === undefined) return { kind: "done", text: said, terminal: "completed" }
        ;[why, text] = ["said", feedback]
        continue
      }
      const stopped = await this.#runTools(uses)
      if (stopped !== undefined) return stopped
      ;[why, text] = ["results", this.#joinQueued()]
    }
  }

  /** The words that keep the model from ending. */
  async #beforeStop(lastMessage: string): Promise<string | undefined> {
    const reminder = this.#structured.reminder()
    const call = { lastMessage, isActive: this.#stopHookRuns > 0, signal: this.#signal }
    if (reminder === undefined) this.#stopHookRuns++
    const feedback = reminder ?? (await beforeStop(this.#core, call))
    if (feedback === undefined) return undefined
    this.#endings.sayAsUser(feedback, { isSynthetic: true })
    if (reminder === undefined) notifyOfStop(this.#core)
    return feedback
  }

  #uuids(): string[] {
    return this.#messages.flatMap(({ uuid }) => uuid ?? [])
  }

  /** The ending of a turn that is over right after a call. */
  #afterCall(spoken: Spoken): Ending | undefined {
    const core = this.#core
    this.#account(spoken)
    const { failure } = spoken
    if (failure?.kind === "aborted") return this.#interruptedStreaming(spoken)
    if (failure !== undefined && !this.#endings.isCutOff(spoken))
      return this.#endings.apiError(failure, spoken.progress)
    // The oldest generation looks at a streamed message's reason before it is there.
    this.#report.stopReason = core.profile.quirks.readsStopReason || spoken.isWhole ? spoken.stopReason : null
    const { maxBudgetUsd } = core.launch
    if (maxBudgetUsd === undefined || core.ledger.totalCostUsd < maxBudgetUsd) return undefined
    const errors = core.profile.quirks.maxTurnsErrors ? [`Reached maximum budget ($${maxBudgetUsd})`] : []
    // The call that went over is paid for, and not counted.
    core.ledger.forgetTurn()
    this.#report.hasUsage = false
    return { kind: "error", subtype: "error_max_budget_usd", errors, terminal: "budget_exhausted" }
  }

  /** A reply in one piece is to 2.1.120 no part of the turn's tokens; 2.1.37 does not count it at all. */
  #account({ usage, model, isWhole }: Spoken): void {
    const core = this.#core
    const { wholeReplies } = core.profile.quirks
    if (usage === undefined || (isWhole && wholeReplies === "not-at-all")) return
    const isMain = !isWhole || wholeReplies === "in-turn"
    this.#report.hasUsage ||= isMain
    const costUsd = core.model.costOfTurn?.()
    const price = costUsd === undefined ? {} : { costUsd: this.#calls.count === 1 ? costUsd : 0 }
    core.ledger.record(model, usage, { isMain, ...price })
  }

  #interruptedStreaming(spoken: Spoken): Ending {
    if (!this.#interruption.isQuiet) this.#endings.sayAsUser(INTERRUPTED)
    this.#calls.closeStream()
    // To the newest generation a turn that gave way to another has ended well, with what it had said.
    if (this.#interruption.isQuiet && this.#core.profile.quirks.yieldingSucceeds)
      return { kind: "done", text: lastText(spoken) ?? "", terminal: "aborted_streaming" }
    return { kind: "interrupted", during: "streaming" }
  }

  async #runTools(uses: ReturnType<typeof toolUsesOf>): Promise<Ending | undefined> {
    const core = this.#core
    const scope = { signal: this.#signal, parent: null, extra: {}, denials: this.#report.denials }
    let [interrupted, hookStopped] = [false, false]
    for (const use of uses) {
      const end = await callTool(core, scope, use)
      this.#report.userMessages += end.saidMore === true ? 2 : 1
      this.#structured.note(use, end)
      if (end.stop === "interrupted") {
        interrupted = true
        this.#interruption.abort.abort()
      }
      if (end.stop === "hook") hookStopped = true
    }
    if (interrupted || this.#signal.aborted) {
      if (!this.#interruption.isQuiet) this.#endings.sayAsUser(INTERRUPTED_TOOL)
      return { kind: "interrupted", during: "tools" }
    }
    if (hookStopped) return { kind: "done", text: "", terminal: "hook_stopped" }
    this.#report.structuredOutput = this.#structured.value
    if (this.#structured.value !== undefined && core.profile.quirks.structuredOutputEnds) {
      return { kind: "done", text: JSON.stringify(this.#structured.value), terminal: "completed" }
    }
    return this.#structured.givenUp() ?? this.#maxTurns()
  }

  #maxTurns(): Ending | undefined {
    const { maxTurns } = this.#core.launch
    if (maxTurns === undefined || this.#calls.count < maxTurns) return undefined
    const told = this.#core.profile.quirks.maxTurnsErrors
    const errors = told ? [`Reached maximum number of turns (${maxTurns})`] : []
    return { kind: "error", subtype: "error_max_turns", errors, terminal: "max_turns" }
  }

  /** Messages that came while tools ran go to the model with the tools' results. */
  #joinQueued(): string {
    const core = this.#core
    const joining = core.queue.takeForTurn()
    for (const { uuid } of joining) core.wire.lifecycle(uuid, "started")
    this.#messages.push(...joining)
    this.#joined.push(...joining.flatMap(({ uuid }) => uuid ?? []))
    this.#remember(joining)
    return joining.map(({ text }) => text).join("\n")
  }
}
