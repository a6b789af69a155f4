/** Owns the `claude` processes of one machine and dials the hub for each. */
export { RunnerError, type RunnerErrorCode } from "./errors.ts"
export { openRunner, type Runner } from "./open-runner.ts"
export type { RunnerLimits, RunnerOptions } from "./options.ts"
export { agentsIn } from "./state/agents-in.ts"
export { lockHolder as findRunner } from "./state/directory-lock.ts"
export { runnerIdIn } from "./state/runner-id.ts"
