import type { LaunchAgent } from "@signalbox/protocol/runner-wire"
import { findClaude, TransportError } from "@signalbox/transport/process"
import { Refusal } from "../errors.ts"
import type { Executable } from "./claude-version.ts"

/** What is started for an agent. */
export function executableOf(
  agent: LaunchAgent,
  { env, simulator }: { env: Readonly<Record<string, string>>; simulator: readonly string[] | undefined },
): Executable {
  if (agent === "claude") return claude(env)
  const [command, ...args] = agent === "simulator" ? (simulator ?? []) : agent.command
  if (command === undefined) {
    throw new Refusal(
      "runner/invalid",
      "this runner has no simulator: start it by the signalbox command, which brings one",
    )
  }
  // `node script.js` is as new as the script.
  return { command, args, path: agent === "simulator" ? (args[0] ?? command) : command }
}

export function claude(env: Readonly<Record<string, string>>): Executable {
  try {
    return findClaude({ env })
  } catch (cause) {
    if (!(cause instanceof TransportError)) throw cause
    throw new Refusal("runner/no-claude", cause.message, { cause })
  }
}
