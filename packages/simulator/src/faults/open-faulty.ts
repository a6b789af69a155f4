import { constants } from "node:os"
import type { Transport } from "@signalbox/transport"
import { createClock } from "../clock.ts"
import { createRandomness } from "../randomness.ts"
import { type FaultEffects, FaultyTransport } from "./faulty-transport.ts"
import { parseFault } from "./parse-fault.ts"
import { createFaultPlan } from "./plan.ts"

/** Without a seed faults come as they came the last time: a fault one cannot see again is of no use. */
const DEFAULT_SEED = 1

/** The faults of one agent, over its road to the host; undefined where nothing is to go wrong. */
export function openFaulty(
  transport: Transport,
  specs: readonly string[],
  options: { seed: number | undefined; sessionId: string; effects: FaultEffects },
): FaultyTransport | undefined {
  if (specs.length === 0) return undefined
  const { seed = DEFAULT_SEED, sessionId, effects } = options
  const plan = createFaultPlan(specs.map(parseFault), seed, sessionId)
  // Not the agent's own ids: a fault must not change what comes after it.
  const random = createRandomness(seed)
  return new FaultyTransport(transport, { plan, effects, clock: createClock(), uuid: () => random.uuid() })
}

/** Puts an agent's faults over its road, once it has a session; `end` ends the agent. */
export type OpenFaults = (agent: { sessionId: string; end: (code: number) => void }) => FaultyTransport | undefined

/** The faults of the scenario, and those asked for besides. */
export function faultsOver(options: {
  readonly transport: Transport
  readonly scenario?: { readonly faults?: readonly string[] } | undefined
  readonly faults?: readonly string[]
  readonly seed?: number | undefined
  readonly faultEffects?: Partial<FaultEffects>
}): OpenFaults {
  const { transport, scenario, faults = [], seed, faultEffects } = options
  const specs = [...(scenario?.faults ?? []), ...faults]
  return ({ sessionId, end }) => {
    const effects = { ...effectsInProcess(transport, end), ...faultEffects }
    return openFaulty(transport, specs, { seed, sessionId, effects })
  }
}

/** For an agent that is no process of its own: it ends, and the connection with it. */
function effectsInProcess(transport: Transport, end: (code: number) => void): FaultEffects {
  const exit = async (code: number) => {
    end(code)
    await transport.close("the agent has ended")
  }
  return {
    exit,
    kill: (signal) => (signal === "SIGSTOP" ? undefined : exit(128 + constants.signals[signal])),
    cut: () => transport.close("the connection broke off"),
    writePiece: (text) => transport.send(text),
  }
}
