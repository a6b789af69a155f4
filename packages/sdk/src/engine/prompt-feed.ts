import type { Envelope } from "@signalbox/protocol"
import { composeUserMessage, fieldOf, isObject } from "../base/wire.ts"
import { copyOf } from "../launch/capture.ts"
import type { SDKUserMessage } from "../types/messages.ts"

export type Prompt = string | AsyncIterable<SDKUserMessage>

export interface PromptFeedOptions {
  readonly send: (message: Envelope) => Promise<void>
  /** Added to every prompt. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** Writes prompts to the agent. A program's iterable that waits for ever is let go when the query is over. */
export class PromptFeed {
  readonly #options: PromptFeedOptions
  readonly #waiting = new Set<() => void>()
  #isStopped = false

  constructor(options: PromptFeedOptions) {
    this.#options = options
  }

  /** Resolves when all of it is written, or the query is over; rejects with what the program's iterable threw. */
  async write(prompt: Prompt): Promise<void> {
    if (typeof prompt === "string") return this.#send(composeUserMessage(prompt))
    const messages = messagesOf(prompt)
    for (;;) {
      const next = await this.#unlessStopped(messages.next())
      if (next === undefined) return letGo(messages)
      if (next.done === true) return
      await this.#send(messageIn(next.value))
      if (this.#isStopped) return letGo(messages)
    }
  }

  stop(): void {
    this.#isStopped = true
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #send(message: Envelope): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    return this.#options.send({ ...message, ...this.#options.fields })
  }

  /** Not a race with one promise for all: that one would remember every message it ever raced. */
  #unlessStopped<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const stop = () => resolve(undefined)
      if (this.#isStopped) stop()
      else this.#waiting.add(stop)
      promise.then(resolve, reject).finally(() => this.#waiting.delete(stop))
    })
  }
}

/**
 * Whatever `for await` would take, since programs have come to rely on that: a list, promises in a list, an iterator
 * whose `next` gives no promise.
 */
function messagesOf(prompt: AsyncIterable<SDKUserMessage> | Iterable<SDKUserMessage>): AsyncIterator<SDKUserMessage> {
  const isIterable = typeof prompt === "object" && prompt !== null
  if (!isIterable || !(Symbol.asyncIterator in prompt || Symbol.iterator in prompt))
    throw new Error("it is neither a text nor an iterable of messages")
  const messages = Symbol.asyncIterator in prompt ? prompt[Symbol.asyncIterator]() : eachOf(prompt)
  const end = async () => (await messages.return?.()) ?? { done: true as const, value: undefined }
  return { next: async () => messages.next(), return: end }
}

async function* eachOf(list: Iterable<SDKUserMessage>): AsyncGenerator<SDKUserMessage> {
  yield* list
}

/**
 * A program may yield anything, whatever its type says. What is no object at all could only confuse the agent; a user's
 * message without words it passes over in silence, and an answer to it would be waited for for ever.
 */
function messageIn(yielded: unknown): Envelope
function messageIn(yielded: unknown): unknown {
  if (!isObject(yielded))
    throw new Error(`it yielded ${yielded === undefined ? "undefined" : JSON.stringify(yielded)}, which is no message`)
  const content = fieldOf(yielded, "message")?.["content"]
  if (yielded["type"] === "user" && typeof content !== "string" && !Array.isArray(content))
    throw new Error("it yielded a user's message whose content is neither a text nor a list of blocks")
  return yielded
}

/** Its owner's clean-up runs when it can; nobody waits for it, and what it throws concerns nobody here. */
function letGo(messages: AsyncIterator<SDKUserMessage>): void {
  messages.return?.().catch(() => undefined)
}

/**
 * Begins to read a program's iterable at once, while the agent is being started: what it listens to may not wait. (The
 * lines of a terminal that was piped into are gone for who listens late.)
 */
export function startReading(prompt: Prompt): Prompt {
  if (typeof prompt === "string") return prompt
  try {
    const messages = messagesOf(Array.isArray(prompt) ? copyOf(prompt) : prompt)
    // It may be some time until the message is written, and the program may use its object for another one.
    let first: Promise<IteratorResult<SDKUserMessage>> | undefined = messages
      .next()
      .then((result) => (result.done === true ? result : { ...result, value: copyOf(result.value) }))
    // The next reader hears of it.
    first.catch(() => undefined)
    const next = () => {
      const result = first ?? messages.next()
      first = undefined
      return result
    }
    return { [Symbol.asyncIterator]: () => ({ ...messages, next }) }
  } catch {
    // No iterable at all: told when it is written.
    return prompt
  }
}
