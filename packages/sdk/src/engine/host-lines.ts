import { type Envelope, encode, fieldOf } from "../base/wire.ts"
import type { AgentLink } from "../launch/agent-link.ts"

export interface HostLinesOptions {
  readonly link: Promise<AgentLink>
  /** Called as soon as a message is on its way, before it has been taken. */
  readonly onSent: (message: Envelope) => void
}

/** Our lines to the agent: `initialize` first, and whatever else is sent behind it, in the order it was given. */
export class HostLines {
  readonly #options: HostLinesOptions
  readonly #greeted: Promise<void>
  #greet: () => void = () => undefined

  constructor(options: HostLinesOptions) {
    this.#options = options
    this.#greeted = new Promise((resolve) => {
      this.#greet = resolve
    })
  }

  /** `onWriting` is called when the line's turn has come. */
  async send(message: Envelope, onWriting?: () => void): Promise<void> {
    const line = encode(message)
    const link = await this.#options.link
    const isGreeting = fieldOf(message, "request")?.["subtype"] === "initialize"
    if (!isGreeting) await this.#greeted
    onWriting?.()
    const sent = link.send(line)
    if (isGreeting) this.#greet()
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
    this.#greet()
  }
}
