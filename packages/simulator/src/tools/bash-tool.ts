import { spawn } from "node:child_process"
import { textOf } from "@signalbox/protocol/envelope"
import { isOn } from "../environment-flag.ts"
import { wholeText } from "../scenario/text.ts"
import { type Tool, type ToolOutcome, type ToolRun, toolFailure } from "./tool.ts"

interface CommandEnd {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** Runs a command, or pretends to. */
export type Shell = (
  command: string,
  options: { cwd: string; signal: AbortSignal; stdin?: string },
) => Promise<CommandEnd>

const MAX_OUTPUT_CHARS = 30_000
const SILENT = /^(?:touch|mkdir|rm|rmdir|mv|cp|ln|chmod|cd)\b/
const PROGRESS_AFTER_MS = 2000
const PROGRESS_EVERY_MS = 30_000

/** Commands run for real, in the agent's folder. */
export const realShell: Shell = (command, { cwd, signal, stdin }) =>
  new Promise((resolve) => {
    const child = spawn("/bin/bash", ["-c", command], { cwd, stdio: ["pipe", "pipe", "pipe"], detached: true })
    // A command that reads nothing may be gone before it is told.
    child.stdin.on("error", () => undefined).end(stdin)
    const [out, err]: [string[], string[]] = [[], []]
    let size = 0
    const keep = (list: string[]) => (chunk: Buffer) => {
      if (size < MAX_OUTPUT_CHARS) list.push(chunk.toString("utf8"))
      size += chunk.length
    }
    child.stdout.on("data", keep(out))
    child.stderr.on("data", keep(err))
    const kill = () => {
      // Its whole group, so that nothing it started stays behind. It may be gone already.
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      } catch {
        child.kill("SIGKILL")
      }
    }
    signal.addEventListener("abort", kill, { once: true })
    const end = (exitCode: number) => {
      signal.removeEventListener("abort", kill)
      resolve({ stdout: out.join(""), stderr: err.join(""), exitCode })
    }
    child.once("error", (error) => {
      err.push(String(error))
      end(127)
    })
    child.once("close", (code, killed) => end(code ?? (killed === null ? 1 : 137)))
  })

/** Nothing runs: every command succeeds and says nothing. */
export const pretendShell: Shell = async () => ({ stdout: "", stderr: "", exitCode: 0 })

export function bashTool(shell: Shell): Tool {
  return {
    async run(run) {
      const command = textOf(run.input, "command") ?? ""
      if (run.input["run_in_background"] === true) return inBackground(run, shell, command)
      const stopProgress = tellProgress(run)
      try {
        return outcomeOf(run, command, await shell(command, { cwd: run.core.launch.cwd, signal: run.signal }))
      } finally {
        stopProgress()
      }
    },
  }
}

function outcomeOf({ core }: ToolRun, command: string, end: CommandEnd): ToolOutcome {
  const [stdout, stderr] = [end.stdout.trimEnd(), end.stderr.trimEnd()]
  const output = [stdout, stderr].filter((text) => text !== "").join("\n")
  if (end.exitCode !== 0)
    return toolFailure(output === "" ? `Exit code ${end.exitCode}` : `Exit code ${end.exitCode}\n${output}`)
  const isOld = core.profile.generation === 37
  const base = { stdout, stderr, interrupted: false, isImage: false }
  const structured = isOld
    ? base
    : { ...base, noOutputExpected: command.split(/&&|;|\|/).every((part) => SILENT.test(part.trim())) }
  const content = output === "" && !isOld ? "(Bash completed with no output)" : output
  return { content, isError: false, structured }
}

/** Older generations tell how long a command has been running, to a remote host only. */
function tellProgress({ core, toolUseId }: ToolRun): () => void {
  const { CLAUDE_CODE_REMOTE: remote, CLAUDE_CODE_CONTAINER_ID: container } = core.launch.env
  if ((!isOn(remote) && !container) || core.profile.generation > 120) return () => undefined
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
  const task = core.tasks.startCommand(core, { toolUseId, description }, async (signal) => {
    if (background !== undefined) {
      await core.clock.pause(background.durationMs, signal)
      const { status = "completed", summary, output = "" } = background
      return { status, output, ...(summary === undefined ? {} : { summary }) }
    }
    const end = await shell(command, { cwd: core.launch.cwd, signal })
    const status = end.exitCode === 0 ? "completed" : "failed"
    const verb = status === "completed" ? "completed" : "failed"
    const summary = `Background command "${description}" ${verb} (exit code ${end.exitCode})`
    return { status, output: end.stdout, summary }
  })
  const later =
    core.profile.generation === 325
      ? ". You will be notified when it completes. To check interim output, use Read on that file path."
      : ""
  const base = { stdout: "", stderr: "", interrupted: false, isImage: false }
  const expected = core.profile.generation === 37 ? {} : { noOutputExpected: false }
  const told = `Command running in background with ID: ${task.id}. Output is being written to: ${task.outputFile}${later}`
  const result = step?.result
  return {
    content: typeof result === "object" && !Array.isArray(result) ? wholeText(result) : (result ?? told),
    isError: false,
    structured: { ...base, ...expected, backgroundTaskId: task.id },
  }
}
