import type { Envelope, InitializeReply } from "@signalbox/protocol"
import { Waker } from "@signalbox/transport/pacing"
import { abortedAtWork, queryClosed, SdkError } from "../base/errors.ts"
import type { Answer } from "../base/wire.ts"
import { CursorReader } from "../hub/hub-lines.ts"
import { failureOf } from "../launch/failures.ts"
import type { AgentLink, OpenAgentOptions } from "../launch/open-agent.ts"
import type { McpServerConfig } from "../types/mcp.ts"
import type { ControlRequestBody, Options } from "../types/options.ts"
import { AgentRequests, answer, type Responder, SILENCE } from "./agent-requests.ts"
import { ControlCalls } from "./control-calls.ts"
import { HostLines, Initialization } from "./initialization.ts"
import { InputLifetime } from "./input-lifetime.ts"
import { LineIntake } from "./line-intake.ts"
import { McpServers } from "./mcp-servers.ts"
import { MessageQueue } from "./message-queue.ts"
import { type OpenedSession, openSession } from "./open-session.ts"
import { EarlyCalls, isDecisive, Silence } from "./patience.ts"
import { type Prompt, PromptFeed } from "./prompt-feed.ts"
import { ReadAhead } from "./read-ahead.ts"
import {
  asking,
  dialogOf,
  elicitationOf,
  type HookCallbacks,
  hookCallbacks,
  permissionResponder,
} from "./responders.ts"

export interface EngineOptions extends OpenAgentOptions {
  /** The agent, if it is being started already. */
  readonly agent: Promise<AgentLink> | undefined
}

type Phase =
  | { readonly name: "running" }
  /** We brought the end about, and the program has been told what it is to be told. */
  | { readonly name: "ending" }
  | { readonly name: "over" }

/** One agent and what goes to and fro. The program's side of it is `AgentQuery`. */
export class QueryEngine {
  readonly messages: MessageQueue
  /** With a hub: the messages as the program reads them, and how far it has come. */
  readonly cursorReader: CursorReader | undefined
  /** Resolves when nothing of the agent is left. */
  readonly gone: Promise<void>
  readonly initialization: Initialization
  readonly mcp: McpServers
  readonly #options: Options
  readonly #opening: Promise<OpenedSession>
  readonly #link: Promise<AgentLink>
  readonly #change = new Waker()
  readonly #lines: HostLines
  readonly #calls: ControlCalls
  readonly #requests: AgentRequests
  readonly #hooks: HookCallbacks
  readonly #feed: PromptFeed
  readonly #input: InputLifetime
  readonly #silence = new Silence()
  readonly #early = new EarlyCalls(this.#silence)
  readonly #ended = new AbortController()
  readonly #onAbort = () => this.#abort()
  /** A hub's log is still being told: what is heard is history, and says nothing about the end of the run. */
  #isCatchingUp: boolean
  #phase: Phase = { name: "running" }
  /** The prompt has failed, and the agent is still heard to what was sent before. */
  #failedPrompt: { readonly error: Error; readonly callOff: () => void } | undefined

