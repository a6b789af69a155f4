import { faultsOver } from "../faults/faulty-transport.ts"
import { profileOf } from "../profiles/index.ts"
import { openAgent, type SimulatedAgent, type SimulatedAgentOptions } from "./open-agent.ts"

/** A simulated agent on a transport. Throws `launch/refused` for flags that the CLI refuses too. */
export function openSimulatedAgent(options: SimulatedAgentOptions): SimulatedAgent {
  const profile = typeof options.profile === "object" ? options.profile : profileOf(options.profile)
  return openAgent({ ...options, profile }, faultsOver(options))
}
