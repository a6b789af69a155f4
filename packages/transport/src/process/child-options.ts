import { DEFAULT_HIGH_WATER_CHARS, DEFAULT_MAX_WAITING_BYTES } from "../default-limits.ts"
import { quietly } from "../quiet-callback.ts"
import { type FlowLimits, type LineLimits, type SendLimits, settleLineLimits } from "../transport.ts"
import type { Environment } from "./environment.ts"
import type { SpawnProcess } from "./spawned-process.ts"

export interface ChildBehaviour extends LineLimits, FlowLimits, SendLimits {
  /** Given everything the process writes to its standard error. */
  readonly stderr?: (text: string) => void
  /** Aborting is closing. */
  readonly signal?: AbortSignal
  /** How long a closed process may finish by itself after its input has ended, before TERM. */
  readonly graceMs?: number
  /** How long it has between TERM and KILL. */
  readonly killAfterMs?: number
  /** How long a process that outlives this one may hold its output open. */
  readonly drainMs?: number
  /** Starts the process in some other way. What it makes is signalled alone, not as a group. */
  readonly spawn?: SpawnProcess
}

export interface ChildProcessOptions extends ChildBehaviour {
  readonly command: string
  readonly args?: readonly string[]
  readonly cwd?: string
  /** The whole environment of the process; ours if it is left out. */
  readonly env?: Environment
}

export type ChildSettings = Required<Omit<ChildBehaviour, "signal" | "spawn">> & {
  readonly signal: AbortSignal | undefined
}

const KILL_AFTER_MS = 5000
const DRAIN_MS = 2000

export function settleChildOptions(options: ChildBehaviour): ChildSettings {
  return {
    ...settleLineLimits(options),
    highWaterChars: options.highWaterChars ?? DEFAULT_HIGH_WATER_CHARS,
    maxWaitingBytes: options.maxWaitingBytes ?? DEFAULT_MAX_WAITING_BYTES,
    stderr: quietly(options.stderr),
    signal: options.signal,
    graceMs: options.graceMs ?? 0,
    killAfterMs: options.killAfterMs ?? KILL_AFTER_MS,
    drainMs: options.drainMs ?? DRAIN_MS,
  }
}
