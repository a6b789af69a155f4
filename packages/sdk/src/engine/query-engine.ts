import type { Envelope, InitializeReply } from "@signalbox/protocol"
import { abortedAtWork, queryClosed, SdkError } from "../errors.ts"
import type { AgentLink } from "../launch/agent-link.ts"
import { failureOf } from "../launch/failures.ts"
import type { AgentStart } from "../launch/open-agent.ts"
import { type OpenedSession, openSession } from "../launch/open-session.ts"
import type { McpServerConfig } from "../types/mcp.ts"
import type { ControlRequestBody, Options } from "../types/options.ts"
import { AgentRequests } from "./agent-requests.ts"
import { type Answer, ControlCalls } from "./control-calls.ts"
import { Gate } from "./gate.ts"
import { type HookCallbacks, hookCallbacks } from "./hook-callbacks.ts"
import { HostLines } from "./host-lines.ts"
import { Initialization } from "./initialization.ts"
import { InputLifetime } from "./input-lifetime.ts"
import { dialogResponder, elicitationResponder } from "./interaction.ts"
import { LineIntake } from "./line-intake.ts"
import { McpServers } from "./mcp-servers.ts"
import { MessageQueue } from "./message-queue.ts"
import { permissionResponder } from "./permissions.ts"
import { type Prompt, PromptFeed } from "./prompt-feed.ts"

export interface EngineOptions {
  /** With its prompt, ahead of it, or even before it is known which session it will be. */
  readonly start: AgentStart
}

type Phase =
  | { readonly name: "running" }
  /** We brought the end about, and the program has been told what it is to be told. */
  | { readonly name: "ending" }
  | { readonly name: "over" }

/** One agent and what goes to and fro. The program's side of it is `AgentQuery`. */
export class QueryEngine {
  readonly messages: MessageQueue
  /** Resolves when nothing of the agent is left. */
  readonly gone: Promise<void>
  readonly initialization: Initialization
  readonly #options: Options
  readonly #opening: Promise<OpenedSession>
  readonly #link: Promise<AgentLink>
  readonly #gate = new Gate()
  readonly #lines: HostLines
  readonly #calls: ControlCalls
  readonly #requests: AgentRequests
  readonly #hooks: HookCallbacks
  readonly #mcp: McpServers
  readonly #feed: PromptFeed
  readonly #input: InputLifetime
  readonly #ended = new AbortController()
  readonly #onAbort = () => this.#abort()
  #phase: Phase = { name: "running" }

