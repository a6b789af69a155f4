/** The child-process half of this room by itself: importing it loads no WebSocket. */
export { TransportError, type TransportErrorCode } from "../errors.ts"
export { lineBatches } from "../line-queue.ts"
export type { Closed, LineLimits, Transport } from "../transport.ts"
export {
  type ChildBehaviour,
  type ChildProcessOptions,
  type ChildTransport,
  openChildProcess,
} from "./child-process.ts"
export { type ClaudeEnvironmentOptions, claudeProcessEnvironment, signInOf } from "./environment.ts"
export { type ClaudeExecutable, type FileKind, type FindClaudeOptions, findClaude } from "./find-claude.ts"
export { claudeArguments, launchFlags } from "./flags.ts"
export type { ArgumentStyle, ClaudeFlags, Thinking } from "./launch-options.ts"
export type { SpawnedProcess, SpawnProcess, SpawnRequest } from "./spawned-process.ts"
