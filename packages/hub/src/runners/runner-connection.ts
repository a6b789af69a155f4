import { randomUUID } from "node:crypto"
import { isObject, parseObject, textOf } from "@signalbox/protocol/envelope"
import type { AgentUsage, HubToRunner, RunnerFacts, RunnerRequest, RunnerToHub } from "@signalbox/protocol/runner-wire"
import { NOT_ALLOWED, type ReadingTurns } from "@signalbox/transport"
import { HubError, runnerRefused } from "../errors.ts"
import type { DoorSocket } from "./door-socket.ts"

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

export interface RunnerConnectionOptions {
  readonly socket: DoorSocket
  readonly listener: RunnerListener
  readonly turns: ReadingTurns
  /** Whether the other hubs take this one for alive. */
  readonly registry: { readonly isCurrent: boolean }
}

const MAX_WAITING = 1_000
const HELLO_MS = 10_000

/** The control connection of one runner: what it tells of itself, and what it is asked to do. Every request settles. */
export class RunnerConnection {
  readonly #socket: DoorSocket
  readonly #options: RunnerConnectionOptions
  readonly #waiting = new Map<string, Waiting>()
  #hello: Hello | undefined
  #tellSpoken: () => void = () => undefined

  constructor(options: RunnerConnectionOptions) {
    this.#options = options
    this.#socket = options.socket
  }

  /** The token that this connection was opened with. */
  get tokenId(): string {
    return this.#socket.tokenId
  }

  /** Until the connection is over. Rejects, when it is over, with what the listener failed with. */
  async run(): Promise<void> {
    const timer = setTimeout(() => void this.#socket.end(NOT_ALLOWED, "no hello came in time"), HELLO_MS)
    this.#tellSpoken = () => clearTimeout(timer)
    const { turns, listener } = this.#options
    try {
      for await (const share of turns.shares(this.#socket.lines)) for (const text of share) await this.#take(text)
    } finally {
      this.#tellSpoken()
      const away = new HubError("runner/away", "the runner went away before it answered")
      for (const waiting of this.#waiting.values()) waiting.reject(away)
      this.#waiting.clear()
      if (this.#hello !== undefined) listener.gone(this)
    }
  }

  request(request: RunnerRequest, timeoutMs: number): Promise<unknown> {
    // Another hub may speak for its sessions by now, and would find a process that it did not ask for.
    if (!this.#options.registry.isCurrent) {
      const words = "This hub has lost its database, and asks runners for nothing: try again in a moment."
      return Promise.reject(new HubError("hub/busy", words, { details: { retryAfterSeconds: 2 } }))
    }
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
        return this.#options.listener.hello(this, message)
      }
      return void this.#socket.end(NOT_ALLOWED, "a runner says hello first")
    }
    switch (message?.op) {
      case "stats":
        return this.#options.listener.stats(this, message)
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

/** No runner that means well has as many. */
const MAX_AGENTS = 10_000
const MAX_LABELS = 100
const MAX_TEXT_CHARS = 4_096

type Hello = Extract<RunnerToHub, { op: "hello" }>
export type Cut = Hello["cut"][number]
export type { Hello }

/** As a runner says it; a newer one may have reasons to refuse that we do not know. */
type RunnerSaid =
  | Exclude<RunnerToHub, { op: "refused" }>
  | { readonly op: "refused"; readonly id: string; readonly code: string; readonly message: string }

/** A runner's message on its control connection. Undefined: not what runners say. */
function readRunnerMessage(text: string): RunnerSaid | undefined {
  const message = parseObject(text)
  switch (message?.["op"]) {
    case "hello":
      return readHello(message)
    case "stats":
      return {
        op: "stats",
        memoryBytes: amount(message["memoryBytes"]),
        freeMemoryBytes: amount(message["freeMemoryBytes"]),
        loadAverage: amount(message["loadAverage"]),
        agents: listOf(message["agents"], readUsage, MAX_AGENTS),
        ...readSignIn(message),
      }
    case "reply": {
      const id = textOf(message, "id")
      return id === undefined ? undefined : { op: "reply", id, result: message["result"] }
    }
    case "refused": {
      const id = textOf(message, "id")
      const [code, reason] = [short(message, "code"), short(message, "message")]
      return id === undefined ? undefined : { op: "refused", id, code, message: reason }
    }
    default:
      return undefined
  }
}

function readHello(message: Fields): Hello | undefined {
  const runner = readFacts(message["runner"])
  if (runner === undefined) return undefined
  const agents = listOf(message["agents"], readUsage, MAX_AGENTS)
  return { op: "hello", runner, agents, cut: listOf(message["cut"], readCut, MAX_AGENTS) }
}

/** Also for what was kept: an older hub may have written it. */
export function readFacts(value: unknown): RunnerFacts | undefined {
  if (!isObject(value)) return undefined
  const id = short(value, "id")
  if (id === "") return undefined
  return {
    id,
    name: short(value, "name") === "" ? id : short(value, "name"),
    labels: listOf(
      value["labels"],
      (label) => (typeof label === "string" ? label.slice(0, 200) : undefined),
      MAX_LABELS,
    ),
    version: short(value, "version"),
    host: short(value, "host"),
    platform: short(value, "platform"),
    maxAgents: amount(value["maxAgents"]),
    claude: listOf(value["claude"], readClaude, MAX_LABELS),
    hasSimulator: value["hasSimulator"] === true,
    ...(value["takesOptions"] === true ? { takesOptions: true } : {}),
    ...(value["enforces"] === true ? { enforces: true } : {}),
    ...(short(value, "home") === "" ? {} : { home: short(value, "home") }),
    ...(short(value, "claudeProblem") === "" ? {} : { claudeProblem: short(value, "claudeProblem") }),
    ...readSignIn(value),
  }
}

type Fields = Readonly<Record<string, unknown>>

function readSignIn(value: Fields): { readonly signIn?: string | null } {
  if (value["signIn"] === null) return { signIn: null }
  return short(value, "signIn") === "" ? {} : { signIn: short(value, "signIn") }
}

function readClaude(value: unknown): RunnerFacts["claude"][number] | undefined {
  return isObject(value) ? { path: short(value, "path"), version: short(value, "version") } : undefined
}

function readUsage(value: unknown): AgentUsage | undefined {
  if (!isObject(value)) return undefined
  const [spawn, session] = [short(value, "spawn"), short(value, "session")]
  if (spawn === "" || session === "") return undefined
  const memoryBytes = amount(value["memoryBytes"])
  return { spawn, session, pid: amount(value["pid"]), memoryBytes, cpuPercent: amount(value["cpuPercent"]) }
}

function readCut(value: unknown): Cut | undefined {
  if (!isObject(value)) return undefined
  const [spawn, session] = [short(value, "spawn"), short(value, "session")]
  return spawn === "" || session === "" ? undefined : { spawn, session, reason: short(value, "reason") }
}

function listOf<T>(value: unknown, read: (item: unknown) => T | undefined, most: number): readonly T[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, most).flatMap((item) => read(item) ?? [])
}

function short(value: Fields, name: string): string {
  return textOf(value, name)?.slice(0, MAX_TEXT_CHARS) ?? ""
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0
}
