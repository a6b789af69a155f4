/** Owns the `claude` processes of one machine and dials the hub for each. */
export { RunnerError, type RunnerErrorCode } from "./errors.ts"
export { openRunner, type Runner } from "./open-runner.ts"
export type { RunnerLimits, RunnerOptions } from "./options.ts"
export { lockHolder as findRunner } from "./state/directory-lock.ts"
export { agentsIn, runnerIdIn } from "./state/state-file.ts"
