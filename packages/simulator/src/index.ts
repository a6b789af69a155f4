import { fileURLToPath } from "node:url"
import { openAgent, type SimulatedAgent, type SimulatedAgentOptions } from "./agent/open-agent.ts"
import { faultsOver } from "./faults/faulty-transport.ts"
import { profileOf } from "./profiles/index.ts"

export type { AgentExit } from "./agent/agent.ts"
export type { SimulatedAgent, SimulatedAgentOptions } from "./agent/open-agent.ts"
export { type AgentClock, createClock } from "./clock.ts"
export type { FaultEffects } from "./faults/faulty-transport.ts"
export type { FaultSignal } from "./faults/parse-fault.ts"
export { createLaunch, type Launch, type SessionLaunch } from "./launch/launch.ts"
export { type ClaudeEnvironmentOptions, claudeEnvironment } from "./messages-api/claude-environment.ts"
export type { ApiProblem, RecordedRequest } from "./messages-api/recording.ts"
export type { SideKind } from "./messages-api/request.ts"
export { openScriptedApi, type ScriptedApi, type ScriptedApiOptions } from "./messages-api/scripted-api.ts"
export { ApiModel } from "./model/api-model.ts"
export type { Model, ModelAction, ModelActions, ModelRequest } from "./model/model.ts"
export { builtInScenario } from "./model/scripted-model.ts"
export { profileNames, profileOf } from "./profiles/index.ts"
export type { Catalog, Quirks, WireProfile } from "./profiles/profile.ts"
export { openReplay, type ReplayedAgent, type ReplayOptions } from "./record/open-replay.ts"
export {
  decodeRecording,
  encodeRecording,
  type RecordedLine,
  type Recording,
  type RecordOptions,
  recordTransport,
} from "./record/recording.ts"
export { readReplayFile, replayOf } from "./record/replay-file.ts"
export type { Replay, ReplayStep } from "./record/replay-schema.ts"
export { scenarioOf } from "./record/to-turns.ts"
export type { Position } from "./scenario/calls.ts"
export {
  type GalleryEntry,
  galleryNames,
  listGallery,
  loadScenario,
  readScenarioFile,
} from "./scenario/load-scenario.ts"
export { parseScenario, type ScenarioProblem } from "./scenario/parse-scenario.ts"
export type {
  AgentStep,
  AsideStep,
  Block,
  Scenario,
  ScenarioText,
  SideReplies,
  Step,
  Stop,
  StopReason,
  ToolStep,
  Turn,
  Usage,
} from "./scenario/schema.ts"
export { SimulatorError, type SimulatorErrorCode } from "./simulator-error.ts"
export type { ToolMode } from "./tools/toolbox.ts"

/** The path of `claude-sim`, for options such as `pathToClaudeCodeExecutable`. */
export const claudeSimPath: string = fileURLToPath(new URL("../bin/claude-sim.mjs", import.meta.url))

/** A simulated agent on a transport. Throws `launch/refused` for flags that the CLI refuses too. */
export function openSimulatedAgent(options: SimulatedAgentOptions): SimulatedAgent {
  const profile = typeof options.profile === "object" ? options.profile : profileOf(options.profile)
  return openAgent({ ...options, profile }, faultsOver(options))
}
