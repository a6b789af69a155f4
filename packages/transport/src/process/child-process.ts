import { quietly, TransportError } from "../errors.ts"
import { deferred } from "../pacing.ts"
import {
  assertSendable,
  type Closed,
  closedError,
  DEFAULT_HIGH_WATER_CHARS,
  DEFAULT_MAX_WAITING_BYTES,
  type FlowLimits,
  type LineLimits,
  type SendLimits,
  settleLineLimits,
  type Transport,
} from "../transport.ts"
import type { Environment } from "./environment.ts"
import { closedByExit, spawnFailure } from "./exit-report.ts"
import { InputPipe } from "./input-pipe.ts"
import { OutputLines, StderrTail, settlesWithin } from "./output-lines.ts"
import { ledGroup, loneProcess, type ProcessGroup } from "./process-group.ts"
import {
  type Exit,
  onceExited,
  type SpawnedProcess,
  type SpawnProcess,
  type SpawnRequest,
  spawnHere,
  startError,
} from "./spawned-process.ts"

// An entry of the package as well, for programs that start sooner without the rest: with all it takes to use what it opens.
export { lineBatches } from "../line-queue.ts"
export type { SpawnProcess } from "./spawned-process.ts"

/** Nothing survives a KILL; but a process stuck in the kernel takes its time, and a close must not wait for it for ever. */
const AFTER_KILL_MS = 1000

/** A process whose standard input and output are the connection. */
export interface ChildTransport extends Transport {
  readonly pid: number | undefined
  /** The last of what the process wrote to its standard error, at most 64 Ki characters. */
  stderrTail(): string
  /** No more lines will be sent. The process is left to finish, and may write for a long time yet. */
  endInput(): void
  /** Sends a signal to the process and all it started. How it ends then is its own affair: this is not a close. */
  kill(signal: NodeJS.Signals): void
}

/** Starts a process and connects to it. Rejects with `process/spawn-failed` if it does not start. */
export async function openChildProcess(options: ChildProcessOptions): Promise<ChildTransport> {
  const { signal } = options
  if (signal?.aborted === true) {
    throw new TransportError("transport/closed", `${options.command} was not started: aborted`, {
      cause: signal.reason,
    })
  }
  const request: SpawnRequest = {
    command: options.command,
    args: [...(options.args ?? [])],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: options.env ?? process.env,
    signal: signal ?? new AbortController().signal,
  }
  const child = start(options.spawn ?? spawnHere, request)
  const failure = child.pid === undefined ? await startError(child) : undefined
  if (failure !== undefined) throw spawnFailure(failure, request)
  return new ChildProcessTransport(child, options.spawn === undefined ? ledGroup(child) : loneProcess(child), options)
}

function start(spawn: SpawnProcess, request: SpawnRequest): SpawnedProcess {
  try {
    return spawn(request)
  } catch (error) {
    throw spawnFailure(error, request)
  }
}

/** Who brought the end about. `gone` resolves when nothing of the process and its group is left. */
type Ending =
  | { readonly by: "us"; readonly reason: string; readonly gone: Promise<void> }
  | { readonly by: "peer"; readonly exit: Exit }

type State =
  | { readonly phase: "open" }
  /** We asked it to end; it lives. */
  | { readonly phase: "closing"; readonly ending: Ending & { by: "us" } }
  /** It is gone; the last of its output may still be in the pipe. */
  | { readonly phase: "draining"; readonly ending: Ending }
  | { readonly phase: "over"; readonly closed: Closed }

class ChildProcessTransport implements ChildTransport {
  readonly pid: number | undefined
  readonly lines: AsyncIterable<string>
  readonly #group: ProcessGroup
  readonly #settings: ChildSettings
  readonly #closing = deferred<Closed>()
  readonly closed: Promise<Closed> = this.#closing.promise
  readonly #input: InputPipe
  readonly #output: OutputLines
  readonly #stderr: StderrTail
  readonly #exited: Promise<void>
  readonly #onAbort = () => void this.close("aborted")
  #state: State = { phase: "open" }

  constructor(child: SpawnedProcess, group: ProcessGroup, options: ChildBehaviour) {
    this.pid = child.pid
    this.#group = group
    this.#settings = settleChildOptions(options)
    this.#input = new InputPipe(child.stdin, this.#settings.maxWaitingBytes)
    this.#output = new OutputLines(child.stdout, this.#settings)
    this.#stderr = new StderrTail(child.stderr, this.#settings.stderr)
    this.lines = this.#output.lines
    options.signal?.addEventListener("abort", this.#onAbort, { once: true })
    this.#exited = new Promise((resolve) => {
      onceExited(child, (exit) => {
        resolve()
        this.#left(exit)
      })
    })
    child.stdout.on("error", (error) => this.#left({ kind: "unreadable", error }))
    // It may have been aborted while the process was being started.
    if (options.signal?.aborted === true) this.#onAbort()
  }

