import {
  composeAllow,
  composeDeny,
  composeRequest,
  composeUserMessage,
  createPendingRequests,
  decode,
  type Envelope,
  encode,
  fieldOf,
  ProtocolError,
  type ToolQuestion,
  textOf,
} from "@signalbox/protocol"
import { ItemQueue } from "@signalbox/protocol/item-queue"
import { createSocket, sendsHeaders } from "#websocket"
import { closedError, HubClientError } from "./errors.ts"
import { type HubAddress, HubAddresses, type HubUrl, newUuid } from "./rest.ts"
import { NORMAL_CLOSE, type Socket } from "./socket.ts"

export interface DirectOptions {
  /** The hub's address, or several to try, with `session`; or the whole address of a session's socket. */
  readonly url: HubUrl
  readonly session?: string
  readonly token?: string
  /** How long connecting, and an interrupt's answer, may take. */
  readonly timeoutMs?: number
}

export type PermissionAnswer =
  | {
      readonly behavior: "allow"
      readonly updatedInput?: Readonly<Record<string, unknown>>
      readonly updatedPermissions?: readonly unknown[]
    }
  | { readonly behavior: "deny"; readonly message: string; readonly interrupt?: boolean }

export interface DirectEnd {
  readonly code: number
  readonly reason: string
}

/** The host's side of the wire on one session, and nothing more: what is lost with the connection is lost. */
export interface DirectConnection {
  /** Everything the agent and the hub say, for one reader. Ends with the connection. */
  readonly messages: AsyncIterableIterator<Envelope, undefined>
  /** How it ended: 1000 and 1001 mean that the session is over, 1012 that it is worth coming back. */
  readonly closed: Promise<DirectEnd>
  readonly isConnected: boolean
  /** Returns the message's `uuid`. */
  send(content: string | readonly unknown[]): string
  /** Any message of the host's side, as it is. */
  write(message: Envelope): void
  /** Answers a `can_use_tool` by its `request_id`. */
  answer(requestId: string, answer: PermissionAnswer): void
  /** Settles when the agent has answered. */
  interrupt(): Promise<void>
  disconnect(): void
}

const DEFAULT_TIMEOUT_MS = 30_000
const MAX_WAITING_CHARS = 64 * 1024 * 1024
const MAX_OPEN_QUESTIONS = 1000

export async function openDirect(options: DirectOptions): Promise<DirectConnection> {
  const addresses = new HubAddresses(options.url, options.token)
  for (let left = addresses.count; ; left--) {
    const address = addresses.now()
    const connection = new Direct(options)
    try {
      await connection.connect(address)
      return connection
    } catch (error) {
      if (left <= 1) throw error
      addresses.failed(address.http)
    }
  }
}

class Direct implements DirectConnection {
  readonly messages = new ItemQueue<Envelope>({ onEnded: () => this.disconnect() })
  readonly closed: Promise<DirectEnd>
  readonly #options: DirectOptions
  readonly #timeoutMs: number
  readonly #answers = createPendingRequests<Envelope>()
  readonly #questions = new Map<string, ToolQuestion>()
  #tellClosed: (end: DirectEnd) => void = () => undefined
  #socket: Socket | undefined
  #state: "connecting" | "open" | "over" = "connecting"

  constructor(options: DirectOptions) {
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve
    })
  }

  connect({ webSocket, token }: HubAddress): Promise<void> {
    const { session } = this.#options
    const url = session === undefined ? webSocket : `${webSocket}/ws/session/${encodeURIComponent(session)}`
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#socket?.abandon(), this.#timeoutMs)
      this.#socket = createSocket(url, token, {
        onOpen: () => {
          clearTimeout(timer)
          this.#state = "open"
          if (!sendsHeaders && token !== undefined) this.write({ type: "auth", credential: { type: "oauth", token } })
          resolve()
        },
        onText: (text) => this.#read(text),
        onClose: (code, reason) => {
          clearTimeout(timer)
          this.#finish(reason)
          this.#tellClosed({ code, reason })
          reject(new HubClientError("client/unreachable", `${url} cannot be reached; check address, session and token`))
        },
      })
    })
  }

  get isConnected(): boolean {
    return this.#state === "open"
  }

  send(content: string | readonly unknown[]): string {
    const uuid = newUuid()
    this.write(composeUserMessage(content, { uuid }))
    return uuid
  }

  answer(requestId: string, answer: PermissionAnswer): void {
    const question = this.#questions.get(requestId)
    if (question === undefined) {
      const message = `no open permission request has the id ${requestId}: it was answered, cancelled, or never asked here`
      throw new HubClientError("client/unknown-question", message)
    }
    this.write(
      answer.behavior === "allow"
        ? composeAllow(question, answer)
        : composeDeny(question, answer.message, answer.interrupt === undefined ? {} : { interrupt: answer.interrupt }),
    )
    this.#questions.delete(requestId)
  }

  async interrupt(): Promise<void> {
    const requestId = newUuid()
    this.write(composeRequest(requestId, { subtype: "interrupt" }))
    const answer = await this.#answers.wait(requestId, { timeoutMs: this.#timeoutMs }).catch(translate)
    const response = fieldOf(answer, "response")
    if (textOf(response, "subtype") === "error") {
      throw new HubClientError("control/refused", textOf(response, "error") ?? "the agent refused the interrupt")
    }
  }

  disconnect(): void {
    if (this.#state === "over") return
    this.#finish("disconnected")
    this.#socket?.close(NORMAL_CLOSE, "disconnected")
  }

  #finish(reason: string): void {
    this.#state = "over"
    this.#questions.clear()
    this.#answers.close(reason)
    this.messages.end()
  }

  write(message: Envelope): void {
    if (this.#state !== "open") throw closedError()
    this.#socket?.send(`${encode(message)}\n`)
  }

  #read(text: string): void {
    for (const line of text.split("\n")) {
      if (this.#state !== "open" || line.trim() === "") continue
      const decoded = decode(line)
      if (decoded.kind === "malformed") continue
      const { message } = decoded
      this.#notice(message)
      if (this.messages.waitingChars > MAX_WAITING_CHARS) return this.#overflow()
      this.messages.push(message, line.length)
    }
  }

  #overflow(): void {
    const message = `more than ${MAX_WAITING_CHARS} characters wait to be read; read \`messages\` as they come`
    this.messages.end(new HubClientError("client/overflow", message))
  }

  #notice(message: Envelope): void {
    const requestId = textOf(message, "request_id")
    const request = fieldOf(message, "request")
    const response = fieldOf(message, "response")
    const answered = textOf(response, "request_id")
    if (message.type === "control_response" && answered !== undefined) this.#answers.answer(answered, message)
    if (requestId === undefined) return
    if (message.type === "control_cancel_request") this.#questions.delete(requestId)
    if (message.type !== "control_request" || textOf(request, "subtype") !== "can_use_tool") return
    const tool_use_id = textOf(request, "tool_use_id")
    const input = fieldOf(request, "input") ?? {}
    this.#questions.set(requestId, {
      request_id: requestId,
      request: tool_use_id === undefined ? { input } : { input, tool_use_id },
    })
    const [oldest] = this.#questions.keys()
    if (this.#questions.size > MAX_OPEN_QUESTIONS && oldest !== undefined) this.#questions.delete(oldest)
  }
}

function translate(error: unknown): never {
  const isLate = error instanceof ProtocolError && error.code === "request/timeout"
  if (isLate)
    throw new HubClientError("client/timeout", "the agent did not answer the interrupt in time", { cause: error })
  throw new HubClientError("client/closed", "the connection ended before the agent answered", { cause: error })
}
