import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Transport } from "@signalbox/transport"
import { deferred } from "@signalbox/transport/pacing"
import type { AgentClock } from "../clock.ts"
import type { Launch, SourcedSettings } from "../launch/launch.ts"
import { McpServers } from "../mcp/servers.ts"
import type { Model } from "../model/model.ts"
import { initialPermissions } from "../permissions/rules.ts"
import type { Fields, WireProfile } from "../profiles/profile.ts"
import { modelUsage } from "../profiles/shared.ts"
import type { Randomness } from "../randomness.ts"
import type { OpenedSession } from "../sessions/transcript.ts"
import { Tasks } from "../tools/tasks.ts"
import { Toolbox, type ToolMode } from "../tools/toolbox.ts"
import { HostRequests } from "../wire/host-requests.ts"
import {
  type Batch,
  type HostLine,
  MessageQueue,
  type QueuedMessage,
  readHostLine,
  readUserMessage,
} from "../wire/message-queue.ts"
import { Outbox, Wire } from "../wire/wire.ts"
import { answerControl, loadControl, type SessionControl } from "./controls.ts"
import { type AgentCore, resolveModel } from "./core.ts"
import { Hooks, runStartHooks } from "./hooks.ts"
import { Ledger } from "./ledger.ts"
import type { Interruption } from "./turn-course.ts"

export interface AgentParts {
  readonly transport: Transport
  readonly profile: WireProfile
  readonly launch: Launch
  readonly session: OpenedSession
  readonly settings: readonly SourcedSettings[]
  readonly model: Model
  readonly clock: AgentClock
  readonly random: Randomness
  readonly tools: ToolMode
  /** Takes what a CLI would write on stderr. */
  readonly onStderr: (text: string) => void
}

/** How the process would end. */
export interface AgentExit {
  readonly code: number
}

const LAST_WORDS_MS = 1000

/** All that 2.1.325 lets its host change. */
const TAKEN_VARIABLES: ReadonlySet<string> = new Set(["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_SESSION_ACCESS_TOKEN"])

/** The life of an agent: it reads what its host says, and runs one turn after the other. */
export class Agent {
  readonly core: AgentCore
  readonly #parts: AgentParts
  readonly #outbox: Outbox
  readonly #over = new AbortController()
  readonly #exiting = deferred<AgentExit>()
  readonly exited: Promise<AgentExit> = this.#exiting.promise
  #turn: Interruption | undefined
  #starting: Promise<void>
  #hasInput = false
  #inputEnded = false
  #isEnding = false
  #isOver = false

  constructor(parts: AgentParts) {
    this.#parts = parts
    this.#outbox = new Outbox(parts.transport)
    this.core = buildCore(parts, this.#outbox, (message) => this.#enqueue(message))
    if (parts.launch.mirrorsSession && parts.profile.quirks.mirrorsSession) {
      const mirror = (filePath: string, entry: Fields) =>
        this.core.wire.emit({ type: "transcript_mirror", filePath, entries: [entry] })
      parts.session.transcript.onEntry = mirror
    }
    this.#continueSession(parts.session)
    const source = parts.session.source === "startup" ? "startup" : "resume"
    this.#starting = runStartHooks(this.core, source, this.#over.signal)
    this.core.mcp.addOwn(parts.launch.mcpServers, true)
    void this.#read()
  }

  /** The newest generation goes on with a session's name and bill. */
  #continueSession({ title, spending }: OpenedSession): void {
    const { profile, wire, ledger, state } = this.core
    if (!profile.quirks.keepsTitleAndBill) return
    if (spending !== undefined) ledger.restore(spending)
    if (title === undefined) return
    state.title = title
    wire.system("session_title_changed", { title }, "uuid")
  }

  /** As a signal would: whatever is under way is dropped. */
  terminate(code: number): void {
    // A signal leaves the oldest generation no last words.
    if (!this.core.profile.quirks.speaksWhenTerminated) this.#outbox.mute()
    this.#outbox.giveUpAfter(LAST_WORDS_MS)
    void this.#exit(code)
  }

