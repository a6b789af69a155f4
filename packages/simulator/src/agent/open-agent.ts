import type { Transport } from "@signalbox/transport"
import type { Model } from "../model/model.ts"
import { ScriptedModel } from "../model/scripted-model.ts"
import { profileOf } from "../profiles/index.ts"
import type { WireProfile } from "../profiles/profile.ts"
import { builtInScenario } from "../scenario/built-in.ts"
import { Hangs } from "../scenario/hangs.ts"
import type { Ids } from "../scenario/reply-events.ts"
import type { Scenario } from "../scenario/schema.ts"
import { openSession } from "../sessions/open-session.ts"
import { SimulatorError } from "../simulator-error.ts"
import type { ToolMode } from "../tools/toolbox.ts"
import { Agent, type AgentExit } from "./agent.ts"
import { type AgentClock, createClock } from "./clock.ts"
import type { Launch } from "./launch.ts"
import { createRandomness, type Randomness } from "./randomness.ts"
import { tellResumeFailure } from "./resume-failure.ts"

export interface SimulatedAgentOptions {
  /** The road to the host. */
  readonly transport: Transport
  readonly launch: Launch
  /** A version such as `2.1.120`; left out, the newest. */
  readonly profile?: WireProfile | string
  /** A scenario that was parsed; left out, one that has something to say to everything. */
  readonly scenario?: Scenario
  /** Speaks instead of the scenario. */
  readonly model?: Model
  /** `pretend`, the default: no command runs and no file is touched. */
  readonly tools?: ToolMode
  /** 1, the default, is the scenario's own pace; 0 as fast as possible. */
  readonly timeScale?: number
  /** The same seed gives the same ids. */
  readonly seed?: number
  readonly clock?: AgentClock
  readonly onStderr?: (text: string) => void
}

export interface SimulatedAgent {
  readonly sessionId: string
  /** Resolves when the process would be gone, and never rejects. */
  readonly exited: Promise<AgentExit>
  /** A reply of the scenario hangs. Rejects when the agent is gone first. */
  untilHanging(name?: string): Promise<void>
  /** Lets hanging replies go on; says how many. */
  release(name?: string): number
  /** Ends it as a signal would, with 143 unless another code is given. */
  terminate(code?: number): void
}

/** A simulated agent on a transport. Throws `launch/refused` for flags that the CLI refuses too. */
export function openSimulatedAgent(options: SimulatedAgentOptions): SimulatedAgent {
  const profile = typeof options.profile === "object" ? options.profile : profileOf(options.profile)
  const random = createRandomness(options.seed)
  const clock = options.clock ?? createClock(options.timeScale)
  const session = openSession(options.launch, profile.version, random.uuid())
  if ("refused" in session) {
    tellResumeFailure({ transport: options.transport, profile, random, session })
    throw new SimulatorError("launch/refused", session.refused)
  }
  const hangs = new Hangs()
  const scenario = options.scenario ?? builtInScenario
  const model = options.model ?? new ScriptedModel(scenario, { ids: createIds(random), hangs })
  const agent = new Agent({
    transport: options.transport,
    profile,
    launch: options.launch,
    session,
    model,
    clock,
    random,
    tools: options.tools ?? "pretend",
    onStderr: options.onStderr ?? (() => undefined),
  })
  void agent.exited.then(() => hangs.close())
  return {
    sessionId: session.sessionId,
    exited: agent.exited,
    untilHanging: (name) => hangs.until(name),
    release: (name) => hangs.release(name),
    terminate: (code = 143) => agent.terminate(code),
  }
}

function createIds(random: Randomness): Ids {
  const mark = random.hex(12)
  let count = 0
  return { next: (prefix) => `${prefix}_01${mark}${String(++count).padStart(6, "0")}` }
}
