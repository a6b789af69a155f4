import { spawn } from "node:child_process"

export interface CommandEnd {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  /** The folder it stood in at its end, where it came to one. */
  readonly folder?: string
  /** It took longer than this, and was ended. */
  readonly timedOutMs?: number
}

interface ShellOptions {
  readonly cwd: string
  readonly signal: AbortSignal
  readonly stdin?: string
  readonly timeoutMs?: number
  /** What it says on stderr is written with the rest, as it comes. */
  readonly mergesOutput?: boolean
}

/** Runs a command, or pretends to. */
export type Shell = (command: string, options: ShellOptions) => Promise<CommandEnd>

const MAX_OUTPUT_CHARS = 30_000
/** As a shell tells of a command that TERM has ended. */
const TERMINATED = 143
/**
 * The command is passed along whole, and where it ended is told on a descriptor of its own; what the command leaves behind does not
 * have that, or its end would be waited for.
 */
const SCRIPT = `trap 'pwd -P >&3 2>/dev/null' EXIT; eval "$1" 3>&-`

/** Commands run for real, in the agent's folder. */
export const realShell: Shell = (command, { cwd, signal, stdin, timeoutMs, mergesOutput = false }) =>
  new Promise((resolve) => {
    const stdio = ["pipe", "pipe", "pipe", "pipe"] as const
    const child = spawn("/bin/bash", ["-c", SCRIPT, "/bin/bash", command], { cwd, stdio: [...stdio], detached: true })
    // A command that reads nothing may be gone before it is told.
    child.stdin?.on("error", () => undefined).end(stdin)
    const [out, err, folder]: [string[], string[], string[]] = [[], [], []]
    let size = 0
    const keep = (list: string[]) => (chunk: Buffer) => {
      if (size < MAX_OUTPUT_CHARS) list.push(chunk.toString("utf8"))
      size += chunk.length
    }
    child.stdout?.on("data", keep(out))
    child.stderr?.on("data", keep(mergesOutput ? out : err))
    child.stdio[3]?.on("data", (chunk: Buffer) => folder.push(chunk.toString("utf8")))
    const kill = () => {
      // Its whole group, so that nothing it started stays behind. It may be gone already.
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      } catch {
        child.kill("SIGKILL")
      }
    }
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      kill()
    }, timeoutMs ?? NEVER_MS)
    signal.addEventListener("abort", kill, { once: true })
    const end = (code: number) => {
      clearTimeout(timer)
      signal.removeEventListener("abort", kill)
      const last = folder.join("").trim()
      const told = { stdout: out.join(""), stderr: err.join("") }
      if (timedOut) resolve({ ...told, exitCode: TERMINATED, timedOutMs: timeoutMs ?? NEVER_MS })
      else resolve({ ...told, exitCode: code, ...(last === "" ? {} : { folder: last }) })
    }
    child.once("error", (error) => {
      err.push(String(error))
      end(127)
    })
    child.once("close", (code, killed) => end(code ?? (killed === null ? 1 : 137)))
  })

/** The longest that a timer can wait. */
const NEVER_MS = 2 ** 31 - 1

/** Nothing runs: every command succeeds and says nothing. */
export const pretendShell: Shell = async () => ({ stdout: "", stderr: "", exitCode: 0 })