  async #read(): Promise<void> {
    // Older generations have their servers before they hear their host; the newest waits for them with its first turn.
    const connecting = this.core.mcp.connect()
    if (this.core.profile.quirks.waitsForServers && this.#parts.launch.mcpServers.length > 0) await connecting
    for await (const line of this.#parts.transport.lines) {
      const read = readHostLine(line)
      const loading = read.kind === "message" ? loadControl(textOf(read.message["request"], "subtype")) : undefined
      if (loading !== undefined) await loading
      if (this.#isOver) break
      this.#take(line, read)
    }
    this.#inputEnded = true
    this.core.host.close()
    await this.#maybeFinish()
  }

  #take(line: string, read: HostLine): void {
    const { quirks } = this.core.profile
    if (read.kind === "blank") {
      if (quirks.diesOfUnknownInput) this.#die(`Error parsing streaming input line: ${line}: SyntaxError`)
      return
    }
    if (read.kind === "malformed") return this.#die(`Error parsing streaming input line: ${read.error}`)
    const { message } = read
    switch (message["type"]) {
      case "user":
        return this.#takeUser(message)
      case "control_request":
        return this.#takeRequest(message)
      case "control_response":
        return this.#takeResponse(message)
      case "keep_alive":
        return
      case "update_environment_variables":
        return this.#takeVariables(message)
      default:
        if (quirks.diesOfUnknownInput) {
          this.#die(`Error: Expected message type 'user' or 'control', got '${String(message["type"])}'`)
        }
    }
  }

  #takeUser(message: Readonly<Fields>): void {
    this.#hasInput = true
    const { profile, wire, queue } = this.core
    const queued = readUserMessage(message, profile.quirks.knowsPriority)
    if (!queue.add(queued)) {
      // A copy is not run again; those who want echoes get one for each copy all the same.
      if (this.core.launch.replayUserMessages) wire.replay(queued.sent, queued.uuid)
      return
    }
    wire.lifecycle(queued.uuid, "queued")
    if (queued.priority === "now") this.#interrupt(true)
    this.#startNext()
  }

  #enqueue(message: QueuedMessage): void {
    this.core.queue.add(message)
    this.#startNext()
  }

  #takeRequest(message: Readonly<Fields>): void {
    const request = fieldOf(message, "request") ?? {}
    const isInitialize = request["subtype"] === "initialize"
    const session: SessionControl = {
      interrupt: () => this.#interrupt(false),
      isFirstInput: !this.#hasInput,
      end: () => void this.#exit(0),
    }
    if (isInitialize) this.#hasInput = true
    const requestId = textOf(message, "request_id") ?? ""
    const answered = answerControl({ core: this.core, requestId, request, session })
    const acknowledged = answered.then(() => this.core.wire.lifecycle(textOf(message, "uuid"), "completed"))
    // A turn begins only when the host knows whom it talks to.
    if (isInitialize) this.#starting = Promise.all([this.#starting, acknowledged]).then(() => undefined)
  }

  #takeResponse(message: Readonly<Fields>): void {
    const { quirks } = this.core.profile
    const response = fieldOf(message, "response")
    if (response === undefined) {
      if (quirks.responseWithoutBody === "exit") this.#die("TypeError: Cannot read properties of undefined")
      return
    }
    const isAwaited = this.core.host.answer(response)
    if (isAwaited && this.core.launch.replayUserMessages) this.core.wire.emit({ ...message })
  }

  /** Older CLIs take every variable and say nothing. Ours reach no command: its shell has the environment it began with. */
  #takeVariables(message: Readonly<Fields>): void {
    const requestId = textOf(message, "request_id")
    if (!this.core.profile.quirks.answersVariables || requestId === undefined) return
    const applied = Object.keys(fieldOf(message, "variables") ?? {}).filter((name) => TAKEN_VARIABLES.has(name))
    this.core.wire.success(requestId, { applied })
  }

  #startNext(): void {
    if (this.#turn !== undefined || this.#isOver || this.#isEnding) return
    const batch = this.core.queue.take(this.core.profile.quirks.mergesQueue)
    if (batch === undefined) return void this.#maybeFinish()
    this.#turn = { abort: new AbortController(), isQuiet: false }
    void this.#runTurn(batch, this.#turn)
  }

  /** Breaks into the turn under way. `isQuiet`: another message takes its place, so nobody is told of an interruption. */
  #interrupt(isQuiet: boolean): void {
    if (this.#turn === undefined) return
    this.#turn.isQuiet ||= isQuiet
    this.#turn.abort.abort()
  }

  async #runTurn(batch: Batch, interruption: Interruption): Promise<void> {
    try {
      await this.#starting
      await playTurn(this.core, batch, interruption)
    } catch (error) {
      this.#die(error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
    this.#turn = undefined
    this.#startNext()
  }

  /** With its input ended, an agent finishes what it has begun and goes. */
  async #maybeFinish(): Promise<void> {
    if (!this.#inputEnded || this.#isEnding || this.#turn !== undefined || this.core.queue.length > 0) return
    if (this.core.profile.quirks.waitsForTasks && !this.core.tasks.isIdle) {
      await this.core.tasks.idle()
      return this.#startNext()
    }
    await this.#starting
    await this.#exit(this.core.state.lastFailed ? 1 : 0)
  }

  #writeBill(): void {
    const { ledger, profile, transcript, wire } = this.core
    if (!profile.quirks.keepsTitleAndBill || ledger.spending.size === 0) return
    const usage = modelUsage(ledger.spending, profile.shapes.contextWindow)
    const bill = { sessionId: wire.sessionId, totalCostUSD: ledger.totalCostUsd, modelUsage: usage }
    transcript.write({ type: "cost-state", ...bill })
  }

  #die(message: string): void {
    this.#parts.onStderr(`${message}\n`)
    void this.#exit(1)
  }

  async #exit(code: number): Promise<void> {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#writeBill()
    await this.#outbox.drained()
    this.#isOver = true
    this.#over.abort()
    this.#interrupt(true)
    this.core.tasks.stopAll()
    this.core.host.close()
    await this.core.mcp.close()
    this.#exiting.resolve({ code })
  }
}

