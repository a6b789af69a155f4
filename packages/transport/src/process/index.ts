/** The child-process half of this room by itself: importing it loads no WebSocket. */
export { TransportError, type TransportErrorCode } from "../errors.ts"
export { lineBatches } from "../line-queue.ts"
export { ReadingTurns } from "../reading-turns.ts"
export type { Closed, LineLimits, Transport } from "../transport.ts"
export {
  type ChildBehaviour,
  type ChildProcessOptions,
  type ChildTransport,
  openChildProcess,
} from "./child-process.ts"
export { type ClaudeEnvironmentOptions, claudeProcessEnvironment, signInOf } from "./environment.ts"
export { type ClaudeExecutable, type FileKind, type FindClaudeOptions, findClaude } from "./find-claude.ts"
export { type ArgumentStyle, type ClaudeFlags, claudeArguments, launchFlags, type Thinking } from "./flags.ts"
export type { SpawnedProcess, SpawnProcess, SpawnRequest } from "./spawned-process.ts"
