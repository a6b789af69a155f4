export { type ClaudeEnvironmentOptions, claudeEnvironment } from "./messages-api/claude-environment.ts"
export type { ApiProblem, RecordedRequest } from "./messages-api/recording.ts"
export { openScriptedApi, type ScriptedApi, type ScriptedApiOptions } from "./messages-api/scripted-api.ts"
export type { SideKind } from "./messages-api/side-calls.ts"
export { parseScenario, type ScenarioProblem } from "./scenario/parse-scenario.ts"
export type {
  Block,
  Scenario,
  ScenarioText,
  SideReplies,
  Step,
  Stop,
  StopReason,
  Turn,
  Usage,
} from "./scenario/schema.ts"
export type { Position } from "./scenario/script-cursor.ts"
export { SimulatorError, type SimulatorErrorCode } from "./simulator-error.ts"
