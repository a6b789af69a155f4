import type { LaunchRequest } from "@signalbox/client"
import { copyOf } from "../launch/capture.ts"
import type { SpawnedProcess, SpawnOptions } from "../types/process.ts"
import { HubAgentProcess } from "./hub-process.ts"

export interface SpawnOnHubOptions {
  /** The hub's address. */
  url: string
  token: string
  /** An existing session; without it the hub starts an agent with what is on the command line. */
  session?: string | undefined
  /** What the hub starts; `claude` if left out. */
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
