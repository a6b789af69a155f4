import type { Readable, Writable } from "node:stream"

/** What `spawnClaudeCodeProcess` is given. */
export interface SpawnOptions {
  args: string[]
  command: string
  cwd?: string | undefined
  env: { [name: string]: string | undefined }
  signal: AbortSignal
}

/** What it returns: Node's own ChildProcess is one, and so is whatever plays one from elsewhere. */
export interface SpawnedProcess {
  readonly exitCode: number | null
  kill(signal: NodeJS.Signals): boolean
  readonly killed: boolean
  off(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  off(event: "error", listener: (error: Error) => void): void
  on(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  on(event: "error", listener: (error: Error) => void): void
  once(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  once(event: "error", listener: (error: Error) => void): void
  readonly signalCode?: NodeJS.Signals | null
  stdin: Writable
  stdout: Readable
}
