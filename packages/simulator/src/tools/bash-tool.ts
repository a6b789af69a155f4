import { spawn } from "node:child_process"
import { defined, textOf } from "@signalbox/protocol/envelope"
import { LONGEST_TIMER_MS } from "@signalbox/protocol/timing"
import { numberIn } from "../json.ts"
import { isOn } from "../launch/launch.ts"
import { isInside } from "../permissions/bash-command.ts"
import type { Fields } from "../profiles/profile.ts"
import { wholeText } from "../scenario/reply-events.ts"
import { taskId } from "./tasks.ts"
import { type Tool, type ToolOutcome, type ToolOwner, type ToolRun, toolFailure } from "./toolbox.ts"

const SILENT = /^(?:touch|mkdir|rm|rmdir|mv|cp|ln|chmod|cd)\b/
const PROGRESS_AFTER_MS = 2000
const PROGRESS_EVERY_MS = 30_000
const DEFAULT_TIMEOUT_MS = 120_000

export function bashTool(shell: Shell): Tool {
  let folder: string | undefined
  return {
    async run(run) {
      const command = textOf(run.input, "command") ?? ""
      if (run.input["run_in_background"] === true) return inBackground(run, shell, command)
      const stopProgress = tellProgress(run)
      try {
        // A sub-agent begins in the agent's own folder every time.
        const cwd = (run.parent === null ? folder : undefined) ?? run.core.launch.cwd
        const end = await shell(command, { cwd, signal: run.signal, ...optionsOf(run) })
        const strayed = hasStrayed(run, end)
        if (run.parent === null && end.exitCode === 0 && end.folder !== undefined)
          folder = strayed ? undefined : end.folder
        return outcomeOf(run, command, { ...end, strayed })
      } finally {
        stopProgress()
      }
    },
  }
}

/** The oldest generation leaves a command that takes too long running behind. */
function optionsOf({ core, input }: ToolRun): { timeoutMs?: number; mergesOutput?: boolean } {
  if (core.profile.quirks.toolFormat === "terse") return {}
  return { timeoutMs: numberIn(input, "timeout") ?? DEFAULT_TIMEOUT_MS, mergesOutput: true }
}

/** A command may go to another folder for those that follow, but not out of the session's. */
function hasStrayed({ core }: ToolRun, { folder }: CommandEnd): boolean {
  const folders = [core.launch.cwd, ...core.state.permissions.directories]
  return folder !== undefined && !folders.some((each) => isInside(folder, each))
}

/** Blank lines before and after what was said are dropped. */
function withoutBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd()
}

function outcomeOf({ core }: ToolRun, command: string, end: CommandEnd & { strayed: boolean }): ToolOutcome {
  const [stdout, said] = [withoutBlankLines(end.stdout), withoutBlankLines(end.stderr)]
  const isOld = core.profile.quirks.toolFormat === "terse"
  if (end.exitCode !== 0) return toolFailure(failureText(end, isOld ? [said, "", stdout] : [stdout, said]))
  const reset = `Shell cwd was reset to ${core.launch.cwd}`
  const stderr = end.strayed ? (said === "" && isOld ? reset : `${said}\n${reset}`) : said
  const output = [stdout, stderr.replace(/^\n/, "")].filter((text) => text !== "").join("\n")
  const isSilent = command.split(/&&|;|\|/).every((part) => SILENT.test(part.trim()))
  const content = output === "" && !isOld ? "(Bash completed with no output)" : output
  return { content, isError: false, structured: commandResult(core, { stdout, stderr }, isSilent) }
}

/** The tool's own form of what a command said. */
export function commandResult(
  { profile }: ToolOwner,
  said: { stdout: string; stderr: string },
  isSilent = false,
): Fields {
  const expected = profile.quirks.toolFormat === "terse" ? {} : { noOutputExpected: isSilent }
  return { ...said, interrupted: false, isImage: false, ...expected }
}

function failureText({ exitCode, timedOutMs }: CommandEnd, said: readonly string[]): string {
  const late = timedOutMs === undefined ? [] : [`Command timed out after ${Math.floor(timedOutMs / 1000)}s`]
  const words = said.join("\n").trim()
  return [`Exit code ${exitCode}`, ...late, ...(words === "" ? [] : [words])].join("\n")
}

/** Older generations tell how long a command has been running, to a remote host only. */
function tellProgress({ core, toolUseId }: ToolRun): () => void {
  const { CLAUDE_CODE_REMOTE: remote, CLAUDE_CODE_CONTAINER_ID: container } = core.launch.env
  if ((!isOn(remote) && !container) || !core.profile.quirks.tellsBashProgress) return () => undefined
  let count = 0
  let elapsedMs = PROGRESS_AFTER_MS
  const tell = () => {
    core.wire.emit({
      type: "tool_progress",
      tool_use_id: `bash-progress-${count++}`,
      tool_name: "Bash",
      parent_tool_use_id: toolUseId,
      elapsed_time_seconds: Math.round(elapsedMs / 1000),
      session_id: core.wire.sessionId,
      uuid: core.random.uuid(),
    })
    elapsedMs += PROGRESS_EVERY_MS
    stop = core.clock.timeout(PROGRESS_EVERY_MS, tell)
  }
  let stop = core.clock.timeout(PROGRESS_AFTER_MS, tell)
  return () => stop()
}

function inBackground({ core, input, toolUseId, step }: ToolRun, shell: Shell, command: string): ToolOutcome {
  const description = textOf(input, "description") ?? command
  const background = step?.background
  const task = core.tasks.begin(taskId(core, "b"), { toolUseId, description }, async (signal) => {
    if (background !== undefined) {
      await core.clock.pause(background.durationMs, signal)
      const { status = "completed", summary, output = "" } = background
      return { status, output, ...defined({ summary }) }
    }
    const end = await shell(command, { cwd: core.launch.cwd, signal })
    const status = end.exitCode === 0 ? "completed" : "failed"
    const summary = `Background command "${description}" ${status} (exit code ${end.exitCode})`
    return { status, output: end.stdout, summary }
  })
  const later = core.profile.quirks.promisesNotice
    ? ". You will be notified when it completes. To check interim output, use Read on that file path."
    : ""
  const told = `Command running in background with ID: ${task.id}. Output is being written to: ${task.outputFile}${later}`
  const result = step?.result
  return {
    content: typeof result === "object" && !Array.isArray(result) ? wholeText(result) : (result ?? told),
    isError: false,
    structured: { ...commandResult(core, { stdout: "", stderr: "" }), backgroundTaskId: task.id },
  }
}

interface CommandEnd {
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
  /** Stderr is written with the rest, as it comes. */
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
    }, timeoutMs ?? LONGEST_TIMER_MS)
    signal.addEventListener("abort", kill, { once: true })
    const end = (code: number) => {
      clearTimeout(timer)
      signal.removeEventListener("abort", kill)
      const last = folder.join("").trim()
      const told = { stdout: out.join(""), stderr: err.join("") }
      if (timedOut) resolve({ ...told, exitCode: TERMINATED, timedOutMs: timeoutMs ?? LONGEST_TIMER_MS })
      else resolve({ ...told, exitCode: code, ...(last === "" ? {} : { folder: last }) })
    }
    child.once("error", (error) => {
      err.push(String(error))
      end(127)
    })
    child.once("close", (code, killed) => end(code ?? (killed === null ? 1 : 137)))
  })

/** Nothing runs: every command succeeds and says nothing. */
export const pretendShell: Shell = async () => ({ stdout: "", stderr: "", exitCode: 0 })