function buildCore(parts: AgentParts, outbox: Outbox, onNotice: (message: QueuedMessage) => void): AgentCore {
  const { profile, launch, session, clock, random } = parts
  const wire = new Wire({ outbox, profile, clock, random, sessionId: session.sessionId, env: launch.env })
  const host = new HostRequests({ clock, random, wire })
  const basics = { profile, launch, clock, random, wire }
  return {
    ...basics,
    settings: parts.settings,
    host,
    hooks: new Hooks(),
    mcp: new McpServers({ profile, launch, host }),
    queue: new MessageQueue(),
    ledger: new Ledger(),
    model: parts.model,
    toolbox: new Toolbox(parts.tools),
    tasks: new Tasks(basics, onNotice),
    transcript: session.transcript,
    history: session.history,
    state: {
      permissions: initialPermissions({
        mode: launch.permissionMode,
        allowed: launch.allowedTools,
        disallowed: launch.disallowedTools.filter((rule) => rule.includes("(")),
        directories: launch.addDirs,
        settings: parts.settings,
        // The newest takes no permission from a project that nobody has said to trust.
        trustsProject: profile.quirks.trustsProject,
      }),
      model: resolveModel(profile, launch.model),
      results: 0,
      lastFailed: false,
      subagents: 0,
      safetyStops: 0,
      subagentsInFront: 0,
      promptId: random.uuid(),
      agents: {},
      jsonSchema: launch.jsonSchema,
    },
  }
}

/** Plays a turn. The code for it, the better part of an agent, is loaded with the first: a host gets answers without. */
async function playTurn(core: AgentCore, messages: Batch, interruption: Interruption): Promise<void> {
  const [{ TurnCourse }, { runSubagent }] = await Promise.all([
    import("./turn-course.ts"),
    import("./subagent.ts"),
    core.model.load?.(),
  ])
  await core.toolbox.load({ run: (run) => runSubagent(core, run) })
  await new TurnCourse(core, messages, interruption).run()
}
