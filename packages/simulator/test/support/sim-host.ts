import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { composeRequest, composeUserMessage, type Envelope, encode, fieldOf, textOf } from "@signalbox/protocol"
import {
  createLaunch,
  type Launch,
  openSimulatedAgent,
  parseScenario,
  type Scenario,
  type SimulatedAgent,
} from "@signalbox/simulator"
import { createLinkedPair, type Transport } from "@signalbox/transport"

export interface Asked {
  readonly request_id: string
  readonly subtype: string
  readonly request: Readonly<Record<string, unknown>>
}

export interface SimOptions {
  readonly scenario: Scenario
  readonly profile?: string
  readonly launch?: Partial<Launch>
  readonly tools?: "pretend" | "real"
  readonly seed?: number
  /** A folder of an earlier agent. */
  readonly folder?: string
  /** Answers the agent's control requests; null leaves one open. */
  readonly onRequest?: (asked: Asked) => Envelope | null
}

/** Everything a test reads was waited for at most this long. */
const PATIENCE_MS = 20_000

/** A simulated agent over the linked pair, driven from the host's side. */
export class SimHost {
  readonly seen: Envelope[] = []
  readonly agent: SimulatedAgent
  readonly folder: string
  readonly stderr: string[] = []
  readonly #host: Transport
  readonly #options: SimOptions
  #cursor = 0
  #requests = 0
  #isOver = false
  #wake: (() => void)[] = []

  constructor(options: SimOptions) {
    this.#options = options
    this.folder = options.folder ?? realpathSync(mkdtempSync(join(tmpdir(), "signalbox-sim-")))
    const [host, agent] = createLinkedPair()
    this.#host = host
    const launch = createLaunch({ cwd: this.folder, configDir: join(this.folder, ".claude"), ...options.launch })
    this.agent = openSimulatedAgent({
      transport: agent,
      launch,
      scenario: parseScenario(options.scenario),
      tools: options.tools ?? "pretend",
      timeScale: 0,
      onStderr: (text) => this.stderr.push(text),
      ...(options.profile === undefined ? {} : { profile: options.profile }),
      ...(options.seed === undefined ? {} : { seed: options.seed }),
    })
    void this.#read()
  }

  async send(message: Envelope): Promise<void> {
    await this.#host.send(encode(message))
  }

  async prompt(text: string, uuid?: string): Promise<void> {
    await this.send(composeUserMessage(text, uuid === undefined ? {} : { uuid }))
  }

  /** The inner object of the answer. */
  async request(request: { subtype: string } & Record<string, unknown>): Promise<Readonly<Record<string, unknown>>> {
    const requestId = `host-${++this.#requests}`
    await this.send(composeRequest(requestId, request))
    const isAnswer = (message: Envelope) => fieldOf(message, "response")?.["request_id"] === requestId
    const found = await this.#find(isAnswer, `an answer to ${request.subtype}`)
    return fieldOf(found, "response") ?? {}
  }

  async until(type: string, subtype?: string): Promise<Envelope> {
    const accepts = (message: Envelope) =>
      message.type === type && (subtype === undefined || subtypeOf(message) === subtype)
    const found = await this.#find(accepts, `${type}/${subtype ?? ""}`, this.#cursor)
    this.#cursor = this.seen.indexOf(found) + 1
    return found
  }

  /** Sends a prompt and reads to the end of its turn; returns the turn's messages, the result last. */
  async turn(text: string, uuid?: string): Promise<Envelope[]> {
    const from = this.#cursor
    await this.prompt(text, uuid)
    await this.until("result")
    return this.seen.slice(from, this.#cursor)
  }

  async close(): Promise<void> {
    await this.#host.close("test over")
    await this.agent.exited
    if (this.#options.folder === undefined) rmSync(this.folder, { recursive: true, force: true })
  }

  async #find(accepts: (message: Envelope) => boolean, what: string, from = 0): Promise<Envelope> {
    const deadline = setTimeout(() => this.#wakeAll(), PATIENCE_MS)
    const end = performance.now() + PATIENCE_MS
    try {
      for (;;) {
        const found = this.seen.slice(from).find(accepts)
        if (found !== undefined) return found
        if (this.#isOver || performance.now() >= end) {
          const last = this.seen.slice(-5).map((message) => JSON.stringify(message).slice(0, 200))
          throw new Error([`${what} did not come`, ...last, ...this.stderr].join("\n  "))
        }
        await new Promise<void>((resolve) => this.#wake.push(resolve))
      }
    } finally {
      clearTimeout(deadline)
    }
  }

  async #read(): Promise<void> {
    for await (const line of this.#host.lines) {
      const message: Envelope = JSON.parse(line)
      this.seen.push(message)
      if (message.type === "control_request") this.#answer(message)
      this.#wakeAll()
    }
    this.#isOver = true
    this.#wakeAll()
  }

  #answer(message: Envelope): void {
    const request = fieldOf(message, "request") ?? {}
    const requestId = textOf(message, "request_id") ?? ""
    const asked = { request_id: requestId, subtype: textOf(request, "subtype") ?? "", request }
    const answer = this.#options.onRequest?.(asked) ?? null
    if (answer !== null) void this.send(answer).catch(() => undefined)
  }

  #wakeAll(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const resolve of waiting) resolve()
  }
}

export function subtypeOf(message: Envelope): string | undefined {
  return textOf(message, "subtype") ?? textOf(fieldOf(message, "request"), "subtype")
}

/** Runs a case with a simulated agent and takes it down whatever happens. */
export async function withSim(options: SimOptions, run: (host: SimHost) => Promise<void>): Promise<void> {
  const host = new SimHost(options)
  try {
    await run(host)
  } finally {
    await host.close()
  }
}
