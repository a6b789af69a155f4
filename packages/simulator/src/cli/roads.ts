import type { DialEnvironment, DialledConnection, SdkUrlOptions, Transport } from "@signalbox/transport"
import type { FaultEffects } from "../faults/faulty-transport.ts"
import { isOn } from "../launch/launch.ts"
import type { WireProfile } from "../profiles/profile.ts"
import { SimulatorError } from "../simulator-error.ts"
import type { Environment } from "./launch-from-argv.ts"
import { StdioTransport } from "./stdio-transport.ts"

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
    throw new SimulatorError("launch/refused", `Error: ${error.message}`, { cause: error })
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
  throw new SimulatorError("launch/refused", `claude-sim: the fault ${impossible.spec} cannot happen here: ${why}`)
}
