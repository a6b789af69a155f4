import { isObject, textOf } from "@signalbox/protocol"
import type { Fields, ResultError } from "../profiles/profile.ts"
import { isRetried, maxRetries, problemOf, retryDelayMs, retryName } from "./api-errors.ts"
import { playAside } from "./asides.ts"
import { type AgentCore, toolsOf } from "./core.ts"
import { tellInit } from "./greeting.ts"
import { localCommand } from "./local-commands.ts"
import type { Batch, QueuedMessage } from "./message-queue.ts"
import { type Failure, Speech, type Spoken } from "./speech.ts"
import { callTool, rememberResult, tellSystemMessage, toolUsesOf } from "./tool-call.ts"
import { type Ending, TurnReport } from "./turn-report.ts"

type Why = "said" | "results" | "retry" | "continue"

const INTERRUPTED = "[Request interrupted by user]"
const INTERRUPTED_TOOL = "[Request interrupted by user for tool use]"
const MAX_TOKENS_NOTE =
  "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is " +
  "where the cut happened. Break remaining work into smaller pieces."

/** One turn, from the user's message to its result. */
export class Turn {
  readonly #core: AgentCore
  readonly #messages: QueuedMessage[]
  readonly #abort = new AbortController()
  readonly #report: TurnReport
  #calls = 0
  #saysInterruption = true
  #refusals = 0
  #joined: string[] = []

  constructor(core: AgentCore, messages: Batch) {
    this.#core = core
    this.#messages = [...messages]
    this.#report = new TurnReport(core)
  }

  /** Breaks in. `quietly`: another message takes its place, so nobody is told of an interruption. */
  interrupt(quietly = false): void {
    if (quietly) this.#saysInterruption = false
    this.#abort.abort()
  }

