import { resolve } from "node:path"
import { NO_TOKENS } from "@signalbox/protocol/usage"
import type { Transport } from "@signalbox/transport"
import { type AgentClock, createClock } from "../clock.ts"
import type { FaultEffects, FaultyTransport, OpenFaults } from "../faults/faulty-transport.ts"
import { type Launch, readSettings } from "../launch/launch.ts"
import { deferredModel, type Model } from "../model/model.ts"
import type { WireProfile } from "../profiles/profile.ts"
import { createRandomness, type Randomness } from "../randomness.ts"
import { inPlace } from "../scenario/calls.ts"
import { Hangs } from "../scenario/hangs.ts"
import { createIds, type Ids } from "../scenario/reply-events.ts"
import type { Scenario } from "../scenario/schema.ts"
import { openSession, type RefusedSession } from "../sessions/transcript.ts"
import { refused } from "../simulator-error.ts"
import type { ToolMode } from "../tools/toolbox.ts"
import { Agent, type AgentExit } from "./agent.ts"

export interface SimulatedAgentOptions {
  /** The road to the host. */
  readonly transport: Transport
  readonly launch: Launch
  /** A version such as `2.1.120`; left out, the newest. */
  readonly profile?: WireProfile | string
  /** A scenario that was parsed; left out, one that has something to say to everything. */
  readonly scenario?: Scenario | undefined
  /** Speaks instead of the scenario. */
  readonly model?: Model | undefined
  /** `pretend`, the default: no command runs and no file is touched. */
  readonly tools?: ToolMode
  /** 1, the default, is the scenario's own pace; 0 as fast as possible. */
  readonly timeScale?: number
  /** The same seed gives the same ids, and the same faults. */
  readonly seed?: number | undefined
  /** Faults, in the words of `--fault`, besides those of the scenario. */
  readonly faults?: readonly string[]
  /** Effects of a fault besides writing lines. Left out, it ends this agent and its connection, never the process. */
  readonly faultEffects?: Partial<FaultEffects>
  readonly clock?: AgentClock
  readonly onStderr?: (text: string) => void
}

/** The same, with a profile at hand. */
export type AgentOptions = SimulatedAgentOptions & { readonly profile: WireProfile }

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

/** As a shell tells of a process that TERM has ended. */
const TERMINATED = 143

/**
 * A simulated agent on a transport. Throws `launch/refused` for flags that the CLI refuses too. What is not needed to
 * start one is not loaded here: the model and the tools come with the first turn, and faults from whoever wants some.
 */
export function openAgent(options: AgentOptions, openFaults?: OpenFaults): SimulatedAgent {
  const { profile } = options
  const random = createRandomness(options.seed)
  const clock = options.clock ?? createClock(options.timeScale)
  refuseUnknownPromptTool(options.launch, profile)
  const session = openSession(options.launch, profile, random.uuid())
  if ("refused" in session) {
    tellResumeFailure(options, random, session)
    throw refused(session.refused)
  }
  const hangs = new Hangs()
  const { cwd, configDir } = options.launch
  const planFile = `${configDir}/plans/${session.sessionId}.md`
  const scenario = options.scenario && inPlace(options.scenario, { cwd, planFile })
  const model = options.model ?? deferredModel(() => loadScripted(scenario, { ids: createIds(random.hex(12)), hangs }))
  const { transport } = options
  const faulty = openFaults?.({ sessionId: session.sessionId, end: (code) => agent.terminate(code) })
  const onStderr = options.onStderr ?? (() => undefined)
  const { launch, tools = "pretend" } = options
  const parts = { profile, launch, session, model, clock, random, tools, onStderr }
  const agent: Agent = new Agent({ ...parts, transport: faulty ?? transport, settings: readSettings(launch) })
  if (options.tools !== "real") {
    for (const [path, text] of Object.entries(scenario?.files ?? {}))
      agent.core.toolbox.files.write(resolve(cwd, path), text)
  }
  void agent.exited.then(() => hangs.close())
  return {
    sessionId: session.sessionId,
    exited: faulty === undefined ? agent.exited : afterFaults(agent.exited, faulty, onStderr),
    untilHanging: (name) => hangs.until(name),
    release: (name) => hangs.release(name),
    terminate(code = TERMINATED) {
      if (faulty?.ignoresTerm === true && code === TERMINATED) return
      faulty?.abandon()
      agent.terminate(code)
    },
  }
}

async function loadScripted(scenario: Scenario | undefined, options: { ids: Ids; hangs: Hangs }): Promise<Model> {
  const { builtInScenario, ScriptedModel } = await import("../model/scripted-model.ts")
  return new ScriptedModel(scenario ?? builtInScenario, options)
}

/** Lines that were held back still go. */
async function afterFaults(exited: Promise<AgentExit>, faulty: FaultyTransport, onStderr: (text: string) => void) {
  const exit = await exited
  await Promise.race([faulty.settled(), faulty.abandoned])
  for (const spec of faulty.unmet()) onStderr(`claude-sim: the fault ${spec} never happened\n`)
  return exit
}

/** The oldest generation looks for the tool at its start, when servers in the host are not there yet. */
function refuseUnknownPromptTool({ permissionPromptTool, mcpServers }: Launch, { quirks }: WireProfile): void {
  if (permissionPromptTool === undefined || !quirks.looksForPromptTool || mcpServers.length > 0) return
  throw refused(
    `Error: MCP tool ${permissionPromptTool} (passed via --permission-prompt-tool) not found. Available MCP tools: none`,
  )
}

/** A session that is not there is told on the wire as well: a result of the plainest form, and nothing else. */
function tellResumeFailure({ transport, profile }: AgentOptions, random: Randomness, session: RefusedSession): void {
  if (session.sessionId === undefined) return
  const uuid = random.uuid()
  const result = {
    type: "result",
    subtype: "error_during_execution",
    duration_ms: 0,
    duration_api_ms: 0,
    is_error: true,
    num_turns: 0,
    stop_reason: null,
    // The oldest generation tells the id it would have had, the others the one they were asked for.
    session_id: profile.quirks.namesRefusedSession ? session.sessionId : random.uuid(),
    total_cost_usd: 0,
    usage: profile.shapes.callUsage(NO_TOKENS),
    modelUsage: {},
    permission_denials: [],
    uuid,
    errors: [session.refused],
    ...(profile.quirks.countsResults ? { result_index: 0 } : {}),
  }
  // Nobody may be there to hear it.
  void transport.send(JSON.stringify(result)).catch(() => undefined)
}
