import type { InitializeReply } from "@signalbox/protocol"
import { deferred } from "@signalbox/transport/pacing"
import { quiet } from "../base/deadline.ts"
import { SdkError } from "../base/errors.ts"
import { type Answer, type Envelope, encode, fieldOf, PENDING_LISTS, payloadOf, trusted } from "../base/wire.ts"
import { initializeRequest } from "../launch/initialize.ts"
import type { AgentLink } from "../launch/open-agent.ts"
import type { Options } from "../types/options.ts"
import type { AgentRequests } from "./agent-requests.ts"
import type { ControlCalls } from "./control-calls.ts"
import type { McpServers } from "./mcp-servers.ts"
import type { HookCallbacks } from "./responders.ts"

export interface InitializationOptions {
  readonly options: Options
  readonly calls: ControlCalls
  readonly requests: AgentRequests
  readonly hooks: HookCallbacks
  readonly mcp: McpServers
}

/** Telling the agent who we are, and what it said to that. */
export class Initialization {
  readonly #parts: InitializationOptions
  #answer: Promise<Answer>

  constructor(parts: InitializationOptions) {
    this.#parts = parts
    this.#answer = quiet(this.#exchange({ isFirst: true }))
  }

  /** The reply to the first request, or to the last that was sent again. */
  reply(): Promise<InitializeReply> {
    return this.#parts.calls.awaited(this.#answer).then((answer) => trusted(payloadOf(answer, "initialize")))
  }

  again(): void {
    this.#answer = quiet(this.#exchange({ isFirst: false }))
  }

  /** From now on the reply is this one: that of a process which has become a session. */
  replaceBy(answer: Promise<Answer>): void {
    this.#answer = quiet(answer)
  }

  /** A hook that is to block when it fails needs an agent that knows how. */
  async requireBlockingHooks(): Promise<void> {
    if (!this.#parts.hooks.mustBlock) return
    const payload = fieldOf(await this.#answer, "response")
    if (payload?.["hook_on_failure_supported"] === true && payload["hooks_applied"] !== false) return
    throw new SdkError(
      "sdk/unsupported",
      'The process answering initialize does not honor onFailure on hook matchers, so a hook that fails would not block. Update Claude Code if it is old, or remove onFailure: "block" from your hooks.',
    )
  }

  async #exchange({ isFirst }: { isFirst: boolean }): Promise<Answer> {
    const { options, calls, hooks, mcp } = this.#parts
    const request = initializeRequest(options, { hooks: hooks.registrations, servers: await mcp.describe({ isFirst }) })
    return calls.exchange(request, { onAnswer: (answer) => this.#handOver(answer), isGreeting: isFirst })
  }

  #handOver(answer: Answer): void {
    for (const list of PENDING_LISTS) {
      const pending = answer[list]
      if (Array.isArray(pending)) for (const request of pending) this.#parts.requests.take(request)
    }
  }
}

export interface HostLinesOptions {
  readonly link: Promise<AgentLink>
  /** Called as soon as a message is on its way, before it has been taken. */
  readonly onSent: (message: Envelope) => void
}

/** Our lines to the agent: `initialize` first, and whatever else is sent behind it, in the order it was given. */
export class HostLines {
  readonly #options: HostLinesOptions
  readonly #greeted = deferred<void>()

  constructor(options: HostLinesOptions) {
    this.#options = options
  }

  /** `onWriting` is called when the line's turn has come. */
  async send(message: Envelope, onWriting?: () => void): Promise<void> {
    const line = encode(message)
    const link = await this.#options.link
    const isGreeting = fieldOf(message, "request")?.["subtype"] === "initialize"
    if (!isGreeting) await this.#greeted.promise
    onWriting?.()
    const sent = link.send(line)
    if (isGreeting) this.#greeted.resolve()
    this.#options.onSent(message)
    await sent
  }

  /** As `send`, for what nobody waits for: an agent that takes no more has ended, and its end is what is told. */
  async offer(message: Envelope): Promise<void> {
    encode(message)
    await this.send(message).catch(() => undefined)
  }

  /** There will be no greeting. */
  release(): void {
    this.#greeted.resolve()
  }
}
