import { type Envelope, encode, fieldOf, type InitializeReply, textOf } from "@signalbox/protocol"
import { type Closed, lineBatches, TransportError } from "@signalbox/transport/process"
import { abortedAtWork, queryClosed, SdkError } from "../errors.ts"
import type { AgentLink } from "../launch/agent-link.ts"
import { checkOptions, warnOfShadowedTools } from "../launch/check-options.ts"
import { endFailure } from "../launch/failures.ts"
import { initializeRequest } from "../launch/initialize.ts"
import { openAgent } from "../launch/open-agent.ts"
import type { McpServerConfig } from "../types/mcp.ts"
import type { SDKMessage } from "../types/messages.ts"
import type { ControlRequestBody, Options } from "../types/options.ts"
import { AgentRequests } from "./agent-requests.ts"
import { type Answer, ControlCalls, payloadOf } from "./control-calls.ts"
import { Gate } from "./gate.ts"
import { type HookCallbacks, hookCallbacks } from "./hook-callbacks.ts"
import { InputLifetime } from "./input-lifetime.ts"
import { dialogResponder, elicitationResponder } from "./interaction.ts"
import { McpServers } from "./mcp-servers.ts"
import { MessageQueue } from "./message-queue.ts"
import { permissionResponder } from "./permissions.ts"
import { type Prompt, PromptFeed } from "./prompt-feed.ts"

export interface EngineOptions {
  /** Started ahead of its prompt. */
  readonly isWarm: boolean
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
  readonly #options: Options
  readonly #opening: Promise<AgentLink>
  readonly #gate = new Gate()
  readonly #calls: ControlCalls
  readonly #requests: AgentRequests
  readonly #hooks: HookCallbacks
  readonly #mcp: McpServers
  readonly #feed: PromptFeed
  readonly #input: InputLifetime
  readonly #onAbort = () => this.#abort()
  #initialized: Promise<Answer>
  #phase: Phase = { name: "running" }
  #lastError: string | undefined

