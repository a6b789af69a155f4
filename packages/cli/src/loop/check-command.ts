import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"
import { inLines } from "../terminal/text.ts"

export interface CheckOptions {
  readonly command: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly timeoutMs?: number
}

/** Only the end of the output is kept: failures are reported there. */
const MAX_CHARS = 8_000
const TIMEOUT_MS = 60 * 60_000
const KILL_AFTER_MS = 5_000
/** A background process may hold the output open. */
const OUTPUT_MS = 1_000

/** Runs the command in the task's folder. Undefined when it passed. It and all it started end with the signal. */
export async function runCheck(options: CheckOptions): Promise<FailedCheck | undefined> {
  const { command, cwd, env, signal, timeoutMs = TIMEOUT_MS } = options
  // A group of its own: Ctrl-C at the terminal is for the loop, which then ends it whole.
  const child = spawn(command, { cwd, env, shell: true, detached: true, stdio: ["ignore", "pipe", "pipe"] })
  const output = tailOf(child)
  const ending = endWith(child, signal, timeoutMs)
  try {
    const closed = once(child, "close").catch(() => undefined)
    const [code, killedBy]: unknown[] = await once(child, "exit")
    await Promise.race([closed, pause(OUTPUT_MS, undefined, { ref: false })])
    if (code === 0) return undefined
    const how = ending.isLate() ? `it took longer than ${timeoutMs / 1000} s` : howItEnded(code, killedBy)
    return { command, how, output: inLines(output()) }
  } catch (error) {
    return { command, how: error instanceof Error ? error.message : String(error), output: "" }
  } finally {
    ending.release()
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

function tailOf({ stdout, stderr }: ChildProcess): () => string {
  let text = ""
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text = (text + chunk).slice(-MAX_CHARS)
    })
  }
  return () => text
}

interface Ending {
  readonly isLate: () => boolean
  readonly release: () => void
}

/** TERM first, then KILL, for the whole process group, even if its first process has ended. */
function endWith(child: ChildProcess, signal: AbortSignal, timeoutMs: number): Ending {
  let isLate = false
  let killing: NodeJS.Timeout | undefined
  const end = () => {
    kill(child.pid, "SIGTERM")
    killing ??= setTimeout(() => kill(child.pid, "SIGKILL"), KILL_AFTER_MS)
  }
  const late = setTimeout(() => {
    isLate = !signal.aborted
    end()
  }, timeoutMs)
  if (signal.aborted) end()
  else signal.addEventListener("abort", end)
  return {
    isLate: () => isLate,
    release() {
      signal.removeEventListener("abort", end)
      if (killing !== undefined) kill(child.pid, "SIGKILL")
      clearTimeout(killing)
      clearTimeout(late)
    },
  }
}

function howItEnded(code: unknown, signal: unknown): string {
  return typeof code === "number" ? `exit code ${code}` : `ended by ${String(signal)}`
}

function kill(pid: number | undefined, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal)
  } catch {
    // Nothing is left of it.
  }
}

export interface FailedCheck {
  readonly command: string
  /** "exit code 1" */
  readonly how: string
  readonly output: string
}

export function checkMessage({ command, how, output }: FailedCheck, task: string): string {
  const said = output.trim() === "" ? "It printed nothing." : `The end of what it printed:\n\n${output.trimEnd()}`
  return `The task is not done yet. It is checked by this command, which failed (${how}):\n\n${command}\n\n${said}\n\nFix that. The task was:\n\n${task}`
}
