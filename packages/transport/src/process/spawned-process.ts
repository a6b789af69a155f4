import type { Readable, Writable } from "node:stream"
import type { Environment } from "./environment.ts"

/** The arguments of a process. */
export interface SpawnRequest {
  readonly command: string
  readonly args: string[]
  readonly cwd?: string
  readonly env: Environment
  readonly signal: AbortSignal
}

/**
 * A process as the transport needs it. Node's own ChildProcess is one; so is whatever plays one from elsewhere: a
 * container, another machine, or the hook `spawnClaudeCodeProcess` of the official SDK.
 */
export interface SpawnedProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr?: Readable | null
  readonly pid?: number | undefined
  /** `null` while it lives, and when a signal ended it. */
  readonly exitCode: number | null
  readonly signalCode?: NodeJS.Signals | null | undefined
  kill(signal: NodeJS.Signals): boolean
  on(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown
  on(event: "error", listener: (error: Error) => void): unknown
}

export type SpawnProcess = (request: SpawnRequest) => SpawnedProcess

/** How a process ended. `broken` is a process of another maker that only said it failed. */
export type Exit =
  | { readonly kind: "code"; readonly code: number }
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals }
  | { readonly kind: "broken"; readonly error: Error }
  /** It may live, but nobody hears it. */
  | { readonly kind: "unreadable"; readonly error: Error }

/** Windows has no process groups; there a detached process would only get a window of its own. */
export const OWN_GROUP = process.platform !== "win32"

/** The signal of the request is left out on purpose: an abort is a close here, and a close kills the whole group. */
export function spawnHere({ command, args, cwd, env }: SpawnRequest): SpawnedProcess {
  // Not imported: half of what Node can do comes with it, and a program that starts nothing yet need not wait for that.
  const { spawn } = process.getBuiltinModule("node:child_process")
  return spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    detached: OWN_GROUP,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  })
}

/** A process without a pid has failed to start, in which case it says so within a turn, or never had one to tell. */
export function startError(child: SpawnedProcess): Promise<Error | undefined> {
  return new Promise((resolve) => {
    child.on("error", resolve)
    setImmediate(() => resolve(undefined))
  })
}

/** Calls back once, when the process is gone, even if that was before anybody listened. */
export function onceExited(child: SpawnedProcess, ended: (exit: Exit) => void): void {
  let told = false
  const tell = (exit: Exit) => {
    if (told) return
    told = true
    ended(exit)
  }
  child.on("exit", (code, signal) => tell(exitOf(code, signal)))
  child.on("error", (error) => tell({ kind: "broken", error }))
  const signal = child.signalCode ?? null
  if (child.exitCode !== null || signal !== null) tell(exitOf(child.exitCode, signal))
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): Exit {
  if (code !== null) return { kind: "code", code }
  if (signal !== null) return { kind: "signal", signal }
  return { kind: "broken", error: new Error("the process ended with neither a code nor a signal") }
}