  /** Starts the agent and tells it who we are. Throws for options that can never work. */
  constructor(options: Options, { isWarm }: EngineOptions) {
    checkOptions(options)
    warnOfShadowedTools(options)
    this.#options = options
    const send = (message: Envelope) => this.#send(message)
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
      send: (message) => this.#sendPrompt(message),
      fields: options.verbatimPrompts === true ? { client_composed: true } : {},
    })
    // Last of all that may throw: from here on there is a process, and it has an owner.
    const signal = options.abortController?.signal ?? new AbortController().signal
    this.#opening = openAgent(options, { isWarm, signal })
    signal.addEventListener("abort", this.#onAbort, { once: true })
    this.#initialized = this.#initialize()
    this.gone = this.#live()
  }

  /** The reply to the first request, or to the last that was sent again. */
  initialized(): Promise<InitializeReply> {
    return this.#calls.awaited(this.#initialized).then(initializeReplyOf)
  }

  reinitialize(): void {
    this.#initialized = this.#initialize()
  }

  call(request: ControlRequestBody): Promise<unknown> {
    return this.#calls.call(request)
  }

  async setMcpServers(servers: Record<string, McpServerConfig>): Promise<unknown> {
    return this.call({ subtype: "mcp_set_servers", servers: await this.#mcp.replace(servers) })
  }

  /** The query's own prompt: if it fails, so does the query. */
  prompt(prompt: Prompt): void {
    this.#write(prompt, async () => {
      if (this.#hooks.mustBlock) await this.#requireBlockingHooks()
    }).catch((error: unknown) => {
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

  #initialize(): Promise<Answer> {
    const initialized = this.#exchangeInitialize()
    // Whoever asks for it is told; a program that does not ask must not be ended by it.
    initialized.catch(() => undefined)
    return initialized
  }

  async #exchangeInitialize(): Promise<Answer> {
    const request = initializeRequest(this.#options, {
      hooks: this.#hooks.registrations,
      sdkMcpServers: this.#mcp.names,
    })
    return this.#calls.exchange(request, (answer) => this.#handOver(answer))
  }

  /** What an agent asked before we were there, and still wants to know. */
  #handOver(answer: Answer): void {
    for (const list of [
      "pending_permission_requests",
      "pending_user_dialog_requests",
      "pending_elicitation_requests",
    ]) {
      const pending = answer[list]
      if (Array.isArray(pending)) for (const request of pending) this.#requests.take(request)
    }
  }

  async #requireBlockingHooks(): Promise<void> {
    const payload = fieldOf(await this.#initialized, "response")
    if (payload?.["hook_on_failure_supported"] === true && payload["hooks_applied"] !== false) return
    throw new SdkError(
      "sdk/unsupported",
      'The process answering initialize does not honor onFailure on hook matchers, so a hook that fails would not block. Update Claude Code if it is old, or remove onFailure: "block" from your hooks.',
    )
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

  async #send(message: Envelope): Promise<void> {
    const line = encode(message)
    const link = await this.#opening
    const sent = link.send(line)
    if (message.type === "user") this.#input.step({ kind: "message-sent" })
    await sent
  }

  async #sendPrompt(message: Envelope): Promise<void> {
    try {
      await this.#send(message)
    } catch (error) {
      // An agent that takes no more has ended or is about to: that is what the program is told, by its end.
      if (!(error instanceof TransportError)) throw error
    }
  }

  async #live(): Promise<void> {
    try {
      const link = await this.#opening
      await this.#pump(link)
      this.#finish(await link.closed)
    } catch (error) {
      this.#finish({ by: "peer", reason: "not started" }, error instanceof Error ? error : new Error(String(error)))
    }
    await this.#mcp.close()
  }

  /** The agent is not read on while the program is behind, unless a call of ours waits: its answer is further on. */
  async #pump(link: AgentLink): Promise<void> {
    for await (const batch of lineBatches(link.lines)) {
      for (const line of batch) this.#take(line)
      // The batch is this reader's alone, though its type does not say so. It is emptied because lines that are still
      // held while the next ones are waited for outlive a garbage collection, which costs as much as decoding them.
      Reflect.set(batch, "length", 0)
      while (this.messages.isFull && this.#calls.inFlight === 0) await this.#gate.wait()
    }
  }

  #take(line: string): void {
    let message: Readonly<Record<string, unknown>> | null
    try {
      message = JSON.parse(line)
    } catch {
      return // Somebody's print statement on the agent's standard output.
    }
    if (message === null) return
    switch (message["type"]) {
      case "stream_event":
        break
      case "control_request":
        return this.#requests.take(message)
      case "control_response":
        return this.#calls.take(message)
      case "control_cancel_request":
        return this.#requests.cancel(message)
      case "keep_alive":
      case "transcript_mirror":
        return
      case "system":
        this.#input.step({ kind: "system", message })
        if (message["subtype"] === "session_state_changed" && message["sdk_host_only"] === true) return
        break
      case "result":
        this.#lastError = errorTextOf(message)
        this.#input.step({ kind: "result" })
    }
    this.messages.push(messageOf(message), line.length)
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

  #finish(closed: Closed, startError?: Error): void {
    const failure = this.#phase.name === "running" ? (startError ?? this.#failureOf(closed)) : undefined
    this.#phase = { name: "over" }
    this.#release(failure ?? queryClosed())
    if (failure === undefined) this.messages.end()
    else this.messages.fail(failure)
  }

  #release(error: Error): void {
    this.#options.abortController?.signal.removeEventListener("abort", this.#onAbort)
    this.#input.stop()
    this.#calls.close(error)
    this.#requests.close()
    this.#feed.stop()
    this.#gate.open()
  }

  #failureOf(closed: Closed): Error | undefined {
    const failure = endFailure(closed)
    if (failure === undefined) return undefined
    if (this.#lastError !== undefined && this.#lastError !== "") {
      const message = `Claude Code returned an error result: ${this.#lastError}`
      return new SdkError("result/error", message, { cause: failure, details: failure.details })
    }
    // It had answered, and ended after we had said that no more comes: how is its own affair.
    return failure.code === "process/exit" && this.#input.hasEndedAfterResult ? undefined : failure
  }

  #withLink(use: (link: AgentLink) => unknown): void {
    this.#opening.then(use).catch(() => undefined)
  }
}

// A message of a type we do not know is handed on like any other, and no type could name it.
function messageOf(message: Readonly<Record<string, unknown>>): SDKMessage
function messageOf(message: unknown): unknown {
  return message
}

// Its payload is the agent's word.
function initializeReplyOf(answer: Answer): InitializeReply
function initializeReplyOf(answer: Answer): unknown {
  return payloadOf(answer, "initialize")
}

function errorTextOf(result: Readonly<Record<string, unknown>>): string | undefined {
  if (result["is_error"] !== true) return undefined
  if (result["subtype"] === "success") return textOf(result, "result")
  const { errors } = result
  return Array.isArray(errors) ? errors.join("; ") : undefined
}
