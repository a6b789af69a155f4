import { closeSync } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import type { Closed, DialEnvironment, DialledConnection, SdkUrlOptions, Transport } from "@signalbox/transport"
import { deferred } from "@signalbox/transport/pacing"
import type { FaultEffects } from "../faults/faulty-transport.ts"
import { isOn } from "../launch/launch.ts"
import type { WireProfile } from "../profiles/profile.ts"
import { refused } from "../simulator-error.ts"
import type { Environment } from "./launch-from-argv.ts"

/** A way to the host, and what a fault does to it and to this process. */
export interface Road {
  readonly transport: Transport
  readonly effects: FaultEffects
  /** The process was told to go: its end waits no longer for a host that does not read. */
  readonly hurry: () => void
}

export function openStdio(): Road {
  const transport = new StdioTransport(process.stdin, process.stdout)
  return {
    transport,
    hurry: () => transport.hurry(),
    effects: {
      ...endings(() => transport.flushed()),
      cut: () => transport.cut(),
      writePiece: (text) => transport.writePiece(text),
    },
  }
}

export interface Address {
  readonly url: string
  readonly env: Environment
  readonly profile: WireProfile
}

/** Dials as the profile's version does with this environment. */
export async function openDialled(address: Address): Promise<Road> {
  const { transport, isHybrid } = await dial(address)
  // A POST can be waited for only by an orderly end. On a socket, what was sent leaves in the turns of the loop to come.
  const flush = isHybrid ? () => transport.close("the agent has ended") : afterSomeTurns
  // A goodbye to a server has a time-out of its own.
  const hurry = () => undefined
  return { transport, hurry, effects: { ...endings(flush), ...cutsOf(transport, isHybrid) } }
}

/** For agents that share a process: what ends one must not end the others. */
export async function dial(
  { url, env, profile }: Address,
  options: SdkUrlOptions = {},
): Promise<{ transport: DialledConnection; isHybrid: boolean }> {
  const { openSdkUrl, readDialEnvironment, TransportError } = await import("@signalbox/transport")
  const read = readAsCli(env, readDialEnvironment)
  const preset = profile.dial === undefined ? {} : { preset: profile.dial }
  try {
    return { transport: openSdkUrl(url, read, { ...preset, ...options }), isHybrid: read.postsEvents }
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    throw refused(`Error: ${error.message}`, error)
  }
}

/** A line posted as an event is an element of an array: what is no JSON cannot go that way. */
export function cutsOf(transport: DialledConnection, isHybrid: boolean): Pick<FaultEffects, "cut" | "writePiece"> {
  return { cut: () => transport.drop(), writePiece: (text) => (isHybrid ? Promise.resolve() : transport.send(text)) }
}

/** A real CLI that cannot read the descriptor it was given dials without a token, and says nothing of it. */
function readAsCli(env: Environment, read: (env: Environment) => DialEnvironment): DialEnvironment {
  try {
    return read(env)
  } catch {
    return read({ ...env, CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: undefined })
  }
}

function endings(flush: () => Promise<void>): Pick<FaultEffects, "exit" | "kill"> {
  return {
    async exit(code) {
      await flush()
      process.exit(code)
    },
    async kill(signal) {
      await flush()
      // Our own handler would turn a signal into an orderly end.
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    },
  }
}

const TURNS = 4

async function afterSomeTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Every fault is read before anything is opened: a wrong one is told at once. */
export async function checkFaults(specs: readonly string[], env: Environment, isDialled: boolean): Promise<void> {
  if (specs.length === 0) return
  const { parseFault } = await import("../faults/parse-fault.ts")
  const faults = specs.map(parseFault)
  if (!isDialled || !isOn(env["CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2"])) return
  const impossible = faults.find(({ mishap }) => mishap.do === "half" || mishap.do === "rubbish")
  if (impossible === undefined) return
  const why = "messages are posted as JSON (CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2), and it is none"
  throw refused(`claude-sim: the fault ${impossible.spec} cannot happen here: ${why}`)
}

const STDOUT = 1
/** The size of a pipe. */
const FLUSH_AT_CHARS = 64 * 1024

/** For every line that need not wait. */
const TAKEN = Promise.resolve()

/**
 * This process's own stdin and stdout. Unlike every other transport it hands on blank lines, because the oldest CLI dies
 * of one, and goes on sending when its input has ended, because an agent finishes its turn.
 */
export class StdioTransport implements Transport {
  readonly lines: AsyncIterable<string>
  readonly #output: Writable
  readonly #closing = deferred<Closed>()
  readonly closed: Promise<Closed> = this.#closing.promise
  #pending = ""
  #flushing: Promise<void> | undefined
  #isBroken = false
  #isHurried = false

  constructor(input: Readable, output: Writable) {
    this.#output = output
    this.lines = linesOf(input)
    // A host that is gone closes the pipe; the agent goes on without anybody to hear it.
    output.on("error", () => {
      this.#isBroken = true
      this.#closing.resolve({ by: "peer", reason: "stdout is closed" })
    })
  }

  send(line: string): Promise<void> {
    // One text that grows is copied once, when it is written; a list of lines would be copied when it is joined too.
    this.#pending += `${line}\n`
    this.#flushing ??= this.#flushSoon()
    return this.#pending.length > FLUSH_AT_CHARS ? this.#flushing : TAKEN
  }

  /** Text as it is: no newline follows it. */
  async writePiece(text: string): Promise<void> {
    await this.flushed()
    if (!this.#isBroken) await new Promise<void>((resolve) => this.#output.write(text, () => resolve()))
  }

  /** The host finds our output ended; we go on, and nobody hears it. */
  async cut(): Promise<void> {
    await this.flushed()
    this.#isBroken = true
    // Node never closes its stdout by itself.
    closeSync(STDOUT)
    this.#closing.resolve({ by: "us", reason: "stdout was cut" })
  }

  /** For one that is told to go: `close` waits no longer for a host that does not read. */
  hurry(): void {
    this.#isHurried = true
  }

  async close(reason = "closed"): Promise<void> {
    if (!this.#isHurried) await this.flushed()
    this.#closing.resolve({ by: "us", reason })
  }

  async flushed(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing
  }

  /** Lines of one tick go out in one write. */
  async #flushSoon(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    const text = this.#pending
    this.#pending = ""
    if (!this.#isBroken) await new Promise<void>((resolve) => this.#output.write(text, () => resolve()))
    this.#flushing = this.#pending !== "" ? this.#flushSoon() : undefined
  }
}

async function* linesOf(input: Readable): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8")
  let pieces: string[] = []
  for await (const chunk of input) {
    const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk))
    const parts = text.split("\n")
    const last = parts.pop() ?? ""
    for (const part of parts) {
      yield [...pieces, part].join("")
      pieces = []
    }
    if (last !== "") pieces.push(last)
  }
  const rest = pieces.join("")
  if (rest !== "") yield rest
}
