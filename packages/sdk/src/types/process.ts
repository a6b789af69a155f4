import type { Readable, Writable } from "node:stream"

/** What `spawnClaudeCodeProcess` is given. */
export interface SpawnOptions {
  command: string
  args: string[]
  cwd?: string | undefined
  env: { [name: string]: string | undefined }
  signal: AbortSignal
}

/** What it returns: Node's own ChildProcess is one, and so is whatever plays one from elsewhere. */
export interface SpawnedProcess {
  stdin: Writable
  stdout: Readable
  readonly killed: boolean
  readonly exitCode: number | null
  readonly signalCode?: NodeJS.Signals | null
  kill(signal: NodeJS.Signals): boolean
  on(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  on(event: "error", listener: (error: Error) => void): void
  once(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  once(event: "error", listener: (error: Error) => void): void
  off(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  off(event: "error", listener: (error: Error) => void): void
}