  /** Starts the agent and tells it who we are. */
  constructor(options: Options, { start }: EngineOptions) {
    this.#options = options
    const send = (message: Envelope) => this.#lines.send(message)
    const onChange = () => {
      this.#gate.open()
      this.#input.consider()
    }
    this.messages = new MessageQueue(this.#gate.open)
    this.#calls = new ControlCalls({ send, onChange })
    this.#input = new InputLifetime({
      inFlight: () => ({ asked: this.#requests.inFlight, calls: this.#calls.inFlight }),
      end: () => this.#withLink((link) => link.endInput()),
    })
    this.#hooks = hookCallbacks(options.hooks)
    this.#mcp = new McpServers(options.mcpServers ?? {}, (server_name, message) => {
      this.#calls.exchange({ subtype: "mcp_message", server_name, message }).catch(() => undefined)
    })
    this.#requests = new AgentRequests({ responders: this.#responders(), send, onChange })
    this.#feed = new PromptFeed({
      send: (message) => this.#lines.offer(message),
      fields: options.verbatimPrompts === true ? { client_composed: true } : {},
    })
    const signal = options.abortController?.signal ?? new AbortController().signal
    signal.addEventListener("abort", this.#onAbort, { once: true })
    this.#opening = openSession(options, {
      start,
      signal,
      ended: this.#ended.signal,
      onMirrorError: (message) => this.messages.push(message, JSON.stringify(message).length),
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
      mcp: this.#mcp,
    })
    this.gone = this.#live()
    if (signal.aborted) this.#abort()
  }

  initialized(): Promise<InitializeReply> {
    return this.initialization.reply()
  }

  call(request: ControlRequestBody): Promise<unknown> {
    return this.#calls.call(request)
  }

  /** As `call`, with the whole answer, be it an error. */
  exchange(request: ControlRequestBody): Promise<Answer> {
    return this.#calls.awaited(this.#calls.exchange(request))
  }

  get mcpServerNames(): string[] {
    return this.#mcp.names
  }

  async setMcpServers(servers: Record<string, McpServerConfig>): Promise<unknown> {
    return this.call({ subtype: "mcp_set_servers", servers: await this.#mcp.replace(servers) })
  }

  /** The query's own prompt: if it fails, so does the query. It waits for `before`. */
  prompt(prompt: Prompt, before?: Promise<unknown>): void {
    const ready = async () => {
      await before
      await this.initialization.requireBlockingHooks()
    }
    this.#write(prompt, ready).catch((error: unknown) => {
      const cause = error instanceof Error ? error.message : String(error)
      const failure = new SdkError("query/prompt-failed", `the prompt could not be sent: ${cause}`, { cause: error })
      this.#fail(error instanceof SdkError ? error : failure)
    })
  }

  /** More of it, from wherever. */
  streamInput(prompt: Prompt): Promise<void> {
    return this.#phase.name === "running" ? this.#write(prompt) : Promise.reject(queryClosed())
  }

  /** Keeps the input open for a prompt that is still to come; returns what lets it go. */
  expectPrompt(): () => void {
    this.#input.step({ kind: "prompt-opened" })
    return () => this.#input.step({ kind: "prompt-ended" })
  }

  /** Ends the agent; the program gets no more messages. */
  close(): void {
    this.#end(queryClosed(), (link) => link.close("closed"))
    this.messages.drop()
  }

  async #write(prompt: Prompt, before?: () => Promise<void>): Promise<void> {
    const release = this.expectPrompt()
    try {
      await before?.()
      await this.#feed.write(prompt)
    } finally {
      release()
    }
  }

  #noteSent(message: Envelope): void {
    if (message.type === "user") this.#input.step({ kind: "message-sent" })
  }

  #responders() {
    return {
      can_use_tool: permissionResponder(this.#options),
      hook_callback: this.#hooks.respond,
      mcp_message: this.#mcp.respond,
      elicitation: elicitationResponder(this.#options),
      request_user_dialog: dialogResponder(this.#options),
    }
  }

  async #live(): Promise<void> {
    let cleanUp: OpenedSession["cleanUp"] | undefined
    try {
      const session = await this.#opening
      cleanUp = session.cleanUp
      const intake = await this.#pump(session)
      const closed = await session.link.closed
      const { hasEndedAfterResult } = this.#input
      this.#finish(failureOf(closed, { lastError: intake.lastError, hasEndedAfterResult }))
    } catch (error) {
      this.#finish(error instanceof Error ? error : new Error(String(error)))
    }
    await this.#mcp.close()
    await cleanUp?.()
  }

  /** The agent is not read on while the program is behind, unless a call of ours waits: its answer is further on. */
  async #pump({ link, mirror }: OpenedSession): Promise<LineIntake> {
    const parts = { messages: this.messages, calls: this.#calls, requests: this.#requests, input: this.#input }
    const intake = new LineIntake({ ...parts, mirror })
    for await (const batch of link.batches) {
      for (const line of batch) {
        const stored = intake.take(line)
        if (stored !== undefined) await stored
      }
      // The batch is this reader's alone, though its type does not say so. It is emptied because lines that are still
      // held while the next ones are waited for outlive a garbage collection, which costs as much as decoding them.
      Reflect.set(batch, "length", 0)
      while (this.messages.isFull && this.#calls.inFlight === 0) await this.#gate.wait()
    }
    await mirror?.flush()
    return intake
  }

  #abort(): void {
    this.#end(queryClosed(), (link) => link.terminate("aborted"))
    this.messages.fail(abortedAtWork(this.#options.abortController?.signal.reason))
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
    const told = this.#phase.name === "running" ? failure : undefined
    this.#phase = { name: "over" }
    this.#release(told ?? queryClosed())
    if (told === undefined) this.messages.end()
    else this.messages.fail(told)
  }

  #release(error: Error): void {
    this.#options.abortController?.signal.removeEventListener("abort", this.#onAbort)
    this.#ended.abort()
    this.#input.stop()
    this.#calls.close(error)
    this.#requests.close()
    this.#feed.stop()
    this.#lines.release()
    this.#gate.open()
  }

  #withLink(use: (link: AgentLink) => unknown): void {
    this.#link.then(use).catch(() => undefined)
  }
}
