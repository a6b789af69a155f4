import { randomUUID } from "node:crypto"
import type { HubToRunner, RunnerRequest, RunnerToHub } from "@signalbox/protocol/runner-wire"
import { HubError, runnerRefused } from "../errors.ts"
import type { DoorSocket } from "./door-socket.ts"
import { type Hello, readRunnerMessage } from "./runner-message.ts"

type Stats = Extract<RunnerToHub, { op: "stats" }>

interface Waiting {
  resolve(result: unknown): void
  reject(error: HubError): void
}

export interface RunnerListener {
  /** Awaited: what follows is read when it is dealt with. */
  hello(connection: RunnerConnection, hello: Hello): Promise<void>
  stats(connection: RunnerConnection, stats: Stats): void
  gone(connection: RunnerConnection): void
}

const MAX_WAITING = 1_000
const HELLO_MS = 10_000
const DOES_NOT_SPEAK = 4001

/** The control connection of one runner: what it tells of itself, and what it is asked to do. Every request settles. */
export class RunnerConnection {
  readonly #socket: DoorSocket
  readonly #listener: RunnerListener
  readonly #waiting = new Map<string, Waiting>()
  #hello: Hello | undefined
  #tellSpoken: () => void = () => undefined

  constructor(socket: DoorSocket, listener: RunnerListener) {
    this.#socket = socket
    this.#listener = listener
  }

  /** The token that this connection was opened with. */
  get tokenId(): string {
    return this.#socket.tokenId
  }

  /** Until the connection is over. Rejects, when it is over, with what the listener failed with. */
  async run(): Promise<void> {
    const timer = setTimeout(() => void this.#socket.end(DOES_NOT_SPEAK, "no hello came in time"), HELLO_MS)
    this.#tellSpoken = () => clearTimeout(timer)
    try {
      for await (const texts of this.#socket.batches()) for (const text of texts) await this.#take(text)
    } finally {
      this.#tellSpoken()
      const away = new HubError("runner/away", "the runner went away before it answered")
      for (const waiting of this.#waiting.values()) waiting.reject(away)
      this.#waiting.clear()
      if (this.#hello !== undefined) this.#listener.gone(this)
    }
  }

  request(request: RunnerRequest, timeoutMs: number): Promise<unknown> {
    if (this.#waiting.size >= MAX_WAITING) {
      return Promise.reject(new HubError("hub/busy", `${MAX_WAITING} requests wait for this runner: try again later`))
    }
    const id = randomUUID()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        reject(new HubError("runner/no-answer", `the runner did not answer within ${timeoutMs} ms: try again`))
      }, timeoutMs)
      const settled = () => {
        clearTimeout(timer)
        this.#waiting.delete(id)
      }
      this.#waiting.set(id, {
        resolve(result) {
          settled()
          resolve(result)
        },
        reject(error) {
          settled()
          reject(error)
        },
      })
      // One that could not be sent is rejected with all others, when the connection is seen to be over.
      this.tell({ ev: "request", id, request })
    })
  }

  tell(message: HubToRunner): void {
    this.#socket.send(JSON.stringify(message)).catch(() => undefined)
  }

  end(code: number, reason: string): Promise<void> {
    return this.#socket.end(code, reason)
  }

  async #take(text: string): Promise<void> {
    const message = readRunnerMessage(text)
    if (this.#hello === undefined) {
      if (message?.op === "hello") {
        this.#hello = message
        this.#tellSpoken()
        return this.#listener.hello(this, message)
      }
      return void this.#socket.end(DOES_NOT_SPEAK, "a runner says hello first")
    }
    switch (message?.op) {
      case "stats":
        return this.#listener.stats(this, message)
      case "reply":
        return this.#waiting.get(message.id)?.resolve(message.result)
      case "refused":
        return this.#waiting.get(message.id)?.reject(runnerRefused(message.code, message.message))
      case "hello":
      case undefined:
        // Newer than we are: what is not known is no harm.
        return undefined
    }
  }
}