  /** Starts the agent and tells it who we are. */
  constructor(options: Options, { start, signal, agent }: EngineOptions) {
    this.#options = options
    const send = (message: Envelope) => this.#lines.send(message)
    const onChange = () => {
      this.#change.wake()
      this.#input.consider()
    }
    this.messages = new MessageQueue(() => this.#change.wake())
    this.#isCatchingUp = options.hub !== undefined
    this.cursorReader = options.hub === undefined ? undefined : new CursorReader(this.messages)
    this.#calls = new ControlCalls({
      // A hub that is away is waited for: how long is said by its own option.
      send: (message, onWriting) => this.#lines.send(message, options.hub === undefined ? onWriting : undefined),
      onChange,
      controlTimeoutMs: options.controlTimeoutMs,
    })
    this.#input = new InputLifetime({
      inFlight: () => ({
        asked: this.#requests.inFlight + Number(this.#isCatchingUp),
        calls: this.#calls.inFlight,
        mayBeAsked: this.#mayBeAsked(),
      }),
      end: () => this.#withLink((link) => link.endInput()),
    })
    this.#hooks = hookCallbacks(options.hooks)
    this.mcp = new McpServers(options.mcpServers ?? {}, (server_name, message) => {
      this.#calls.exchange({ subtype: "mcp_message", server_name, message }).catch(() => undefined)
    })
    this.#requests = new AgentRequests({ responders: this.#responders(), send, onChange })
    this.#feed = new PromptFeed({
      send: (message) => this.#lines.offer(message),
      fields: options.verbatimPrompts === true ? { client_composed: true } : {},
    })
    signal.addEventListener("abort", this.#onAbort, { once: true })
    this.#opening = openSession(options, {
      start,
      signal,
      agent,
      ended: this.#ended.signal,
      onMirrorError: (message) => this.messages.push([message], JSON.stringify(message).length),
      onAttached: (cursor) => {
        if (this.cursorReader !== undefined) this.cursorReader.cursor = cursor
      },
      onCaughtUp: () => {
        this.#isCatchingUp = false
        this.#input.step({ kind: "caught-up" })
      },
    })
    this.#link = this.#opening.then(({ link }) => link)
    // Why there is no agent is told by `#live`, whether or not anybody has something to say to it.
    this.#link.catch(() => undefined)
    this.#lines = new HostLines({ link: this.#link, onSent: (message) => this.#noteSent(message) })
    this.initialization = new Initialization({
      options,
      calls: this.#calls,
      requests: this.#requests,
      hooks: this.#hooks,
      mcp: this.mcp,
    })
    this.gone = this.#live()
    if (signal.aborted) this.#abort()
  }

  initialized(): Promise<InitializeReply> {
    return this.#early.hold(this.initialization.reply())
  }

  /** The error that ended the query concerns the calls it cut off; for those that come later it is just over. */
  async call(request: ControlRequestBody): Promise<unknown> {
    if (this.#phase.name !== "running") throw queryClosed()
    return this.callFromTheStart(request)
  }

  /** As `call`, for what was asked before there was an engine: whatever has happened since has cut it off. */
  callFromTheStart(request: ControlRequestBody): Promise<unknown> {
    const answer = this.#calls.call(request)
    return isDecisive(request.subtype) ? this.#early.hold(answer) : answer
  }

  /** As `call`, with the whole answer, be it an error. */
  exchange(request: ControlRequestBody): Promise<Answer> {
    return this.#calls.awaited(this.#calls.exchange(request))
  }

  async setMcpServers(servers: Record<string, McpServerConfig>): Promise<unknown> {
    return this.call({ subtype: "mcp_set_servers", servers: await this.mcp.replace(servers) })
  }

  /** The query's own prompt: if it fails, so does the query. It waits for `before`. */
  prompt(prompt: Prompt, before?: Promise<unknown>): void {
    const ready = async () => {
      await before
      await this.initialization.requireBlockingHooks()
      await this.#early.answered()
    }
    this.#write(prompt, ready).catch((error: unknown) => {
      const cause = error instanceof Error ? error.message : String(error)
      const failure = new SdkError("query/prompt-failed", `the prompt could not be sent: ${cause}`, { cause: error })
      this.#failPrompt(error instanceof SdkError ? error : failure)
    })
  }

  /** More of it, from wherever. */
  streamInput(prompt: Prompt): Promise<void> {
    return this.#phase.name === "running" ? this.#write(prompt) : Promise.reject(queryClosed())
  }

  /** Keeps the input open for a prompt that is still to come; returns what lets it go. */
  expectPrompt({ isText = false } = {}): () => void {
    this.#input.step({ kind: "prompt-opened", isText })
    return () => this.#input.step({ kind: "prompt-ended" })
  }

  /** Ends the agent; the program gets what had come before, and no more. */
  close(): void {
    this.#end(queryClosed(), (link) => link.close("closed"))
    this.messages.endHere()
  }

  /** As `close`, when nobody will read any more. */
  drop(): void {
    this.close()
    this.messages.drop()
  }

  async #write(prompt: Prompt, before?: () => Promise<void>): Promise<void> {
    const release = this.expectPrompt({ isText: typeof prompt === "string" })
    try {
      await before?.()
      await this.#feed.write(prompt)
    } finally {
      release()
    }
  }

  /** On a hub the end of the input means leaving the agent, which is decided by its turns. */
  #mayBeAsked(): boolean {
    const { hub, canUseTool, onElicitation, onUserDialog } = this.#options
    const hasCallback = [hub, canUseTool, onElicitation, onUserDialog].some((given) => given !== undefined)
    return hasCallback || Object.keys(this.#hooks.registrations ?? {}).length > 0 || this.mcp.names.length > 0
  }

  #noteSent(message: Envelope): void {
    if (message.type === "user") this.#input.step({ kind: "line", from: "host", message })
  }

  /** Callbacks are called in the order of the questions, so that none may have to be loaded first. */
  #responders(): Record<string, Responder> {
    const options = this.#options
    return {
      can_use_tool: permissionResponder(options),
      hook_callback: this.#hooks.respond,
      mcp_message: this.mcp.respond,
      // Declined when nobody is there to ask; a dialog that nobody can show is left to another host.
      elicitation: asking(options.onElicitation, elicitationOf, answer({ action: "decline" })),
      request_user_dialog: asking(options.onUserDialog, dialogOf, SILENCE),
    }
  }

  async #live(): Promise<void> {
    let cleanUp: OpenedSession["cleanUp"] | undefined
    try {
      const session = await this.#opening
      cleanUp = session.cleanUp
      const intake = await this.#pump(session)
      const closed = await session.link.closed
      this.#finish(failureOf(closed, { lastError: intake.lastError }))
    } catch (error) {
      this.#finish(error instanceof Error ? error : new Error(String(error)))
    }
    await this.mcp.close()
    await cleanUp?.()
  }

  /**
   * The agent is not read on while the program is behind, unless a call of ours waits: its answer is further on. Nor when
   * we have ended it: what it still says is thrown away.
   */
  async #pump({ link, mirror }: OpenedSession): Promise<LineIntake> {
    const parts = { messages: this.messages, calls: this.#calls, requests: this.#requests, input: this.#input }
    const intake = new LineIntake({ ...parts, mirror })
    const mustReadOn = () => this.#calls.inFlight > 0 || this.#phase.name !== "running"
    const ahead = new ReadAhead({ messages: this.messages, change: this.#change, mustReadOn })
    for await (const batch of link.batches) {
      this.#silence.heard()
      this.#calls.heard()
      const stored = intake.takeAll(batch)
      if (stored !== undefined) await stored
      if (ahead.mustWait) await ahead.room()
    }
    await mirror?.flush()
    return intake
  }

  #abort(): void {
    const error = abortedAtWork(this.#options.abortController?.signal.reason)
    this.#end(error, (link) => link.terminate("aborted"))
    this.messages.fail(error)
  }

  /** The messages before it were sent: what the agent says to them is delivered, within a limit, and then the failure. */
  #failPrompt(error: Error): void {
    if (!this.#input.hasSent) return this.#fail(error)
    if (this.#phase.name !== "running") return
    this.#failedPrompt ??= { error, callOff: this.#silence.watch(() => this.#fail(error)) }
  }

  #fail(error: Error): void {
    this.#end(error, (link) => link.close("failed"))
    this.messages.fail(error)
  }

  /** Our end of it. What follows from the agent is read and thrown away. */
  #end(error: Error, how: (link: AgentLink) => unknown): void {
    if (this.#phase.name !== "running") return
    this.#phase = { name: "ending" }
    this.#release(error)
    this.#withLink(how)
  }

  #finish(failure: Error | undefined): void {
    const told = this.#phase.name === "running" ? (this.#failedPrompt?.error ?? failure) : undefined
    this.#phase = { name: "over" }
    this.#release(told ?? queryClosed())
    if (told === undefined) this.messages.end()
    else this.messages.fail(told)
  }

  #release(error: Error): void {
    this.#options.abortController?.signal.removeEventListener("abort", this.#onAbort)
    this.#failedPrompt?.callOff()
    this.#ended.abort()
    this.#input.stop()
    this.#calls.close(error)
    this.#requests.close()
    this.#feed.stop()
    this.#lines.release()
    this.#change.wake()
  }

  #withLink(use: (link: AgentLink) => unknown): void {
    this.#link.then(use).catch(() => undefined)
  }
}
