import { ItemQueue } from "@signalbox/protocol/item-queue"
import { SdkError } from "../base/errors.ts"
import { composeUserMessage, trusted } from "../base/wire.ts"
import { copyOf } from "../launch/capture.ts"
import { requireNamedExecutable } from "../launch/executable.ts"
import type { SDKMessage, SDKResultMessage, SDKUserMessage } from "../types/messages.ts"
import type { Options } from "../types/options.ts"
import type { Query } from "../types/query.ts"
import { query } from "./query.ts"

/** The sessions of the official package's 0.2 series, on the same engine. */
export interface SDKSessionOptions extends Pick<Options, SessionOption> {
  model: string
}
type SessionOption =
  | "pathToClaudeCodeExecutable"
  | "executable"
  | "executableArgs"
  | "env"
  | "allowedTools"
  | "disallowedTools"
  | "canUseTool"
  | "hooks"
  | "permissionMode"

export interface SDKSession {
  /** Known from the first message on, or from the start if it was resumed; throws before. */
  readonly sessionId: string
  send(message: string | SDKUserMessage): Promise<void>
  /** The messages up to and with the next result. */
  stream(): AsyncGenerator<SDKMessage, void>
  close(): void
  [Symbol.asyncDispose](): Promise<void>
}

export function unstable_v2_createSession(options: SDKSessionOptions): SDKSession {
  return new Session(options)
}

export function unstable_v2_resumeSession(sessionId: string, options: SDKSessionOptions): SDKSession {
  return new Session(options, sessionId)
}

/** One question, one result. */
export async function unstable_v2_prompt(message: string, options: SDKSessionOptions): Promise<SDKResultMessage> {
  const session = new Session(options)
  try {
    await session.send(message)
    for await (const said of session.stream()) if (said.type === "result") return said
    throw new SdkError("query/closed", "Session ended without result message")
  } finally {
    await session[Symbol.asyncDispose]()
  }
}

class Session implements SDKSession {
  readonly #prompts = new ItemQueue<SDKUserMessage>()
  readonly #query: Query
  #sessionId: string | undefined
  #isClosed = false

  constructor(options: SDKSessionOptions, resume?: string) {
    requireNamedExecutable(options)
    this.#sessionId = resume
    // As the 0.2 series had it: no settings files, and the CLI's own system prompt.
    const systemPrompt = { type: "preset", preset: "claude_code" } as const
    this.#query = query({ prompt: this.#prompts, options: { ...options, settingSources: [], systemPrompt, resume } })
  }

  get sessionId(): string {
    if (this.#sessionId !== undefined) return this.#sessionId
    throw new Error("Session ID not available until after receiving messages")
  }

  async send(message: string | SDKUserMessage): Promise<void> {
    if (this.#isClosed) throw new SdkError("query/closed", "Cannot send to closed session")
    this.#prompts.push(typeof message === "string" ? trusted(composeUserMessage(message)) : copyOf(message))
  }

  async *stream(): AsyncGenerator<SDKMessage, void> {
    for (let next = await this.#query.next(); next.done !== true; next = await this.#query.next()) {
      this.#sessionId ||= next.value.session_id
      yield next.value
      if (next.value.type === "result") return
    }
  }

  close(): void {
    this.#isClosed = true
    this.#prompts.end()
    this.#query.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#prompts.end()
    await this.#query[Symbol.asyncDispose]()
  }
}