  async run(): Promise<void> {
    const core = this.#core
    core.ledger.beginTurn()
    for (const { uuid } of this.#messages) core.wire.lifecycle(uuid, "started")
    core.wire.tellState("running")
    core.state.promptId = core.random.uuid()
    if (!core.profile.quirks.connectsMcpAtOnce) await core.mcp.connect(core)
    const command = localCommand(core, this.#messages[0]?.text ?? "")
    const blocked = command === undefined ? await this.#promptHooks() : undefined
    await core.mcp.connect(core)
    await command?.before?.(core, this.#abort.signal)
    tellInit(core, this.#uuids())
    this.#replay()
    if (command !== undefined) this.#report.tellLocal(this.#messages, command.after(core), command.name)
    else if (blocked !== undefined || this.#messages.every(({ isQuery }) => !isQuery))
      this.#report.tellLocal(this.#messages, blocked ?? "")
    else {
      this.#remember(this.#messages)
      const ending = await this.#converse()
      for (const uuid of this.#joined) core.wire.lifecycle(uuid, "completed")
      this.#report.tell(this.#messages, ending)
    }
    const state = this.#abort.signal.aborted ? "cancelled" : "completed"
    for (const { uuid } of this.#messages) if (!this.#joined.includes(uuid ?? "")) core.wire.lifecycle(uuid, state)
    if (core.queue.length === 0) core.wire.tellState("idle")
  }

  /** What a hook says instead of the turn; undefined lets it go on. */
  async #promptHooks(): Promise<string | undefined> {
    const core = this.#core
    const prompt = this.#messages.map(({ text }) => text).join("\n")
    const call = {
      event: "UserPromptSubmit",
      input: { prompt },
      signal: this.#abort.signal,
      base: { omitEffort: true },
    }
    const outcomes = await core.hooks.run(core, call)
    for (const { output } of outcomes) tellSystemMessage(core, "UserPromptSubmit", output)
    const isBlocked = outcomes.some(({ output }) => output["decision"] === "block" || output["continue"] === false)
    return isBlocked ? "" : undefined
  }

  #replay(): void {
    const core = this.#core
    if (!core.launch.replayUserMessages) return
    for (const { content, uuid, origin } of this.#messages) if (origin === undefined) core.wire.replay(content, uuid)
  }

  #remember(messages: readonly QueuedMessage[]): void {
    const core = this.#core
    for (const { content, uuid } of messages) {
      const message = { role: "user", content }
      rememberResult(core, message, { uuid: uuid ?? core.random.uuid() })
      if (uuid !== undefined) core.toolbox.checkpoints.begin(uuid)
    }
  }

  async #converse(): Promise<Ending> {
    let why: Why = "said"
    let text = this.#messages.map((message) => message.text).join("\n")
    for (;;) {
      const spoken = await this.#call(why, text)
      const over = this.#afterCall(spoken)
      if (over !== undefined) return over
      const again = this.#mustContinue(spoken)
      if (again !== undefined) {
        if ("ending" in again) return again.ending
        ;[why, text] = ["continue", ""]
        continue
      }
      const uses = toolUsesOf(spoken)
      if (uses.length === 0) {
        const feedback = await this.#stopHooks(lastText(spoken))
        if (feedback === undefined) return { kind: "done", text: lastText(spoken), terminal: "completed" }
        this.#speakAsUser(feedback, { isSynthetic: true })
        this.#notifyOfHook()
        ;[why, text] = ["said", feedback]
        continue
      }
      const stopped = await this.#runTools(uses)
      if (stopped !== undefined) return stopped
      ;[why, text] = ["results", this.#joinQueued()]
    }
  }

  /** One call of the model, tried again as often as a CLI would. */
  async #call(why: Why, text: string): Promise<Spoken> {
    const core = this.#core
    this.#calls++
    for (let attempt = 1; ; attempt++) {
      const startedAt = core.clock.now()
      this.#report.timing.requestMs ??= Math.max(0, startedAt - this.#report.startedAt)
      this.#report.timing.requestWallMs ??= startedAt
      const spoken = await this.#speak(attempt === 1 ? why : "retry", text)
      core.ledger.addApiTime(core.clock.now() - startedAt)
      if (spoken.firstTokenMs !== undefined) {
        this.#report.timing.firstTokenMs ??= (this.#report.timing.requestMs ?? 0) + spoken.firstTokenMs
      }
      const { failure } = spoken
      if (failure === undefined || failure.kind === "aborted") return spoken
      if (!isRetried(core, failure) || attempt > maxRetries(core)) return spoken
      await this.#waitForRetry(failure, attempt)
      if (this.#abort.signal.aborted) return { ...spoken, failure: { kind: "aborted" } }
    }
  }

  async #waitForRetry(failure: Failure, attempt: number): Promise<void> {
    const core = this.#core
    const delay = retryDelayMs(core, attempt)
    const { status, name } = retryName(core, failure)
    if (core.profile.quirks.announcesRetries) {
      const counts = { attempt, max_retries: maxRetries(core), retry_delay_ms: delay }
      core.wire.system("api_retry", { ...counts, error_status: status, error: name })
    }
    await core.clock.pause(delay, this.#abort.signal)
  }

  #speech: Speech | undefined

  async #speak(why: Why, text: string): Promise<Spoken> {
    const core = this.#core
    const { signal } = this.#abort
    const request = {
      why,
      text,
      model: core.state.model,
      sessionId: core.wire.sessionId,
      messages: core.history,
      tools: toolsOf(core),
    }
    const actions = core.model.call(request, signal)
    this.#speech = new Speech(core, {
      signal,
      parent: null,
      extra: {},
      isMain: true,
      onAside: (aside) => playAside(core, aside, signal),
      userUuids: why === "said" && core.profile.generation === 325 ? this.#uuids() : [],
    })
    return this.#speech.listen(actions)
  }

  #uuids(): string[] {
    return this.#messages.flatMap(({ uuid }) => uuid ?? [])
  }

  /** What ends the turn right after a call. */
  #afterCall(spoken: Spoken): Ending | undefined {
    const core = this.#core
    if (spoken.usage !== undefined) {
      this.#report.hasUsage = true
      const costUsd = core.model.costOfTurn()
      const price = costUsd === undefined ? {} : { costUsd: this.#calls === 1 ? costUsd : 0 }
      core.ledger.record(spoken.model, spoken.usage, { isMain: true, ...price })
    }
    if (spoken.failure?.kind === "aborted") return this.#interruptedStreaming()
    if (spoken.failure !== undefined) return this.#apiError(spoken.failure)
    this.#report.stopReason = spoken.stopReason
    const { maxBudgetUsd } = core.launch
    if (maxBudgetUsd === undefined || core.ledger.totalCostUsd < maxBudgetUsd) return undefined
    const errors = core.profile.quirks.maxTurnsErrors ? [`Reached maximum budget ($${maxBudgetUsd})`] : []
    // The call that went over is paid for, and not counted.
    core.ledger.forgetTurn()
    this.#report.hasUsage = false
    return { kind: "error", subtype: "error_max_budget_usd", errors, terminal: "budget_exhausted" }
  }

  #interruptedStreaming(): Ending {
    if (this.#saysInterruption) this.#speakAsUser(INTERRUPTED)
    this.#speech?.closeStream()
    return { kind: "interrupted", during: "streaming" }
  }

  #apiError(failure: Failure): Ending {
    const core = this.#core
    const problem = problemOf(core, failure)
    const http = failure.kind === "http" && failure.status > 0 ? failure : undefined
    this.#saySynthetic(problem.text, problem.tag, {
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

  /** What the CLI says in the model's place. */
  #saySynthetic(text: string, error: string | undefined, extra: Fields): void {
    const core = this.#core
    const message = core.profile.shapes.syntheticMessage(core.random.uuid(), text)
    core.wire.assistant(message, { error, request_id: core.model.requestId(), ...extra })
  }

