import { EventEmitter } from "node:events"
import type { PassThrough, Writable } from "node:stream"
import type { LaunchRequest } from "@signalbox/client"
import { parseObject, textOf } from "@signalbox/protocol/envelope"
import { createLineSplitter } from "@signalbox/protocol/framing"
import { copyOf } from "../launch/capture.ts"
import type { AgentLink } from "../launch/open-agent.ts"
import type { SpawnedProcess, SpawnOptions } from "../types/options.ts"

export interface SpawnOnHubOptions {
  /** The hub's address. Of several hubs on one store, all addresses: a list, or with commas between them. */
  url: string | readonly string[]
  token: string
  /** An existing session; without it the hub starts an agent with what is on the command line. */
  session?: string | undefined
  /** The program that the hub starts; `claude` if left out. */
  agent?: LaunchRequest["agent"] | undefined
  /** The machine: a runner's name, id or label. */
  runner?: string | undefined
  title?: string | undefined
  /** How long a hub that went away is waited for; 10 minutes if left out. */
  patienceMs?: number | undefined
  /** Told the session's id as soon as there is one. */
  onSession?: ((id: string) => void) | undefined
}

/**
 * For the official SDK's `spawnClaudeCodeProcess`: the agent is on a hub. Arguments and folder cross, the environment never
 * does. The end of the program's input detaches it, and the agent lives on.
 */
export function spawnOnHub(options: SpawnOnHubOptions): (spawn: SpawnOptions) => SpawnedProcess {
  const captured = copyOf(options)
  return ({ args, cwd, signal }) => {
    const given = [...args]
    // The rest is loaded while the program says its first line: most programs never need it.
    const loaded = import("./launch.ts")
    return new HubAgentProcess(async (firstLine) => {
      const { openLinkOnHub } = await loaded
      return openLinkOnHub({ options: captured, args: given, cwd, firstLine, signal })
    }, signal)
  }
}

// Not the main entry: this is loaded with the package.

/** Given the first line, which says which hooks the program has. */
export type OpenLink = (firstLine: string) => Promise<AgentLink>

/** In front of each line that a hub's link hands over: where in the session it stands. */
const CURSOR = /^\{"signalbox_cursor":\{[^}]*\},/
const MAX_WAITING_CHARS = 16 * 1024 * 1024

type State =
  /** Nothing was said to it yet. */
  | { readonly name: "waiting" }
  | { readonly name: "opening"; readonly link: Promise<AgentLink> }
  | { readonly name: "over" }

/** Plays a `claude` process to whoever believes to have started one, with the agent on a hub. */
export class HubAgentProcess extends EventEmitter implements SpawnedProcess {
  readonly stdin: Writable
  readonly stdout: PassThrough
  killed = false
  exitCode: number | null = null
  signalCode: NodeJS.Signals | null = null
  readonly #open: OpenLink
  readonly #splitter = createLineSplitter()
  #state: State = { name: "waiting" }
  /** Messages and requests keep their order. */
  #tail: Promise<void> = Promise.resolve()
  #waitingChars = 0

  constructor(open: OpenLink, signal: AbortSignal) {
    super()
    this.#open = open
    // Not imported: this module is loaded with the package, and few programs have their agents on a hub.
    const { PassThrough, Writable } = process.getBuiltinModule("node:stream")
    this.stdout = new PassThrough()
    this.stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => void this.#write(chunk, done),
      final: (done) => {
        void this.#take(this.#splitter.end())
        this.#endInput()
        done()
      },
    })
    // A write after the end is no reason to die of it.
    this.stdin.on("error", () => undefined)
    this.stdout.on("error", () => undefined)
    const abort = () => void this.kill("SIGTERM")
    signal.addEventListener("abort", abort, { once: true })
    this.once("exit", () => signal.removeEventListener("abort", abort))
    if (signal.aborted) queueMicrotask(abort)
  }

  /** Leaves the agent, which lives on. */
  kill(signal: NodeJS.Signals = "SIGTERM"): boolean {
    if (this.#state.name === "over") return false
    this.killed = true
    this.signalCode = signal
    void this.#close()
    return true
  }

  async #close(): Promise<void> {
    const state = this.#state
    if (state.name === "opening") {
      const link = await state.link.catch(() => undefined)
      await link?.close("the program ended its process")
    }
    // At once, even if nobody reads what is still there.
    this.#exit(0)
  }

  async #write(chunk: Buffer, done: () => void): Promise<void> {
    await this.#take(this.#splitter.push(chunk))
    done()
  }

  /** Resolves when there is room for more. An answer never waits: what is in front of it may be waiting for it. */
  async #take(lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      if (this.#state.name === "waiting") this.#begin(line)
      if (this.#state.name !== "opening") return
      const { link } = this.#state
      const send = async () => (await link).send(line)
      if (textOf(parseObject(line), "type") === "control_response") void send().catch(() => undefined)
      else this.#tail = this.#sendInTurn(this.#tail, line.length, send)
    }
    if (this.#waitingChars > MAX_WAITING_CHARS) await this.#tail
  }

  async #sendInTurn(before: Promise<void>, chars: number, send: () => Promise<void>): Promise<void> {
    this.#waitingChars += chars
    await before
    try {
      await send()
    } catch {
      // The end of the link tells that nothing can be sent any more.
    } finally {
      this.#waitingChars -= chars
    }
  }

  #begin(firstLine: string): void {
    const link = this.#open(firstLine)
    this.#state = { name: "opening", link }
    link.then(
      (opened) => void this.#relay(opened),
      (error: unknown) => this.#exit(1, error instanceof Error ? error : new Error(String(error))),
    )
  }

  async #relay(link: AgentLink): Promise<void> {
    for await (const batch of link.batches) {
      // Somebody ended this process meanwhile: what is still on its way is nobody's.
      if (this.#state.name === "over") return
      const text = batch.flatMap((line) => lineForProgram(line) ?? []).join("")
      if (text !== "" && !this.stdout.write(text)) await this.#drained()
    }
    const { error } = await link.closed
    this.#exit(error === undefined ? 0 : 1, error)
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.stdout.off("drain", done)
        this.stdout.off("close", done)
        resolve()
      }
      this.stdout.on("drain", done)
      this.stdout.on("close", done)
    })
  }

  /** The end of input detaches, once what was asked for is done. */
  #endInput(): void {
    const state = this.#state
    if (state.name === "waiting") return this.#exit(0)
    if (state.name !== "opening") return
    void Promise.all([state.link, this.#tail]).then(
      ([link]) => link.endInput(),
      () => undefined,
    )
  }

  /** After the last line: whoever reads must have had all of them. */
  #exit(code: number, error?: Error): void {
    if (this.#state.name === "over") return
    this.#state = { name: "over" }
    // Before the end, or why is not told: an SDK takes what comes first. Without a listener it would be thrown at nobody.
    if (error !== undefined && !this.killed && this.listenerCount("error") > 0) this.emit("error", error)
    this.stdout.end()
    const tell = () => {
      this.exitCode = this.killed ? null : code
      this.emit("exit", this.exitCode, this.signalCode)
    }
    if (this.killed) queueMicrotask(tell)
    else this.stdout.once("close", tell)
  }
}

/** Without the hub's own marks; undefined for what only our own query reads. */
function lineForProgram(line: string): string | undefined {
  const plain = line.replace(CURSOR, "{")
  const message = parseObject(plain)
  return message?.["type"] === "hub" || message?.["sdk_host_only"] === true ? undefined : `${plain}\n`
}