  async send(line: string): Promise<void> {
    if (this.#state.phase !== "open") throw closedError(this.#closedSoFar(this.#state))
    assertSendable(line)
    await this.#input.write(line)
  }

  async close(reason = "closed"): Promise<void> {
    if (this.#state.phase === "open") {
      this.#input.end()
      this.#state = { phase: "closing", ending: { by: "us", reason, gone: this.#terminate() } }
    }
    await this.closed
  }

  stderrTail(): string {
    return this.#stderr.text
  }

  endInput(): void {
    this.#input.end()
  }

  kill(signal: NodeJS.Signals): void {
    // Once the process is gone its number may be another's.
    if (this.#state.phase === "open" || this.#state.phase === "closing") this.#group.signal(signal)
  }

  async #terminate(): Promise<void> {
    const { graceMs, killAfterMs } = this.#settings
    if ((await settlesWithin(this.#exited, graceMs)) && (await this.#group.isGoneWithin(0))) return
    this.#group.signal("SIGTERM")
    if (await this.#isGoneWithin(killAfterMs)) return
    this.#group.signal("SIGKILL")
    await this.#isGoneWithin(AFTER_KILL_MS)
  }

  async #isGoneWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    if (!(await settlesWithin(this.#exited, ms))) return false
    return this.#group.isGoneWithin(Math.max(0, deadline - performance.now()))
  }

  #left(exit: Exit): void {
    const state = this.#state
    if (state.phase === "draining" || state.phase === "over") return
    // Another maker's process may fail by the very signal we were given; that is our abort, and not its failure.
    const failed = exit.kind === "broken" || exit.kind === "unreadable"
    const aborted = failed && this.#settings.signal?.aborted === true
    if (state.phase === "open" && aborted) void this.close("aborted")
    const ending: Ending = this.#state.phase === "closing" ? this.#state.ending : { by: "peer", exit }
    if (failed) this.#group.signal("SIGKILL")
    this.#state = { phase: "draining", ending }
    this.#input.shut(closedError(this.#closedSoFar(this.#state)))
    void this.#drain(ending)
  }

  async #drain(ending: Ending): Promise<void> {
    const { drainMs } = this.#settings
    await Promise.all([
      this.#output.drain(drainMs),
      this.#stderr.drain(drainMs),
      ending.by === "us" ? ending.gone : undefined,
    ])
    const closed = this.#closedSoFar({ phase: "draining", ending })
    this.#state = { phase: "over", closed }
    this.#settings.signal?.removeEventListener("abort", this.#onAbort)
    this.#closing.resolve(closed)
  }

  #closedSoFar(state: Exclude<State, { phase: "open" }>): Closed {
    if (state.phase === "over") return state.closed
    const { ending } = state
    return ending.by === "us" ? { by: "us", reason: ending.reason } : closedByExit(ending.exit, this.#stderr.text)
  }
}

export interface ChildBehaviour extends LineLimits, FlowLimits, SendLimits {
  /** Given everything the process writes to its standard error. */
  readonly stderr?: (text: string) => void
  /** Aborting is closing. */
  readonly signal?: AbortSignal
  /** How long a closed process may finish by itself after its input has ended, before TERM. */
  readonly graceMs?: number
  /** How long it has between TERM and KILL. */
  readonly killAfterMs?: number
  /** How long a process that outlives this one may hold its output open. */
  readonly drainMs?: number
  /** Starts the process in some other way. What it makes is signalled alone, not as a group. */
  readonly spawn?: SpawnProcess
}

export interface ChildProcessOptions extends ChildBehaviour {
  readonly command: string
  readonly args?: readonly string[]
  readonly cwd?: string
  /** The whole environment of the process; ours if it is left out. */
  readonly env?: Environment
}

export type ChildSettings = Required<Omit<ChildBehaviour, "signal" | "spawn">> & {
  readonly signal: AbortSignal | undefined
}

const KILL_AFTER_MS = 5000
const DRAIN_MS = 2000

export function settleChildOptions(options: ChildBehaviour): ChildSettings {
  return {
    ...settleLineLimits(options),
    highWaterChars: options.highWaterChars ?? DEFAULT_HIGH_WATER_CHARS,
    maxWaitingBytes: options.maxWaitingBytes ?? DEFAULT_MAX_WAITING_BYTES,
    stderr: quietly(options.stderr),
    signal: options.signal,
    graceMs: options.graceMs ?? 0,
    killAfterMs: options.killAfterMs ?? KILL_AFTER_MS,
    drainMs: options.drainMs ?? DRAIN_MS,
  }
}