  /** Ends after which the CLI asks the model, by itself, to go on. */
  #mustContinue(spoken: Spoken): { ending: Ending } | { again: true } | undefined {
    const { generation } = this.#core.profile
    if (spoken.stopReason === "pause_turn") return { again: true }
    if (spoken.stopReason === "refusal") return this.#refused(spoken)
    if (spoken.stopReason !== "max_tokens") return undefined
    if (generation === 325) this.#speakAsUser(MAX_TOKENS_NOTE, { isSynthetic: true })
    if (generation === 37) this.#saySynthetic(tooLong(), undefined, {})
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
      this.#speakAsUser(note, { isSynthetic: true, refused_message_id: spoken.messageId })
      return { again: true }
    }
    const policy = "https://www.anthropic.com/legal/aup"
    const rest = generation === 37 || because === undefined ? "Try rephrasing the request." : `${because}.`
    const text = `API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (${policy}). ${rest}`
    if (generation === 325) this.#tellRefusal(spoken)
    const extra = { is_api_error_message: true, refused_message_id: spoken.messageId }
    this.#saySynthetic(text, "invalid_request", extra)
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

  async #runTools(uses: ReturnType<typeof toolUsesOf>): Promise<Ending | undefined> {
    const core = this.#core
    const scope = { signal: this.#abort.signal, parent: null, extra: {}, denials: this.#report.denials }
    let [interrupted, hookStopped] = [false, false]
    for (const use of uses) {
      const end = await callTool(core, scope, use)
      this.#report.userMessages++
      if (use.name === "StructuredOutput" && end.ok) this.#report.structuredOutput = use.input
      if (end.stop === "interrupted") {
        interrupted = true
        this.#abort.abort()
      }
      if (end.stop === "hook") hookStopped = true
    }
    if (interrupted || this.#abort.signal.aborted) {
      if (this.#saysInterruption) this.#speakAsUser(INTERRUPTED_TOOL)
      return { kind: "interrupted", during: "tools" }
    }
    if (hookStopped) return { kind: "done", text: "", terminal: "hook_stopped" }
    if (this.#report.structuredOutput !== undefined && core.profile.generation === 325) {
      return { kind: "done", text: JSON.stringify(this.#report.structuredOutput), terminal: "completed" }
    }
    return this.#maxTurns()
  }

  #maxTurns(): Ending | undefined {
    const { maxTurns } = this.#core.launch
    if (maxTurns === undefined || this.#calls < maxTurns) return undefined
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

  /** Why a hook does not want the turn to end; undefined lets it. */
  async #stopHooks(lastMessage: string): Promise<string | undefined> {
    const core = this.#core
    const { generation } = core.profile
    const input = {
      stop_hook_active: this.#stopHookRuns++ > 0,
      ...(generation >= 120 ? { last_assistant_message: lastMessage } : {}),
      ...(generation === 325 ? { background_tasks: core.tasks.list(), session_crons: [] } : {}),
    }
    const outcomes = await core.hooks.run(core, { event: "Stop", input, signal: this.#abort.signal })
    for (const { output } of outcomes) tellSystemMessage(core, "Stop", output)
    const blocking = outcomes.find(({ output }) => output["decision"] === "block")
    if (blocking === undefined || this.#abort.signal.aborted) return undefined
    return `Stop hook feedback:\n${textOf(blocking.output, "reason") ?? ""}`
  }

  #stopHookRuns = 0

  #notifyOfHook(): void {
    const { wire, profile } = this.#core
    if (profile.generation === 37) return
    const isNewest = profile.generation === 325
    const text = isNewest ? "Stop hook error occurred · ctrl+o to see" : "Stop hook error occurred"
    const fields = { key: "stop-hook-error", text, priority: "immediate" }
    wire.system("notification", fields, isNewest ? "session_id" : "uuid")
  }

  #speakAsUser(text: string, extra: Fields = {}): void {
    const core = this.#core
    const message = { role: "user", content: [{ type: "text", text }] }
    const said = core.wire.user(message, extra)
    rememberResult(core, message, said)
    this.#report.userMessages++
  }
}

function lastText({ content }: Spoken): string {
  return (
    textOf(
      content.findLast((block) => isObject(block) && block["type"] === "text"),
      "text",
    ) ?? ""
  )
}

function tooLong(): string {
  return "API Error: Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable."
}
